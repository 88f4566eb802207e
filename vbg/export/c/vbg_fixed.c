/* Steps of fixed length: the classical Runge-Kutta method of order 4, the joints closed by one Newton
   step, events at the end of the step; see vbg_machine.h.

   The work of a step has a bound.  Always: four rates, two residuals, one correction of the posture
   and one of the momenta, the switching functions once.  Where functions cross zero: four looks at
   the joints with one correction each at most, and the switching functions six times (one change of
   a mode may cause another: four are followed, what disagrees then is turned over at the end of the
   next step).  For each instant of a clock or a jump in the step: two looks, five times the switching
   functions, the samples. */
#include <math.h>
#include <string.h>

#include "vbg_inside.h"

static void copy(double *to, const double *from, int n) { memcpy(to, from, (size_t)n * sizeof *to); }

/* One step to the time t; where an instant of a clock or a jump lies on it, up to what is before
   the instant, and the next step begins behind it. */
static vbg_status step_to(vbg *v, double t)
{
    static const double shift[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    const vbg_model *m = v->m;
    const int n = m->states;
    const vbg_instant next = vbg_next(v);
    const int meets = next.first <= t && t <= next.last;
    const double end = meets ? next.before : t, h = end - v->s.t;
    if (v->s.status != VBG_OK) return VBG_ENDED;
    copy(v->raw, v->x, n);
    copy(v->trial, v->x, n);
    for (int s = 0; s < 4; s++) {
        const double *f = vbg_rates(v, s == 3 ? end : v->s.t + shift[s] * h, v->trial);
        for (int i = 0; i < n; i++) v->raw[i] += h / 6.0 * weight[s] * f[i];
        if (s < 3)
            for (int i = 0; i < n; i++) v->trial[i] = v->x[i] + shift[s + 1] * h * f[i];
    }
    copy(v->x, v->raw, n);
    v->s.steps++;
    vbg_project_once(v, end, v->x);
    if (m->switches > 0 || next.first <= t) vbg_settle_events(v, t, v->x);
    v->s.t = meets ? next.after : t;
    if (!vbg_all_finite(v->x, n)) v->s.status = VBG_NOT_FINITE;
    else if (v->s.left > VBG_LOST) v->s.status = VBG_OPEN;
    else if ((v->s.status = vbg_defined(v)) == VBG_OK) v->s.status = vbg_look_at_turns(v, t, v->x);
    vbg_keep_turns(v);
    return v->s.status;
}

vbg_status vbg_fixed_step(vbg *v, double h) { return step_to(v, v->s.t + h); }

vbg_status vbg_tick(vbg *v)
{
    /* a product: sums of steps stray from the instants of clocks */
    return step_to(v, (v->s.ticks += 1.0) * v->m->step);
}
