/* Switching functions and the modes that follow them; see vbg_machine.h. */
#include <math.h>

#include "vbg_inside.h"

#define FLAT 1e-10 /* of the largest value seen: a switching function this small has no sign */

static double sign(double value) { return value > 0.0 ? 1.0 : (value < 0.0 ? -1.0 : 0.0); }

const double *vbg_values(vbg *v, double t, const double *x)
{
    const double *found = vbg_switching(v, t, x);
    for (int i = 0; i < v->m->switches; i++) {
        v->value[i] = found[i];
        if (isfinite(found[i]) && fabs(found[i]) > v->size[i]) v->size[i] = fabs(found[i]);
    }
    return v->value;
}

/* A mode with a name is on where its function is above zero: one that stays zero is off. */
static int above(const vbg *v, int i) { return v->m->mode_at[i] >= 0 && !v->m->quiet[i]; }

/* Turns modes over until each agrees with the sign of its condition; `behind`: those whose `root`
   is 1 have just been turned over, at zero. */
static void agree(vbg *v, double t, double *x, int behind)
{
    const vbg_model *m = v->m;
    for (int round = 0, wrong = 1; round < v->s.rounds && wrong; round++) {
        const double *value = vbg_values(v, t, x);
        wrong = 0;
        for (int i = 0; i < m->switches; i++) {
            const int at = m->mode_at[i], turned = behind && v->root[i] > 0.0;
            const int ended = round == 0 && above(v, i) && !turned && fabs(value[i]) <= 0.0;
            if (at < 0 || !(fabs(value[i]) > FLAT * v->size[i] || ended)) continue;
            if ((value[i] > 0.0) != (x[at] > 0.5)) {
                x[at] = 1.0 - x[at];
                wrong = 1;
            }
        }
    }
}

/* Signs: of a mode its own side, of a mere switch that of its function. */
static void remember(vbg *v, double t, const double *x)
{
    const double *value = vbg_values(v, t, x);
    for (int i = 0; i < v->m->switches; i++) {
        const int at = v->m->mode_at[i];
        v->signs[i] = at < 0 ? sign(value[i]) : (x[at] > 0.5 ? 1.0 : -1.0);
    }
}

void vbg_begin_modes(vbg *v, double t, double *x)
{
    if (v->m->switches == 0) return;
    agree(v, t, x, 0);
    remember(v, t, x);
}

int vbg_crossed(const vbg *v, int i)
{
    const double value = v->value[i], now = sign(value), was = v->signs[i];
    if (fabs(value) <= 0.0 && (was > 0.0) != above(v, i)) return 0;
    if (v->m->quiet[i] && fabs(value) <= FLAT * v->size[i]) return 0;
    return fabs(was) > 0.0 && fabs(now - was) > 0.0;
}

void vbg_keep_signs(vbg *v)
{
    for (int i = 0; i < v->m->switches; i++) {
        const double now = sign(v->value[i]);
        const int resting = (v->signs[i] > 0.0 && fabs(v->value[i]) <= 0.0) ||
                            (v->m->quiet[i] && fabs(v->value[i]) <= FLAT * v->size[i]);
        if (v->m->mode_at[i] < 0 && !resting) v->signs[i] = now;
    }
}

/* Behind a crossing of the functions whose `root` is 1; x in place. */
void vbg_pass(vbg *v, double t, double *x)
{
    const vbg_model *m = v->m;
    vbg_project_here(v, t, x);
    for (int i = 0; i < m->switches; i++)
        if (v->root[i] > 0.0 && m->mode_at[i] >= 0) x[m->mode_at[i]] = 1.0 - x[m->mode_at[i]];
    vbg_project_here(v, t, x);
    agree(v, t, x, 1);
    for (int i = 0; i < m->switches; i++) v->root[i] *= v->signs[i]; /* the signs before */
    remember(v, t, x);
    for (int i = 0; i < m->switches; i++)
        if (m->mode_at[i] < 0 && fabs(v->root[i]) > 0.0) v->signs[i] = -v->root[i];
    vbg_project_here(v, t, x);
}

int vbg_settle_events(vbg *v, double t, double *x)
{
    int crossed = 0, told = 0;
    if (v->m->switches > 0) vbg_values(v, t, x);
    for (int i = 0; i < v->m->switches; i++) {
        v->root[i] = vbg_crossed(v, i) ? 1.0 : 0.0;
        crossed |= v->root[i] > 0.0;
        told |= v->root[i] > 0.0 && !v->m->quiet[i];
    }
    if (crossed) vbg_pass(v, t, x);
    for (vbg_instant next = vbg_next(v); next.first <= t; next = vbg_next(v)) {
        vbg_project_here(v, next.before, x);
        vbg_go_past(v, &next, x);
        vbg_begin_modes(v, next.after, x);
        vbg_project_here(v, next.after, x);
        told = 1;
    }
    vbg_project_here(v, t, x);
    return told;
}
