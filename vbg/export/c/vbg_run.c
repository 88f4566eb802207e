/* Runs with located events and projection; see vbg_machine.h. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "vbg_inside.h"

#define LOOKS 8       /* places of a step at which switching functions are looked at */
#define INSTANT 1e-5  /* of an output step: VBG_RECENT events within it are a failure */
#define BRENT 200
#define PLAIN 1
#define EVENT 2
#define CLOCK 3

static void copy(double *to, const double *from, int n) { memcpy(to, from, (size_t)n * sizeof *to); }

/* Takes the last step back, to go on with half its length. */
static vbg_status take_back(vbg *v)
{
    const double h = 0.5 * (v->s.t_step - v->s.t_before);
    v->s.t = v->s.t_before;
    copy(v->x, v->before, v->m->states);
    copy(v->f, v->K, v->m->states);
    v->s.h = h;
    v->s.h_old = 0.0;
    v->s.pending = 0;
    return h > 10.0 * (nextafter(v->s.t, INFINITY) - v->s.t) ? VBG_OK : VBG_STEP_TOO_SMALL;
}

/* -- events ------------------------------------------------------------------------------------------ */

static double value_at(vbg *v, int i, double t, int projected)
{
    vbg_between(v, t, v->trial);
    if (projected) vbg_project_here(v, t, v->trial);
    return vbg_switching(v, t, v->trial)[i];
}

/* The last time by bisection between a and b at which function i, times `sign`, is above zero; it
   is at a. */
static double last_above(vbg *v, int i, double a, double b, double sign, int projected)
{
    for (double half = 0.5 * (a + b); a < half && half < b; half = 0.5 * (a + b)) {
        if (sign * value_at(v, i, half, projected) > 0.0) a = half;
        else b = half;
    }
    return a;
}

/* Zero of switching function i between a and b (R. P. Brent, Algorithms for Minimization Without
   Derivatives, 1973, ch. 4), where it leaves its rounding if it begins as that; of a mode that falls
   to zero and stays there the last time above it; where a mode has its old sign there yet by more
   than rounding, as a steep one, behind that; NAN where its signs are the same. */
static double zero(vbg *v, int i, double a, double b, int projected)
{
    const int mode = v->m->mode_at[i] >= 0;
    double fb = value_at(v, i, b, projected), fa = value_at(v, i, a, projected), less = 0.0;
    if (mode && !v->m->quiet[i] && fa > 0.0 && fabs(fb) <= 0.0) return last_above(v, i, a, b, 1.0, projected);
    const double size = mode ? vbg_rounding(v, a, v->trial)[i] : 0.0, end = b;
    if (size > 0.0 && fabs(fa) <= size && size < fabs(fb)) less = copysign(size, fb);
    fa -= less;
    fb -= less;
    if (!(fa * fb < 0.0)) return NAN;
    double c = a, fc = fa, d = b - a, e = d;
    const double xtol = 1e-15 * fmax(b, 1e-3);
    for (int round = 0; round < BRENT; round++) {
        if ((fb > 0.0) == (fc > 0.0)) {
            c = a;
            fc = fa;
            d = e = b - a;
        }
        if (fabs(fc) < fabs(fb)) {
            a = b; b = c; c = a;
            fa = fb; fb = fc; fc = fa;
        }
        const double near = 2.0 * DBL_EPSILON * fabs(b) + 0.5 * xtol, half = 0.5 * (c - b);
        if (fabs(half) <= near || fabs(fb) <= 0.0) break;
        if (fabs(e) >= near && fabs(fa) > fabs(fb)) {
            double p, q;
            const double s = fb / fa;
            if (fabs(a - c) <= 0.0) {
                p = 2.0 * half * s;
                q = 1.0 - s;
            } else {
                const double u = fa / fc, r = fb / fc;
                p = s * (2.0 * half * u * (u - r) - (b - a) * (r - 1.0));
                q = (u - 1.0) * (r - 1.0) * (s - 1.0);
            }
            if (p > 0.0) q = -q;
            p = fabs(p);
            if (2.0 * p < fmin(3.0 * half * q - fabs(near * q), fabs(e * q))) {
                e = d;
                d = p / q;
            } else {
                d = e = half;
            }
        } else {
            d = e = half;
        }
        a = b;
        fa = fb;
        b += fabs(d) > near ? d : (half > 0.0 ? near : -near);
        fb = value_at(v, i, b, projected) - less;
    }
    const double left = v->signs[i] * value_at(v, i, b, projected);
    if (!mode || !(left > VBG_FLAT * v->size[i] && left > vbg_rounding(v, b, v->trial)[i])) return b;
    return nextafter(last_above(v, i, b, end, v->signs[i], projected), end);
}

