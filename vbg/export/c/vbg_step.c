/* One step of DOP853 and the polynomial inside it; see vbg_machine.h.  It follows SciPy's (step
   control, error norm, first step), so that a run takes the steps of `vbg run`. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "vbg_dop853.h"
#include "vbg_inside.h"

#define SAFETY 0.9
#define GRAINS 100.0 /* times rounding: what no tolerance is below */
#define LEAST 0.2
#define MOST 10.0
#define ROWS 0.1      /* of rtol: the polynomial between the ends has no error control of its own */
#define BESIDE 1e4    /* condition at the end of a step that lies beside a singular posture */
#define GROWN 1e3     /* times the least condition of the run */
#define CLOSER 30.0
#define TINY 1e-4
#define HALVED 110.0
#define DEFECT 300.0  /* tolerances that h (rate - slope) in the middle of a step may be */

static void copy(double *to, const double *from, int n) { memcpy(to, from, (size_t)n * sizeof *to); }

double vbg_tolerance(const vbg *v, int i) { return v->s.atol * v->m->tolerance[i]; }

double vbg_rtol(const vbg *v) { return fmax(ROWS * v->s.rtol, 1e-13); }

void vbg_weigh(vbg *v, double t, const double *x)
{
    const vbg_model *m = v->m;
    const double rtol = vbg_rtol(v);
    for (int i = 0; i < m->states; i++) v->relative[i] = rtol;
    if (m->stretched == 0) return;
    for (int way = 0; way < 3; way++) { /* with the states moved by rounding, twice, and as they are */
        for (int i = 0; i < m->states; i++)
            v->trial[i] = way == 2 ? x[i] : nextafter(x[i], i % 2 == way ? -INFINITY : INFINITY);
        const double *found = vbg_effective(v, t, v->trial);
        for (int i = 0; i < m->stretched; i++) v->part[way * m->stretched + i] = found[i];
    }
    for (int i = 0; i < m->stretched; i++) {
        const int at = m->stretched_at[i];
        const double *p = v->part + i, part = p[2 * m->stretched], whole = fabs(x[at]);
        const double moved = fmax(fabs(p[0] - part), fabs(p[m->stretched] - part));
        const double least = fmax(isfinite(moved) ? GRAINS * moved : 0.0, GRAINS * DBL_EPSILON * whole);
        if (fabs(part) < whole) v->relative[at] = fmin(rtol, fmax(rtol * fabs(part), least) / whole);
    }
}

/* Hairer, Norsett, Wanner, II.4. */
void vbg_restart(vbg *v, double bound, double order)
{
    const int n = v->m->states;
    const double t = v->s.t, span = bound - t;
    double d0 = 0.0, d1 = 0.0, d2 = 0.0;
    copy(v->f, vbg_rates(v, t, v->x), n);
    for (int i = 0; i < n; i++) {
        v->scale[i] = vbg_tolerance(v, i) + v->relative[i] * fabs(v->x[i]);
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
    const double h1 = d1 <= 1e-15 && d2 <= 1e-15 ? fmax(1e-6, h0 * 1e-3) : pow(0.01 / fmax(d1, d2), 1.0 / order);
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
        const double scale = vbg_tolerance(v, i) + v->relative[i] * fmax(fabs(v->before[i]), fabs(v->raw[i]));
        five += e5 / scale * (e5 / scale);
        three += e3 / scale * (e3 / scale);
    }
    if (five <= 0.0 && three <= 0.0) return 0.0;
    const double norm = fabs(h) * five / sqrt((five + 0.01 * three) * n);
    return isfinite(norm) ? norm : INFINITY;
}

double vbg_checked(vbg *v, double norm, double h)
{
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

vbg_status vbg_step(vbg *v, double bound)
{
    const int n = v->m->states;
    vbg_weigh(v, v->s.t, v->x);
    if (v->m->implicit) return vbg_radau_step(v, bound);
    if (v->s.fresh) vbg_restart(v, bound, 8.0);
    if (!vbg_all_finite(v->f, n)) return VBG_NOT_FINITE;
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
        const double norm = vbg_checked(v, error_norm(v, h), h);
        if (norm < 0.0) return VBG_SINGULAR;
        if (norm < 1.0) {
            double factor = norm > 0.0 ? fmin(MOST, SAFETY * pow(norm, -0.125)) : MOST;
            if (rejected) factor = fmin(1.0, factor);
            v->s.h = fmax(h * factor, h < wanted && !rejected ? wanted : 0.0);
            v->s.t_before = t;
            v->s.t_step = end;
            v->s.dense = 0;
            v->s.steps++;
            return vbg_all_finite(v->raw, n) ? VBG_OK : VBG_NOT_FINITE;
        }
        h *= fmax(LEAST, isfinite(norm) ? SAFETY * pow(norm, -0.125) : 0.0);
    }
}

/* h (rate - slope) in the middle of the step over the tolerance: where stability sets the steps, the
   polynomial may leave the motion although both ends are right. */
static double defect(vbg *v, double h)
{
    const int n = v->m->states;
    const double middle = v->s.t_before + 0.5 * h;
    double squares = 0.0;
    vbg_between(v, middle, v->trial);
    const double *f = vbg_rates(v, middle, v->trial);
    for (int i = 0; i < n; i++) {
        double total = 0.0, slope = 0.0;
        for (int p = VBG_POWERS - 1; p >= 0; p--) {
            total += v->F[p * n + i];
            slope = 0.5 * slope + (p % 2 == 0 ? total : -total);
            total *= 0.5;
        }
        const double scale = vbg_tolerance(v, i) + v->relative[i] * fmax(fabs(v->before[i]), fabs(v->raw[i]));
        squares += (h * f[i] - slope) / scale * ((h * f[i] - slope) / scale);
    }
    return sqrt(squares / n);
}

int vbg_make_dense(vbg *v)
{
    const int n = v->m->states;
    const double h = v->s.t_step - v->s.t_before;
    if (v->m->implicit) return v->s.dense = 1;
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
        const double slack = high - low + (vbg_tolerance(v, i) + v->relative[i] * fabs(v->raw[i])) / h;
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
    v->s.dense = defect(v, h) <= DEFECT;
    return v->s.dense;
}

void vbg_between(const vbg *v, double t, double *x)
{
    const int n = v->m->states;
    if (v->m->implicit) {
        vbg_radau_between(v, t, x);
        return;
    }
    const double s = (t - v->s.t_before) / (v->s.t_step - v->s.t_before);
    for (int i = 0; i < n; i++) {
        double y = 0.0;
        for (int p = VBG_POWERS - 1; p >= 0; p--)
            y = (y + v->F[p * n + i]) * ((VBG_POWERS - 1 - p) % 2 == 0 ? s : 1.0 - s);
        x[i] = v->before[i] + y;
    }
}
