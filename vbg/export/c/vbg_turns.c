/* Bushings and elements of beams that are twisted by half a turn, where their law has two opposite
   torques and none beyond; see vbg_machine.h.

   Of each the tape `turns` gives cos(a/2) of the angle a between its ends, n sin(a/2) of the axis in
   axes of its attachment, and the rows of the efforts K that follow a rotation vector (6 x 3). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "vbg_inside.h"

#define WORDS 22                  /* of a part */
#define TILT 1e-9                 /* rad: how well the axis of a turn is known */
#define ROUNDED (64.0 * DBL_EPSILON) /* of a sum of products, in a matrix that is turned */
#define CLOSE 5e-3                /* of cos(a/2), below which what ends the steps is the law */

static double sign(double value) { return value > 0.0 ? 1.0 : (value < 0.0 ? -1.0 : 0.0); }

/* Whether the efforts are others for half a turn about n and about its opposite: an effort (K n)_i,
   or the work n . K n. About an axis that nothing holds a tilt of n by d makes efforts of up to d
   times the sum of their row, and a work of d^2 times the largest stiffness. */
static int jumps(const double *n, const double *K)
{
    double work = 0.0, terms = 0.0, largest = 0.0;
    for (int i = 0; i < 6; i++) {
        double effort = 0.0, row = 0.0;
        for (int k = 0; k < 3; k++) {
            effort += K[3 * i + k] * n[k];
            row += fabs(K[3 * i + k]);
        }
        if (fabs(effort) > TILT * row) return 1;
        if (i < 3) continue;
        work += n[i - 3] * effort;
        for (int k = 0; k < 3; k++) terms += fabs(n[i - 3] * K[3 * i + k] * n[k]);
        largest = fmax(largest, row);
    }
    return work > ROUNDED * terms + TILT * TILT * largest;
}

void vbg_begin_turns(vbg *v, double t, const double *x)
{
    const double *found = v->m->parts > 0 ? vbg_turns(v, t, x) : 0;
    for (int i = 0; i < v->m->parts; i++) v->side[i] = v->next_side[i] = sign(found[i * WORDS]);
}

vbg_status vbg_look_at_turns(vbg *v, double t, const double *x)
{
    if (v->m->parts == 0) return VBG_OK;
    const double *found = vbg_turns(v, t, x);
    for (int i = 0; i < v->m->parts; i++, found += WORDS) {
        const double now = sign(*found);
        if (v->side[i] * now < 0.0 && jumps(found + 1, found + 4)) {
            v->s.about = i + 1;
            return VBG_HALF_TURN;
        }
        if (fabs(now) > 0.0) v->next_side[i] = now;
    }
    return VBG_OK;
}

void vbg_keep_turns(vbg *v)
{
    if (v->m->parts > 0) memcpy(v->side, v->next_side, (size_t)v->m->parts * sizeof *v->side);
}

vbg_status vbg_before_half_a_turn(vbg *v, double t, const double *x, vbg_status status)
{
    const double *found = status == VBG_STEP_TOO_SMALL && v->m->parts > 0 ? vbg_turns(v, t, x) : 0;
    for (int i = 0; found && i < v->m->parts; i++, found += WORDS)
        if (fabs(*found) < CLOSE && jumps(found + 1, found + 4)) {
            v->s.about = i + 1;
            return VBG_HALF_TURN;
        }
    return status;
}
