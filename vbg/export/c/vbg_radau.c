/* One step of the Radau IIA method of order 5 for stiff machines, and the cubic through its stages
   (E. Hairer, G. Wanner, Solving Ordinary Differential Equations II, IV.8):

       Z_i = h sum_j a_ij f(t + c_j h, x + Z_j),  i = 1 ... 3,    x(t + h) = x + Z_3

   by simplified Newton in W = T^-1 Z, where A^-1 falls apart into a real number and a pair of
   complex ones: one real and one complex system of n unknowns each.  Numbers of the method, step
   control and error estimate as in SciPy's Radau.

   The Jacobian is one of differences: it speeds Newton up and nothing else.  States are measured
   in their tolerances for atol = 1 (a charge of 1 pF in pC) while systems are solved. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "vbg_inside.h"

#define ROUNDS 6     /* of Newton */
#define SAFETY 0.9
#define LEAST 0.2
#define MOST 10.0
#define STAYS 1.2    /* times a step, below which it stays as it is, and its factors */
#define ROUNDED 1e-2
#define SLOW 1e-3    /* rate of Newton from which on the next step has a Jacobian of its own */
#define FIRST 0.01   /* first step, in the fastest time of the machine */
#define NUDGE 1.5e-8 /* of a state, sqrt(DBL_EPSILON) */

static const double C[3] = {0.15505102572168222, 0.6449489742783178, 1.0};
static const double E[3] = {-10.048809399827414, 1.382142733160748, -0.3333333333333333};
static const double REAL = 3.637834252744496, ALPHA = 2.6810828736277523, BETA = 3.050430199247411;
static const double T[3][3] = {{0.09443876248897524, -0.1412552950209542, 0.03002919410514742},
                               {0.2502131229653333, 0.20412935229379994, -0.3829421127572619},
                               {1.0, 1.0, 0.0}};
static const double INVERSE[3][3] = {{4.178718591551904, 0.32768282076106237, 0.5233764454994495},
                                     {-4.178718591551904, -0.32768282076106237, 0.47662355450055044},
                                     {0.5028726349457868, -2.571926949855605, 0.5960392048282249}};
static const double P[3][3] = {{10.048809399827414, -25.62959144707664, 15.580782047249224},
                               {-1.382142733160748, 10.296258113743303, -8.914115380582556},
                               {0.3333333333333333, -2.6666666666666665, 3.3333333333333335}};

/* Places in K: of stage s (0 ... 2) Z, W, rates and steps of W; of the rates at x, of the error. */
static double *at_Z(const vbg *v, int s) { return v->K + (1 + s) * v->m->states; }
static double *at_W(const vbg *v, int s) { return v->K + (4 + s) * v->m->states; }
static double *at_F(const vbg *v, int s) { return v->K + (7 + s) * v->m->states; }
static double *at_D(const vbg *v, int s) { return v->K + (13 + s) * v->m->states; }
static double *at_base(const vbg *v) { return v->K + 10 * v->m->states; }
static double *at_error(const vbg *v) { return v->K + 11 * v->m->states; }
static double *at_end(const vbg *v) { return v->K + 12 * v->m->states; }

/* to_i = sum_j M_ij from_j, row by row of n numbers each */
static void combine(const vbg *v, const double M[3][3], double *to, const double *from)
{
    const int n = v->m->states;
    for (int k = 0; k < n; k++) {
        const double a = from[k], b = from[n + k], c = from[2 * n + k];
        for (int i = 0; i < 3; i++) to[i * n + k] = M[i][0] * a + M[i][1] * b + M[i][2] * c;
    }
}

/* -- linear systems ------------------------------------------------------------------------------ */

/* d rate / d x at (t, x) by differences, in units of the tolerances; 0 where it has no value. */
static int differentiate(vbg *v, double t, const double *x)
{
    const vbg_model *m = v->m;
    const int n = m->states;
    double *base = at_base(v);
    memcpy(base, vbg_rates(v, t, x), (size_t)n * sizeof *base);
    memcpy(v->trial, x, (size_t)n * sizeof *x);
    for (int i = 0; i < n * n; i++) v->jacobian[i] = 0.0;
    for (int k = 0; k < m->continuous; k++) {
        const int j = m->continuous_at[k];
        v->trial[j] = x[j] + NUDGE * fmax(fabs(x[j]), m->tolerance[j]);
        const double nudge = v->trial[j] - x[j], *f = vbg_rates(v, t, v->trial);
        for (int i = 0; i < n; i++) {
            const double slope = (f[i] - base[i]) / nudge * (m->tolerance[j] / m->tolerance[i]);
            if (!isfinite(slope)) return 0;
            v->jacobian[i * n + j] = slope;
        }
        v->trial[j] = x[j];
    }
    return 1;
}