/* Whether what crosses has turned over where the step begins, and that is no brief one. A mode that
   has just turned over at its zero stands on its side by less than a long step errs by, as a voltage
   does that begins to grow as the cube of the time: it is seen to turn back in a brief step only. */
static int is_too_long(const vbg *v)
{
    const double begin = v->s.t_before;
    if (v->s.events == 0 || v->s.t_step - begin <= INSTANT * v->m->output_step) return 0;
    for (int i = 0; i < v->m->switches; i++)
        if (v->root[i] > 0.0 && v->m->mode_at[i] >= 0 && fabs(v->turned[i] - begin) <= 0.0) return 1;
    return 0;
}

/* The first crossing inside the last step: its time, and `root` of all that cross there; NAN where a
   function has no value. */
static double find_event(vbg *v)
{
    const vbg_model *m = v->m;
    const double h = v->s.t_step - v->s.t_before;
    double best = INFINITY;
    for (int i = 0; i < m->switches; i++) v->since[i] = v->s.t_before;
    for (int look = 1; look <= LOOKS; look++) {
        const double high = look == LOOKS ? v->s.t_step : v->s.t_before + h * look / LOOKS;
        if (look == LOOKS) copy(v->trial, v->raw, m->states);
        else vbg_between(v, high, v->trial);
        vbg_values(v, high, v->trial);
        if (vbg_defined(v) != VBG_OK) return NAN;
        if (vbg_look(v, high, v->trial)) {
            for (int i = 0; i < m->switches; i++) {
                const double low = v->since[i];
                if (!(v->root[i] > 0.0)) {
                    v->root[i] = INFINITY;
                    continue;
                }
                v->root[i] = zero(v, i, low, high, 1);
                if (!isfinite(v->root[i])) v->root[i] = zero(v, i, low, high, 0);
                if (!isfinite(v->root[i])) v->root[i] = low;
                best = fmin(best, v->root[i]);
            }
            for (int i = 0; i < m->switches; i++)
                v->root[i] = v->root[i] <= best ? 1.0 : 0.0;
            return best;
        }
        vbg_keep_signs(v);
    }
    return INFINITY;
}

static vbg_status at_event(vbg *v)
{
    const double t = v->s.event_time;
    vbg_between(v, t, v->x);
    vbg_pass(v, t, v->x);
    v->s.t = t;
    v->s.fresh = 1;
    v->s.recent[v->s.events % VBG_RECENT] = t;
    v->s.events++;
    if (v->s.events > VBG_RECENT) {
        const double then = v->s.recent[v->s.events % VBG_RECENT];
        if (t - then <= INSTANT * v->m->output_step) return VBG_CHATTER;
    }
    return VBG_OK;
}

static vbg_status at_instant(vbg *v)
{
    const vbg_instant instant = vbg_next(v);
    copy(v->x, v->raw, v->m->states);
    vbg_project_here(v, instant.before, v->x);
    vbg_go_past(v, &instant, v->x);
    vbg_begin_modes(v, instant.after, v->x);
    vbg_project_here(v, instant.after, v->x);
    v->s.t = instant.after;
    v->s.fresh = 1;
    return VBG_OK;
}

/* The end of a step on the constraints. */
static void hold(vbg *v)
{
    const int n = v->m->states;
    copy(v->x, v->raw, n);
    v->s.t = v->s.t_step;
    /* a residual c leaves an error c sqrt(condition) */
    const double closer = v->m->rows > 0 ? sqrt(v->s.condition / v->s.regular) : 1.0;
    double position = v->s.position_tol, velocity = v->s.velocity_tol;
    if (closer > 1.0) {
        position = fmin(position, fmax(position / closer, 1e-13));
        velocity = fmin(velocity, fmax(velocity / closer, 1e-13));
    }
    if (vbg_project(v, v->s.t, v->x, position, velocity)) copy(v->f, vbg_rates(v, v->s.t, v->x), n);
    else copy(v->f, v->K + 12 * n, n);
}

static vbg_status resolve(vbg *v)
{
    vbg_status status = VBG_OK;
    if (v->s.pending == EVENT) status = at_event(v);
    else if (v->s.pending == CLOCK) status = at_instant(v);
    else hold(v);
    vbg_keep_turns(v);
    v->s.pending = v->s.stopped = 0;
    if (status == VBG_OK && v->s.left > VBG_LOST) status = VBG_OPEN;
    return status;
}

/* -- runs ------------------------------------------------------------------------------------------------ */

static double next_bound(const vbg *v)
{
    const vbg_model *m = v->m;
    double bound = fmin(vbg_next(v).before, v->s.t + m->longest);
    for (int i = 0; i < m->pauses; i++)
        if (m->pause[i] > v->s.t && m->pause[i] < bound) return m->pause[i];
    return bound;
}

