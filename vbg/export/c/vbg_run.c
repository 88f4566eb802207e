/* DOP853 with events and projection, and a Runge-Kutta method of fixed step; see vbg_machine.h.
   The adaptive method follows SciPy's (step control, error norm, first step), so that a run takes
   the steps of `vbg run`. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "vbg_dop853.h"
#include "vbg_inside.h"

#define SAFETY 0.9
#define LEAST 0.2
#define MOST 10.0
#define ROWS 0.1      /* of rtol: the polynomial between the ends has no error control of its own */
#define BESIDE 1e4    /* condition at the end of a step that lies beside a singular posture */
#define GROWN 1e3     /* times the least condition of the run */
#define CLOSER 30.0
#define TINY 1e-4
#define HALVED 110.0
#define LOOKS 8       /* places of a step at which switching functions are looked at */
#define CHATTER 100   /* so many events within this part of an output step are a failure */
#define INSTANT 1e-5
#define BRENT 200
#define PLAIN 1
#define EVENT 2
#define CLOCK 3

static void copy(double *to, const double *from, int n) { memcpy(to, from, (size_t)n * sizeof *to); }

static int all_finite(const double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return 0;
    return 1;
}

static double tolerance(const vbg *v, int i) { return v->s.atol * v->m->tolerance[i]; }

static double rtol(const vbg *v) { return fmax(ROWS * v->s.rtol, 1e-13); }

/* -- one step ------------------------------------------------------------------------------------ */

/* Rates from x, and a first step (Hairer, Norsett, Wanner, II.4). */
static void restart(vbg *v, double bound)
{
    const int n = v->m->states;
    const double t = v->s.t, span = bound - t;
    double d0 = 0.0, d1 = 0.0, d2 = 0.0;
    copy(v->f, vbg_rates(v, t, v->x), n);
    for (int i = 0; i < n; i++) {
        v->scale[i] = tolerance(v, i) + rtol(v) * fabs(v->x[i]);
        d0 += v->x[i] / v->scale[i] * (v->x[i] / v->scale[i]);
        d1 += v->f[i] / v->scale[i] * (v->f[i] / v->scale[i]);
    }
    d0 = sqrt(d0 / n);
    d1 = sqrt(d1 / n);
    const double h0 = fmin(d0 < 1e-5 || d1 < 1e-5 ? 1e-6 : 0.01 * d0 / d1, span);
    for (int i = 0; i < n; i++) v->trial[i] = v->x[i] + h0 * v->f[i];
    const double *f1 = vbg_rates(v, t + h0, v->trial);
    for (int i = 0; i < n; i++) d2 += (f1[i] - v->f[i]) / v->scale[i] * ((f1[i] - v->f[i]) / v->scale[i]);
    d2 = sqrt(d2 / n) / h0;
    const double h1 = d1 <= 1e-15 && d2 <= 1e-15 ? fmax(1e-6, h0 * 1e-3) : pow(0.01 / fmax(d1, d2), 1.0 / 8.0);
    v->s.h = fmin(fmin(100.0 * h0, h1), span);
    if (!isfinite(v->s.h)) v->s.h = h0;
    v->s.largest = 0.0;
    v->s.last_condition = 1.0;
    v->s.fresh = 0;
}

/* trial = x + h sum a K over the first `count` stages */
static void stage(vbg *v, const double *a, int count, double h)
{
    const int n = v->m->states;
    for (int i = 0; i < n; i++) v->trial[i] = 0.0;
    for (int s = 0; s < count; s++) {
        const double w = a[s], *K = v->K + s * n;
        if (fabs(w) > 0.0)
            for (int i = 0; i < n; i++) v->trial[i] += w * K[i];
    }
    for (int i = 0; i < n; i++) v->trial[i] = v->before[i] + h * v->trial[i];
}

static double error_norm(const vbg *v, double h)
{
    const int n = v->m->states;
    double five = 0.0, three = 0.0;
    for (int i = 0; i < n; i++) {
        double e5 = 0.0, e3 = 0.0;
        for (int s = 0; s < 13; s++) {
            e5 += DOP_E5[s] * v->K[s * n + i];
            e3 += DOP_E3[s] * v->K[s * n + i];
        }
        const double scale = tolerance(v, i) + rtol(v) * fmax(fabs(v->before[i]), fabs(v->raw[i]));
        five += e5 / scale * (e5 / scale);
        three += e3 / scale * (e3 / scale);
    }
    if (five <= 0.0 && three <= 0.0) return 0.0;
    const double norm = fabs(h) * five / sqrt((five + 0.01 * three) * n);
    return isfinite(norm) ? norm : INFINITY;
}