/* Factors of (re + i im) 1 - J in place, rows exchanged as `pivot` tells; `parts` 1: real, 2:
   complex numbers as pairs.  0 where there are none. */
static int factorise(const vbg *v, double *a, double *pivot, int parts, double re, double im)
{
    const int n = v->m->states;
    for (int i = 0; i < n * n; i++) {
        a[parts * i] = -v->jacobian[i];
        if (parts == 2) a[2 * i + 1] = 0.0;
    }
    for (int i = 0; i < n; i++) {
        a[parts * (i * n + i)] += re;
        if (parts == 2) a[2 * (i * n + i) + 1] = im;
    }
    for (int k = 0; k < n; k++) {
        int best = k;
        double most = 0.0;
        for (int i = k; i < n; i++) {
            const double *e = a + parts * (i * n + k), size = parts == 2 ? hypot(e[0], e[1]) : fabs(e[0]);
            if (size > most) {
                most = size;
                best = i;
            }
        }
        if (!(most > 0.0) || !isfinite(most)) return 0;
        pivot[k] = best;
        for (int j = 0; j < parts * n && best != k; j++) {
            const double one = a[parts * k * n + j];
            a[parts * k * n + j] = a[parts * best * n + j];
            a[parts * best * n + j] = one;
        }
        const double *d = a + parts * (k * n + k);
        const double size = parts == 2 ? d[0] * d[0] + d[1] * d[1] : 0.0;
        for (int i = k + 1; i < n; i++) {
            double *row = a + parts * i * n, *top = a + parts * k * n;
            if (parts == 1) {
                const double l = row[k] / d[0];
                row[k] = l;
                if (fabs(l) > 0.0)
                    for (int j = k + 1; j < n; j++) row[j] -= l * top[j];
                continue;
            }
            const double r = row[2 * k], c = row[2 * k + 1];
            const double lr = (r * d[0] + c * d[1]) / size, lc = (c * d[0] - r * d[1]) / size;
            row[2 * k] = lr;
            row[2 * k + 1] = lc;
            if (!(fabs(lr) + fabs(lc) > 0.0)) continue;
            for (int j = k + 1; j < n; j++) {
                row[2 * j] -= lr * top[2 * j] - lc * top[2 * j + 1];
                row[2 * j + 1] -= lr * top[2 * j + 1] + lc * top[2 * j];
            }
        }
    }
    return 1;
}

/* The solution for the right side b, of a complex system b + i c, in place. */
static void solve(const vbg *v, const double *a, const double *pivot, double *b, double *c)
{
    const int n = v->m->states, parts = c ? 2 : 1;
    const double *unit = v->m->tolerance;
    for (int i = 0; i < n; i++) b[i] /= unit[i];
    for (int i = 0; i < n && c; i++) c[i] /= unit[i];
    for (int k = 0; k < n; k++) {
        const int with = (int)pivot[k];
        const double one = b[k];
        b[k] = b[with];
        b[with] = one;
        if (!c) continue;
        const double other = c[k];
        c[k] = c[with];
        c[with] = other;
    }
    for (int turn = 0; turn < 2 * n; turn++) {
        const int i = turn < n ? turn : 2 * n - 1 - turn, first = turn < n ? 0 : i + 1, last = turn < n ? i : n;
        const double *row = a + parts * i * n;
        for (int j = first; j < last && !c; j++) b[i] -= row[j] * b[j];
        for (int j = first; j < last && c; j++) {
            b[i] -= row[2 * j] * b[j] - row[2 * j + 1] * c[j];
            c[i] -= row[2 * j] * c[j] + row[2 * j + 1] * b[j];
        }
        if (turn < n) continue;
        if (!c) {
            b[i] /= row[i];
            continue;
        }
        const double re = row[2 * i], im = row[2 * i + 1], size = re * re + im * im, real = b[i];
        b[i] = (real * re + c[i] * im) / size;
        c[i] = (c[i] * re - real * im) / size;
    }
    for (int i = 0; i < n; i++) b[i] *= unit[i];
    for (int i = 0; i < n && c; i++) c[i] *= unit[i];
}

/* Both systems for a step of length h. */
static int prepare(vbg *v, double h)
{
    const int n = v->m->states;
    if (fabs(h - v->s.h_factors) <= 0.0) return 1;
    v->s.h_factors = 0.0;
    if (!factorise(v, v->real, v->pivot, 1, REAL / h, 0.0)) return 0;
    if (!factorise(v, v->complex, v->pivot + n, 2, ALPHA / h, -BETA / h)) return 0;
    v->s.h_factors = h;
    return 1;
}

