/* Switching functions and the modes that follow them; see vbg_machine.h. */
#include <float.h>
#include <math.h>

#include "vbg_inside.h"

#define ROUNDED (2.0 * DBL_EPSILON) /* of the numbers that make a value (vbg.blocks.rounding) */
#define ALIKE 4e-14 /* relative distance of roots between which only rounding is */
#define COMES 4.0   /* times as long as its growth asks for, in which a mode comes to its side */
#define LATE 2.0    /* of what is wrong: it keeps its side */
#define FORE 1e-3   /* of a step: so far ahead slopes are looked at */

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

const double *vbg_rounding(vbg *v, double t, const double *x)
{
    const double *terms = vbg_terms(v, t, x);
    for (int i = 0; i < v->m->switches; i++) {
        const double size = v->m->mode_at[i] >= 0 ? ROUNDED * *terms++ : 0.0;
        v->rounded[i] = isfinite(size) ? size : 0.0;
    }
    return v->rounded;
}

/* Turns those over that are `wrong`. */
static void turn(const vbg *v, double *x)
{
    for (int i = 0; i < v->m->switches; i++)
        if (v->wrong[i] > 0.0) x[v->m->mode_at[i]] = 1.0 - x[v->m->mode_at[i]];
}

/* Function i after the time h, at the rates of now. */
static double value_ahead(vbg *v, double t, const double *x, double h, int i)
{
    const double *rate = vbg_rates(v, t, x);
    for (int k = 0; k < v->m->states; k++) v->ahead[k] = x[k] + h * rate[k];
    return vbg_switching(v, t + h, v->ahead)[i];
}

static double fore(const vbg *v)
{
    const double step = v->s.t_step - v->s.t_before;
    return FORE * (step > 0.0 ? step : v->m->output_step);
}

/* Whether i, which has just been turned over at its zero, has the sign of its side as soon as what
   that zero's instant is known to: the rounding in the mode before over its growth there. That of a
   diode's current, as it stops to conduct beside a choke, is 1e8 times as much of the voltage that
   it blocks from there on. */
static int comes(vbg *v, double t, double *x, int i)
{
    const double side = x[v->m->mode_at[i]] > 0.5 ? 1.0 : -1.0, lack = -side * v->value[i];
    const double h = fore(v);
    turn(v, x);
    const double rounded = vbg_rounding(v, t, x)[i], before = vbg_switching(v, t, x)[i];
    const double slope = fabs(value_ahead(v, t, x, h, i) - before) / h;
    turn(v, x);
    const double known = ALIKE * t + (slope > 0.0 ? rounded / slope : 0.0);
    const double gain = side * value_ahead(v, t, x, known, i) + lack;
    if (!(lack < gain)) return 0;
    v->late[i] = t + COMES * known * lack / gain;
    return 1;
}

/* Turns modes over until each agrees with the sign of its condition; `behind`: those whose `root`
   is 1 have just been turned over, at zero. One that is on at zero and does not grow has ended: all
   is zero in every mode where a source begins. */
static void agree(vbg *v, double t, double *x, int behind)
{
    const vbg_model *m = v->m;
    int wrong = 1;
    for (int round = 0; round < v->s.rounds && wrong; round++) {
        const double *value = vbg_values(v, t, x), *rounded = v->rounded;
        wrong = 0;
        for (int i = 0; i < m->switches; i++) {
            const int at = m->mode_at[i], turned = behind && v->root[i] > 0.0;
            const int zero = round == 0 && above(v, i) && !turned && fabs(value[i]) <= 0.0;
            const int ended = zero && x[at] > 0.5 && !(value_ahead(v, t, x, fore(v), i) > 0.0);
            const int sure = at >= 0 && (fabs(value[i]) > VBG_FLAT * v->size[i] || ended);
            v->wrong[i] = sure && (value[i] > 0.0) != (x[at] > 0.5) ? 1.0 : 0.0;
            wrong |= v->wrong[i] > 0.0;
        }
        if (!wrong) return;
        vbg_rounding(v, t, x);
        for (int i = 0; i < m->switches; i++)
            if (fabs(value[i]) < rounded[i]) v->wrong[i] = 0.0;
        for (int i = 0; behind && i < m->switches; i++)
            if (v->wrong[i] > 0.0 && v->root[i] > 0.0 && comes(v, t, x, i)) v->wrong[i] = LATE;
        wrong = 0;
        for (int i = 0; i < m->switches; i++) {
            v->wrong[i] = v->wrong[i] > 0.0 && v->wrong[i] < LATE ? 1.0 : 0.0;
            wrong |= v->wrong[i] > 0.0;
        }
        turn(v, x);
    }
    if (wrong && !(m->step > 0.0)) v->s.unsettled++; /* a step of fixed length turns the rest over in the next */
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

/* Whether function i has another sign than it had, or than its mode has. */
static int beyond(const vbg *v, int i, double t)
{
    const double value = v->value[i], now = sign(value), was = v->signs[i];
    if (fabs(value) <= 0.0 && (was > 0.0) != above(v, i)) return 0;
    if (v->m->quiet[i] && fabs(value) <= VBG_FLAT * v->size[i]) return 0;
    return fabs(was) > 0.0 && fabs(now - was) > 0.0 && !(t < v->late[i]);
}

int vbg_look(vbg *v, double t, const double *x)
{
    int crossed = 0, sized = 0;
    for (int i = 0; i < v->m->switches; i++) {
        const int over = beyond(v, i, t);
        if (over && !sized) vbg_rounding(v, t, x);
        sized |= over;
        const int sure = over && !(fabs(v->value[i]) < v->rounded[i]);
        v->root[i] = sure ? 1.0 : 0.0;
        crossed |= sure;
        if (!over) v->since[i] = t;
    }
    return crossed;
}

vbg_status vbg_defined(vbg *v)
{
    for (int i = 0; i < v->m->switches; i++)
        if (isnan(v->value[i]) && !v->m->quiet[i]) {
            v->s.about = -1 - i;
            return VBG_UNDEFINED;
        }
    return VBG_OK;
}

void vbg_keep_signs(vbg *v)
{
    for (int i = 0; i < v->m->switches; i++) {
        const double now = sign(v->value[i]);
        const int resting = (v->signs[i] > 0.0 && fabs(v->value[i]) <= 0.0) ||
                            (v->m->quiet[i] && fabs(v->value[i]) <= VBG_FLAT * v->size[i]);
        if (v->m->mode_at[i] < 0 && !resting) v->signs[i] = now;
    }
}

/* Behind a crossing of the functions whose `root` is 1; x in place. */
void vbg_pass(vbg *v, double t, double *x)
{
    const vbg_model *m = v->m;
    vbg_project_here(v, t, x);
    for (int i = 0; i < m->switches; i++)
        if (v->root[i] > 0.0 && m->mode_at[i] >= 0) {
            x[m->mode_at[i]] = 1.0 - x[m->mode_at[i]];
            v->turned[i] = t;
        }
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
    int told = 0;
    if (v->m->switches > 0) vbg_values(v, t, x);
    const int crossed = vbg_look(v, t, x);
    for (int i = 0; i < v->m->switches; i++) told |= v->root[i] > 0.0 && !v->m->quiet[i];
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