/* The error norm, larger where the step ends beside a singular posture; -1: it must not go on. */
static double checked_norm(vbg *v, double h)
{
    const double norm = error_norm(v, h);
    if (!(norm < 1.0) || v->m->rows == 0) return norm;
    const double condition = vbg_condition_now(v), beside = fmax(BESIDE, GROWN * v->s.regular);
    if (condition > beside) {
        if (CLOSER * v->s.last_condition < beside && h > TINY * v->s.largest) return HALVED;
        return -1.0;
    }
    v->s.last_condition = condition;
    v->s.regular = fmin(v->s.regular, condition);
    v->s.largest = fmax(v->s.largest, h);
    return norm;
}

/* One accepted step from x, not past `bound`; its end is `raw`, x still its beginning. */
static vbg_status step(vbg *v, double bound)
{
    const int n = v->m->states;
    if (v->s.fresh) restart(v, bound);
    if (!all_finite(v->f, n)) return VBG_NOT_FINITE;
    const double t = v->s.t, least = 10.0 * (nextafter(t, INFINITY) - t);
    double h = fmax(v->s.h, least);
    copy(v->before, v->x, n);
    copy(v->K, v->f, n);
    for (int rejected = 0;; rejected = 1) {
        if (h < least) return VBG_STEP_TOO_SMALL;
        const double wanted = h, end = fmin(t + h, bound);
        h = end - t;
        for (int s = 1; s < 12; s++) {
            stage(v, DOP_A[s], s, h);
            copy(v->K + s * n, vbg_rates(v, t + DOP_C[s] * h, v->trial), n);
        }
        stage(v, DOP_B, 12, h);
        copy(v->raw, v->trial, n);
        copy(v->K + 12 * n, vbg_rates(v, end, v->raw), n);
        const double norm = checked_norm(v, h);
        if (norm < 0.0) return VBG_SINGULAR;
        if (norm < 1.0) {
            double factor = norm > 0.0 ? fmin(MOST, SAFETY * pow(norm, -0.125)) : MOST;
            if (rejected) factor = fmin(1.0, factor);
            v->s.h = fmax(h * factor, h < wanted && !rejected ? wanted : 0.0);
            v->s.t_before = t;
            v->s.t_step = end;
            v->s.dense = 0;
            v->s.steps++;
            return all_finite(v->raw, n) ? VBG_OK : VBG_NOT_FINITE;
        }
        h *= fmax(LEAST, isfinite(norm) ? SAFETY * pow(norm, -0.125) : 0.0);
    }
}

/* The polynomial of the step; 0 where one of the three stages that only it needs strays from the
   motion, as in a stiff model. */
static int make_dense(vbg *v)
{
    const int n = v->m->states;
    const double h = v->s.t_step - v->s.t_before;
    for (int s = 13; s < VBG_STAGES; s++) {
        stage(v, DOP_A[s], s, h);
        copy(v->K + s * n, vbg_rates(v, v->s.t_before + DOP_C[s] * h, v->trial), n);
    }
    for (int i = 0; i < n; i++) {
        double low = v->K[i], high = v->K[i];
        for (int s = 1; s < 13; s++) {
            low = fmin(low, v->K[s * n + i]);
            high = fmax(high, v->K[s * n + i]);
        }
        const double slack = high - low + (tolerance(v, i) + rtol(v) * fabs(v->raw[i])) / h;
        for (int s = 13; s < VBG_STAGES; s++)
            if (!(v->K[s * n + i] >= low - slack && v->K[s * n + i] <= high + slack)) return 0;
        const double change = v->raw[i] - v->before[i];
        v->F[i] = change;
        v->F[n + i] = h * v->K[i] - change;
        v->F[2 * n + i] = 2.0 * change - h * (v->K[12 * n + i] + v->K[i]);
        for (int p = 0; p < 4; p++) {
            double sum = 0.0;
            for (int s = 0; s < VBG_STAGES; s++) sum += DOP_D[p][s] * v->K[s * n + i];
            v->F[(3 + p) * n + i] = h * sum;
        }
    }
    v->s.dense = 1;
    return 1;
}

/* The state inside the step. */
static void between(const vbg *v, double t, double *x)
{
    const int n = v->m->states;
    const double s = (t - v->s.t_before) / (v->s.t_step - v->s.t_before);
    for (int i = 0; i < n; i++) {
        double y = 0.0;
        for (int p = VBG_POWERS - 1; p >= 0; p--)
            y = (y + v->F[p * n + i]) * ((VBG_POWERS - 1 - p) % 2 == 0 ? s : 1.0 - s);
        x[i] = v->before[i] + y;
    }
}

/* Takes the last step back, to go on with half its length. */
static vbg_status take_back(vbg *v)
{
    const double h = 0.5 * (v->s.t_step - v->s.t_before);
    v->s.t = v->s.t_before;
    copy(v->x, v->before, v->m->states);
    copy(v->f, v->K, v->m->states);
    v->s.h = h;
    v->s.pending = 0;
    return h > 10.0 * (nextafter(v->s.t, INFINITY) - v->s.t) ? VBG_OK : VBG_STEP_TOO_SMALL;
}