/* -- one step ------------------------------------------------------------------------------------ */

static double norm_of(const vbg *v, const double *values, int rows)
{
    const int n = v->m->states;
    double sum = 0.0;
    for (int i = 0; i < rows * n; i++) sum += values[i] / v->scale[i % n] * (values[i] / v->scale[i % n]);
    const double norm = sqrt(sum / (rows * n));
    return isfinite(norm) ? norm : INFINITY;
}

/* Z where the polynomial of the step before leads to, if there is one. */
static void guess(vbg *v, double h)
{
    const int n = v->m->states;
    const double *Q = v->F;
    for (int s = 0; s < 3; s++) {
        const double u = v->s.h_old > 0.0 ? C[s] * h / v->s.h_old : 0.0, p = 1.0 + u;
        double *Z = at_Z(v, s);
        for (int i = 0; i < n; i++)
            Z[i] = u > 0.0 ? Q[i] * u + Q[n + i] * (p * p - 1.0) + Q[2 * n + i] * (p * p * p - 1.0) : 0.0;
    }
}

/* Newton for Z from its guess; its rounds, 0 where it does not converge; `rate` of convergence. */
static int converged(vbg *v, double t, double h, double *rate)
{
    const int n = v->m->states;
    const double enough = fmax(10.0 * DBL_EPSILON / vbg_rtol(v), fmin(0.03, sqrt(vbg_rtol(v))));
    double before = INFINITY, *D = at_D(v, 0), *W = at_W(v, 0);
    combine(v, INVERSE, W, at_Z(v, 0));
    *rate = 0.0;
    for (int round = 1; round <= ROUNDS; round++) {
        for (int s = 0; s < 3; s++) {
            const double *Z = at_Z(v, s);
            for (int i = 0; i < n; i++) v->trial[i] = v->before[i] + Z[i];
            memcpy(at_F(v, s), vbg_rates(v, t + C[s] * h, v->trial), (size_t)n * sizeof *Z);
        }
        if (!vbg_all_finite(at_F(v, 0), 3 * n)) return 0;
        combine(v, INVERSE, D, at_F(v, 0));
        for (int i = 0; i < n; i++) {
            D[i] -= REAL / h * W[i];
            D[n + i] -= (ALPHA * W[n + i] + BETA * W[2 * n + i]) / h;
            D[2 * n + i] -= (ALPHA * W[2 * n + i] - BETA * W[n + i]) / h;
        }
        solve(v, v->real, v->pivot, D, 0);
        solve(v, v->complex, v->pivot + n, D + n, D + 2 * n);
        const double norm = norm_of(v, D, 3);
        if (round > 1 && norm > ROUNDED * enough) {
            *rate = norm / before;
            if (!(*rate < 1.0) || pow(*rate, ROUNDS - round + 1) / (1.0 - *rate) * norm > enough) return 0;
        }
        for (int i = 0; i < 3 * n; i++) W[i] += D[i];
        combine(v, T, at_Z(v, 0), W);
        /* a step this small has converged, whatever rounding makes of the next one */
        if (norm < ROUNDED * enough || (round > 1 && *rate / (1.0 - *rate) * norm < enough)) return round;
        before = norm;
    }
    return 0;
}

/* The error of the step: a formula of order 3 with the rates at x, filtered by the real system. */
static double estimated(vbg *v, double t, double h, int rejected)
{
    const int n = v->m->states;
    double *error = at_error(v);
    const double *Z = at_Z(v, 0);
    for (int i = 0; i < n; i++) {
        v->scale[i] = vbg_tolerance(v, i) + v->relative[i] * fmax(fabs(v->before[i]), fabs(v->raw[i]));
        v->trial[i] = (E[0] * Z[i] + E[1] * Z[n + i] + E[2] * Z[2 * n + i]) / h;
        error[i] = v->K[i] + v->trial[i];
    }
    solve(v, v->real, v->pivot, error, 0);
    const double norm = norm_of(v, error, 1);
    if (!rejected || norm < 1.0) return norm;
    double *sum = at_D(v, 0);
    for (int i = 0; i < n; i++) {
        sum[i] = v->trial[i];
        error[i] += v->before[i];
    }
    const double *f = vbg_rates(v, t, error);
    for (int i = 0; i < n; i++) error[i] = f[i] + sum[i];
    solve(v, v->real, v->pivot, error, 0);
    return norm_of(v, error, 1);
}