static vbg_status make_step(vbg *v, double bound)
{
    vbg_status status = vbg_step(v, bound);
    if (status != VBG_OK) return status;
    v->s.pending = v->s.t_step >= vbg_next(v).before ? CLOCK : PLAIN;
    v->s.event_time = INFINITY;
    if (v->m->switches > 0) {
        if (!vbg_make_dense(v)) return take_back(v);
        v->s.event_time = find_event(v);
        if (isnan(v->s.event_time)) return VBG_UNDEFINED;
    }
    if (!isfinite(v->s.event_time)) return vbg_look_at_turns(v, v->s.t_step, v->raw);
    if (is_too_long(v)) return take_back(v);
    v->s.pending = EVENT;
    vbg_between(v, v->s.event_time, v->trial);
    return vbg_look_at_turns(v, v->s.event_time, v->trial);
}

/* Whether `target` lies in the last step, before anything happens. */
static int inside(const vbg *v, double target)
{
    if (v->s.pending == EVENT) return target < v->s.event_time - 64.0 * DBL_EPSILON * (fabs(target) + v->m->spread_scale);
    if (v->s.pending == CLOCK) return target < fmin(vbg_next(v).first, v->s.t_step);
    return target < v->s.t_step;
}

/* Whether what ends the last step is more than a kink of a law. */
static int is_told(const vbg *v)
{
    if (v->s.pending != EVENT) return v->s.pending == CLOCK;
    for (int i = 0; i < v->m->switches; i++)
        if (v->root[i] > 0.0 && !v->m->quiet[i]) return 1;
    return 0;
}

/* The state in front of the pending event, and its time. */
static double in_front(vbg *v, double *x)
{
    v->s.stopped = 1;
    if (v->s.pending == EVENT) {
        vbg_between(v, v->s.event_time, x);
        vbg_project_here(v, v->s.event_time, x);
        return v->s.event_time;
    }
    const vbg_instant instant = vbg_next(v);
    copy(x, v->raw, v->m->states);
    vbg_project_here(v, instant.before, x);
    return instant.at;
}

/* Where the last step ends, or what happens in it. */
static double end_of(const vbg *v) { return v->s.pending == EVENT ? v->s.event_time : v->s.t_step; }

static vbg_status advance(vbg *v, double target, int way, double *x, double *reached)
{
    const double far = way & VBG_BEYOND && !v->m->implicit ? INFINITY : target;
    for (;;) {
        if (way & VBG_ONE_STEP && v->s.pending) target = fmin(target, end_of(v));
        *reached = target;
        vbg_status status = VBG_OK;
        if (v->s.pending && inside(v, target)) {
            if (v->s.dense || vbg_make_dense(v)) {
                vbg_between(v, target, x);
                vbg_project_here(v, target, x);
                return VBG_OK;
            }
            status = take_back(v);
        } else if (v->s.pending && way & VBG_TO_EVENT && !v->s.stopped && is_told(v)) {
            *reached = fmin(in_front(v, x), target);
            return VBG_OK;
        } else if (v->s.pending) {
            status = resolve(v);
        } else if (target <= v->s.t) {
            copy(x, v->x, v->m->states);
            return VBG_OK;
        } else {
            const double bound = fmin(next_bound(v), far);
            if (bound > v->s.t) {
                status = make_step(v, bound);
            } else { /* stands at an instant */
                copy(v->raw, v->x, v->m->states);
                v->s.t_before = v->s.t_step = v->s.t;
                v->s.pending = CLOCK;
            }
        }
        if (status != VBG_OK) return status;
    }
}

double vbg_time(const vbg *v, double target)
{
    if (v->s.stopped && v->s.pending == CLOCK) return fmin(target, vbg_next(v).before);
    return v->s.pending ? target : fmax(target, v->s.t);
}

vbg_status vbg_advance(vbg *v, double target, int beyond, double *x)
{
    double reached;
    return vbg_advance_by(v, target, beyond ? VBG_BEYOND : 0, x, &reached);
}

vbg_status vbg_advance_by(vbg *v, double target, int way, double *x, double *reached)
{
    *reached = target;
    if (v->s.status != VBG_OK) return VBG_ENDED;
    v->s.status = vbg_before_half_a_turn(v, v->s.t, v->x, advance(v, target, way, x, reached));
    return v->s.status;
}

vbg_status vbg_handle(vbg *v, double *x)
{
    if (v->s.stopped && v->s.status == VBG_OK) {
        v->s.status = resolve(v);
        copy(x, v->x, v->m->states);
    }
    return v->s.status;
}

void vbg_touch(vbg *v)
{
    if (v->s.stopped) v->s.status = resolve(v);
    v->s.pending = 0;
    vbg_project_here(v, v->s.t, v->x);
    if (v->m->switches > 0) vbg_settle_events(v, v->s.t, v->x);
    v->s.fresh = 1;
}