/* -- events ------------------------------------------------------------------------------------------ */

static double value_at(vbg *v, int i, double t, int projected)
{
    between(v, t, v->trial);
    if (projected) vbg_project_here(v, t, v->trial);
    return vbg_switching(v, t, v->trial)[i];
}

/* Zero of switching function i between a and b (R. P. Brent, Algorithms for Minimization Without
   Derivatives, 1973, ch. 4); NAN where its signs are the same. */
static double zero(vbg *v, int i, double a, double b, int projected)
{
    double fa = value_at(v, i, a, projected), fb = value_at(v, i, b, projected);
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
        fb = value_at(v, i, b, projected);
    }
    return b;
}

/* The first crossing inside the last step: its time, and `root` of all that cross there. */
static double find_event(vbg *v)
{
    const vbg_model *m = v->m;
    const double h = v->s.t_step - v->s.t_before;
    double low = v->s.t_before, best = INFINITY;
    for (int look = 1; look <= LOOKS; look++) {
        const double high = look == LOOKS ? v->s.t_step : v->s.t_before + h * look / LOOKS;
        if (look == LOOKS) copy(v->trial, v->raw, m->states);
        else between(v, high, v->trial);
        vbg_values(v, high, v->trial);
        int crossed = 0;
        for (int i = 0; i < m->switches; i++) {
            v->root[i] = vbg_crossed(v, i) ? 1.0 : INFINITY;
            crossed |= isfinite(v->root[i]);
        }
        if (crossed) {
            for (int i = 0; i < m->switches; i++) {
                if (!isfinite(v->root[i])) continue;
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
        low = high;
    }
    return INFINITY;
}

static vbg_status at_event(vbg *v)
{
    const double t = v->s.event_time;
    between(v, t, v->x);
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
    v->s.pending = v->s.stopped = 0;
    if (status == VBG_OK && v->s.left > VBG_LOST) status = VBG_OPEN;
    return status;
}

/* -- runs ------------------------------------------------------------------------------------------------ */

static double next_bound(const vbg *v)
{
    const vbg_model *m = v->m;
    double bound = vbg_next(v).before;
    for (int i = 0; i < m->pauses; i++)
        if (m->pause[i] > v->s.t && m->pause[i] < bound) return m->pause[i];
    return bound;
}

static vbg_status make_step(vbg *v, double bound)
{
    vbg_status status = step(v, bound);
    if (status != VBG_OK) return status;
    v->s.pending = v->s.t_step >= vbg_next(v).before ? CLOCK : PLAIN;
    if (v->m->switches == 0) return VBG_OK;
    if (!make_dense(v)) return take_back(v);
    v->s.event_time = find_event(v);
    if (isfinite(v->s.event_time)) v->s.pending = EVENT;
    return VBG_OK;
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
        between(v, v->s.event_time, x);
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
    const double far = way & VBG_BEYOND ? INFINITY : target;
    for (;;) {
        if (way & VBG_ONE_STEP && v->s.pending) target = fmin(target, end_of(v));
        *reached = target;
        vbg_status status = VBG_OK;
        if (v->s.pending && inside(v, target)) {
            if (v->s.dense || make_dense(v)) {
                between(v, target, x);
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
    v->s.status = advance(v, target, way, x, reached);
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

vbg_status vbg_fixed_step(vbg *v, double h)
{
    static const double shift[4] = {0.0, 0.5, 0.5, 1.0}, weight[4] = {1.0, 2.0, 2.0, 1.0};
    const int n = v->m->states;
    if (v->s.status != VBG_OK) return VBG_ENDED;
    copy(v->raw, v->x, n);
    copy(v->trial, v->x, n);
    for (int s = 0; s < 4; s++) {
        const double *f = vbg_rates(v, v->s.t + shift[s] * h, v->trial);
        for (int i = 0; i < n; i++) v->raw[i] += h / 6.0 * weight[s] * f[i];
        if (s < 3)
            for (int i = 0; i < n; i++) v->trial[i] = v->x[i] + shift[s + 1] * h * f[i];
    }
    copy(v->x, v->raw, n);
    v->s.t += h;
    v->s.steps++;
    vbg_project_once(v, v->s.t, v->x);
    if (v->m->switches > 0 || v->m->clocks > 0 || v->m->singles > 0) vbg_settle_events(v, v->s.t, v->x);
    if (!all_finite(v->x, n)) v->s.status = VBG_NOT_FINITE;
    else if (v->s.left > VBG_LOST) v->s.status = VBG_OPEN;
    return v->s.status;
}