/* Rates and Jacobian at x; a first step that no transient is shorter than. */
static int begin(vbg *v, double bound)
{
    const int n = v->m->states;
    double fastest = 0.0;
    vbg_restart(v, bound, 4.0);
    if (!vbg_all_finite(v->f, n) || !differentiate(v, v->s.t, v->x)) return 0;
    for (int i = 0; i < n; i++) {
        double row = 0.0;
        for (int j = 0; j < n; j++) row += fabs(v->jacobian[i * n + j]);
        fastest = fmax(fastest, row);
    }
    if (fastest > 0.0) v->s.h = fmin(v->s.h, FIRST / fastest);
    v->s.h_factors = v->s.h_old = v->s.error_old = 0.0;
    v->s.sloped_here = 1;
    return 1;
}

/* How many times longer the next step may be (K. Gustafsson, ACM TOMS 20, 1994). */
static double longer(const vbg *v, double h, double norm)
{
    if (!(norm > 0.0)) return MOST;
    const double trend = v->s.h_old > 0.0 && v->s.error_old > 0.0 ? h / v->s.h_old * pow(v->s.error_old / norm, 0.25) : 1.0;
    return fmin(1.0, trend) * pow(norm, -0.25);
}

static void accept(vbg *v, double end, double h, double norm)
{
    const int n = v->m->states;
    const double *Z = at_Z(v, 0);
    for (int p = 0; p < 3; p++)
        for (int i = 0; i < n; i++)
            v->F[p * n + i] = Z[i] * P[0][p] + Z[n + i] * P[1][p] + Z[2 * n + i] * P[2][p];
    v->s.h_old = h;
    v->s.error_old = norm;
    v->s.t_before = v->s.t;
    v->s.t_step = end;
    v->s.dense = 1;
    v->s.steps++;
}

vbg_status vbg_radau_step(vbg *v, double bound)
{
    const int n = v->m->states;
    if (v->s.fresh && !begin(v, bound)) return VBG_NOT_FINITE;
    const double t = v->s.t, least = 10.0 * (nextafter(t, INFINITY) - t);
    double h = fmax(v->s.h, least), rate = 0.0;
    int rejected = 0;
    memcpy(v->before, v->x, (size_t)n * sizeof *v->x);
    memcpy(v->K, v->f, (size_t)n * sizeof *v->f);
    if (!vbg_all_finite(v->f, n)) return VBG_NOT_FINITE;
    for (;;) {
        if (h < least) return VBG_STEP_TOO_SMALL;
        const double wanted = h, end = fmin(t + h, bound);
        h = end - t;
        if (!v->s.sloped_here && v->s.stale) {
            if (!differentiate(v, t, v->before)) return VBG_NOT_FINITE;
            v->s.sloped_here = 1;
            v->s.stale = 0;
            v->s.h_factors = 0.0;
        }
        for (int i = 0; i < n; i++) v->scale[i] = vbg_tolerance(v, i) + v->relative[i] * fabs(v->before[i]);
        guess(v, h);
        const int rounds = prepare(v, h) ? converged(v, t, h, &rate) : 0;
        if (rounds == 0) {
            v->s.stale = 1;
            if (v->s.sloped_here) h *= 0.5;
            else h = wanted;
            continue;
        }
        for (int i = 0; i < n; i++) v->raw[i] = v->before[i] + at_Z(v, 2)[i];
        const double cautious = SAFETY * (2.0 * ROUNDS + 1.0) / (2.0 * ROUNDS + rounds);
        double norm = estimated(v, t, h, rejected);
        if (norm < 1.0) {
            memcpy(at_end(v), vbg_rates(v, end, v->raw), (size_t)n * sizeof *v->raw);
            norm = vbg_checked(v, norm, h);
            if (norm < 0.0) return VBG_SINGULAR;
        }
        if (!(norm < 1.0)) {
            h *= fmax(LEAST, isfinite(norm) ? cautious * longer(v, h, norm) : 0.0);
            rejected = 1;
            continue;
        }
        const int slow = rounds > 2 && rate > SLOW;
        double factor = fmin(MOST, cautious * longer(v, h, norm));
        if (rejected) factor = fmin(1.0, factor);
        if (!slow && factor > 1.0 && factor < STAYS) factor = 1.0;
        accept(v, end, h, norm);
        v->s.h = fmax(h * factor, h < wanted && !rejected ? wanted : 0.0);
        v->s.sloped_here = 0;
        v->s.stale = slow;
        return vbg_all_finite(v->raw, n) ? VBG_OK : VBG_NOT_FINITE;
    }
}

void vbg_radau_between(const vbg *v, double t, double *x)
{
    const int n = v->m->states;
    const double s = (t - v->s.t_before) / (v->s.t_step - v->s.t_before), *Q = v->F;
    for (int i = 0; i < n; i++) x[i] = v->before[i] + s * (Q[i] + s * (Q[n + i] + s * Q[2 * n + i]));
}
