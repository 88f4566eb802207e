/* What plays a tape; see vbg_tape.h. */
#include "vbg_tape.h"

#include <math.h>

#include "vbg_codes.h"

#define FIELDS 13
#define LOST 1e300      /* condition where a kept row has no pivot any more */
#define FEW 24          /* dependent rows up to which their combinations are formed */
#define CLOSE 1e-13     /* of the norm of x: last step of conjugate gradients */
#define NEWTON_LIMIT 300
#define NEWTON_CLOSE 1e-9

void vbg_prepare(const vbg_tape *tape, double *work)
{
    for (int i = 0; i < tape->words; i++) work[i] = 0.0;
    for (int i = 0; i < tape->constants; i++) work[tape->constant_at[i]] = tape->constant[i];
}

/* -- products and sums ---------------------------------------------------------------------- */

typedef struct shape {
    int accumulate, m, k, n, dr, dc, ar, ac, br, bc;
} shape;

/* rows x 3 times a column; `rows` is a constant where this is inlined */
static inline void column3(double *w, const int *o, double f, int rows, const shape *s)
{
    double *d = w + o[0];
    const double *a = w + o[1], *b = w + o[2];
    const double x = f * b[0], y = f * b[s->br], z = f * b[2 * s->br];
    double r[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < rows; i++) {
        const double *h = a + i * s->ar;
        r[i] = h[0] * x + h[s->ac] * y + h[2 * s->ac] * z;
    }
    if (s->accumulate)
        for (int i = 0; i < rows; i++) d[i * s->dr] += r[i];
    else
        for (int i = 0; i < rows; i++) d[i * s->dr] = r[i];
}

static inline void times3(double *w, const int *o, double f, int m, int n, const shape *s)
{
    for (int c = 0; c < n; c++) {
        const double *b = w + o[2] + c * s->bc, *a = w + o[1];
        double *d = w + o[0] + c * s->dc;
        const double x = f * b[0], y = f * b[s->br], z = f * b[2 * s->br];
        for (int i = 0; i < m; i++) {
            const double v = a[i * s->ar] * x + a[i * s->ar + s->ac] * y + a[i * s->ar + 2 * s->ac] * z;
            d[i * s->dr] = s->accumulate ? d[i * s->dr] + v : v;
        }
    }
}

static void product(double *w, const int *o, double f, const shape *s)
{
    for (int r = 0; r < s->m; r++) {
        for (int c = 0; c < s->n; c++) {
            const double *a = w + o[1] + r * s->ar, *b = w + o[2] + c * s->bc;
            double *d = w + o[0] + r * s->dr + c * s->dc, v = 0.0;
            for (int j = 0; j < s->k; j++) v += a[j * s->ac] * b[j * s->br];
            *d = s->accumulate ? *d + f * v : f * v;
        }
    }
}

static void products(double *w, const int *o, const double *f, int count, const shape *s)
{
    const shape h = *s;
    if (h.k == 3 && h.n == 1 && h.m == 3)
        for (int i = 0; i < count; i++) column3(w, o + 4 * i, f[i], 3, &h);
    else if (h.k == 3 && h.n == 1 && h.m == 2)
        for (int i = 0; i < count; i++) column3(w, o + 4 * i, f[i], 2, &h);
    else if (h.k == 3 && h.n == 1 && h.m == 1)
        for (int i = 0; i < count; i++) column3(w, o + 4 * i, f[i], 1, &h);
    else if (h.k == 3 && h.m == 3 && h.n == 3)
        for (int i = 0; i < count; i++) times3(w, o + 4 * i, f[i], 3, 3, &h);
    else if (h.k == 3 && h.m == 2 && h.n == 3)
        for (int i = 0; i < count; i++) times3(w, o + 4 * i, f[i], 2, 3, &h);
    else if (h.k == 3 && h.m == 5 && h.n == 5)
        for (int i = 0; i < count; i++) times3(w, o + 4 * i, f[i], 5, 5, &h);
    else if (h.k == 3)
        for (int i = 0; i < count; i++) times3(w, o + 4 * i, f[i], h.m, h.n, &h);
    else
        for (int i = 0; i < count; i++) product(w, o + 4 * i, f[i], &h);
}

static inline void add(double *w, const int *o, double f, int m, int n, const shape *s)
{
    for (int r = 0; r < m; r++) {
        for (int c = 0; c < n; c++) {
            const double v = f * w[o[1] + r * s->ar + c * s->ac];
            double *d = w + o[0] + r * s->dr + c * s->dc;
            *d = s->accumulate ? *d + v : v;
        }
    }
}

static void sums(double *w, const int *o, const double *f, int count, const shape *s)
{
    const shape h = *s;
    if (h.n == 1 && h.m == 3)
        for (int i = 0; i < count; i++) add(w, o + 4 * i, f[i], 3, 1, &h);
    else if (h.n == 1 && h.m == 2)
        for (int i = 0; i < count; i++) add(w, o + 4 * i, f[i], 2, 1, &h);
    else if (h.n == 1 && h.m == 1)
        for (int i = 0; i < count; i++) add(w, o + 4 * i, f[i], 1, 1, &h);
    else
        for (int i = 0; i < count; i++) add(w, o + 4 * i, f[i], h.m, h.n, &h);
}

static void crosses(double *w, const int *o, const double *f, int count, const shape *s)
{
    for (int i = 0; i < count; i++, o += 4) {
        const double *a = w + o[1], *b = w + o[2];
        const double ax = f[i] * a[0], ay = f[i] * a[s->ar], az = f[i] * a[2 * s->ar];
        const double bx = b[0], by = b[s->br], bz = b[2 * s->br];
        const double x = ay * bz - az * by, y = az * bx - ax * bz, z = ax * by - ay * bx;
        double *d = w + o[0];
        d[0] = s->accumulate ? d[0] + x : x;
        d[s->dr] = s->accumulate ? d[s->dr] + y : y;
        d[2 * s->dr] = s->accumulate ? d[2 * s->dr] + z : z;
    }
}

static void scaled(double *w, const int *o, const double *f, int count, const shape *s)
{
    for (int i = 0; i < count; i++, o += 4) {
        const double g = f[i] * w[o[1]];
        for (int r = 0; r < s->m; r++) {
            for (int c = 0; c < s->n; c++) {
                const double v = g * w[o[2] + r * s->br + c * s->bc];
                double *d = w + o[0] + r * s->dr + c * s->dc;
                *d = s->accumulate ? *d + v : v;
            }
        }
    }
}

/* -- rotations -------------------------------------------------------------------------------- */

/* R_WB of quat_WB = (w, x, y, z) */
static void rotation(double *d, const double *a, const shape *s)
{
    const int dr = s->dr, dc = s->dc;
    const double w = a[0], x = a[s->ar], y = a[2 * s->ar], z = a[3 * s->ar];
    d[0] = 1.0 - 2.0 * (y * y + z * z);
    d[dc] = 2.0 * (x * y - w * z);
    d[2 * dc] = 2.0 * (z * x + w * y);
    d[dr] = 2.0 * (x * y + w * z);
    d[dr + dc] = 1.0 - 2.0 * (x * x + z * z);
    d[dr + 2 * dc] = 2.0 * (y * z - w * x);
    d[2 * dr] = 2.0 * (z * x - w * y);
    d[2 * dr + dc] = 2.0 * (y * z + w * x);
    d[2 * dr + 2 * dc] = 1.0 - 2.0 * (x * x + y * y);
}

static void skew(double *d, const double *a, const shape *s)
{
    const int dr = s->dr, dc = s->dc;
    const double x = a[0], y = a[s->ar], z = a[2 * s->ar];
    d[0] = d[dr + dc] = d[2 * dr + 2 * dc] = 0.0;
    d[dc] = -z;
    d[2 * dc] = y;
    d[dr] = z;
    d[dr + 2 * dc] = -x;
    d[2 * dr] = -y;
    d[2 * dr + dc] = x;
}

/* 1/2 quat o (0, w_B) */
static void quaternion_rate(double *d, const double *a, const double *b, const shape *s)
{
    const double w = a[0], x = a[s->ar], y = a[2 * s->ar], z = a[3 * s->ar];
    const double p = 0.5 * b[0], q = 0.5 * b[s->br], r = 0.5 * b[2 * s->br];
    d[0] = -x * p - y * q - z * r;
    d[s->dr] = w * p + y * r - z * q;
    d[2 * s->dr] = w * q + z * p - x * r;
    d[3 * s->dr] = w * r + x * q - y * p;
}

/* -- scalar functions ---------------------------------------------------------------------------- */

static double function(int code, double a, double b, double c)
{
    switch (code) {
    case VBG_SIN: return sin(a);
    case VBG_COS: return cos(a);
    case VBG_TAN: return tan(a);
    case VBG_ASIN: return asin(a);
    case VBG_ACOS: return acos(a);
    case VBG_ATAN: return atan(a);
    case VBG_ATAN2: return atan2(a, b);
    case VBG_SQRT: return sqrt(a);
    case VBG_EXP: return exp(a);
    case VBG_LOG: return log(a);
    case VBG_ABS: return fabs(a);
    case VBG_SIGN: return a > 0.0 ? 1.0 : (a < 0.0 ? -1.0 : 0.0);
    case VBG_POSITIVE: return a > 0.0 ? 1.0 : 0.0;
    case VBG_MIN: return a <= b ? a : b;
    case VBG_MAX: return a >= b ? a : b;
    case VBG_POWER: return pow(a, b);
    case VBG_RECIPROCAL: return 1.0 / a;
    case VBG_SELECT: return a > 0.0 ? b : c;
    case VBG_FLOOR: return floor(a);
    default: return NAN;
    }
}

/* -- algebraic loops ------------------------------------------------------------------------------- */

static void swap_rows(double *a, double *b, int n)
{
    for (int k = 0; k < n; k++) {
        const double held = a[k];
        a[k] = b[k];
        b[k] = held;
    }
}

void vbg_solve_dense(double *a, double *d, int m, int n)
{
    for (int j = 0; j < m; j++) {
        int pivot = j;
        for (int i = j + 1; i < m; i++)
            if (fabs(a[i * m + j]) > fabs(a[pivot * m + j])) pivot = i;
        if (pivot != j) {
            swap_rows(a + j * m, a + pivot * m, m);
            swap_rows(d + j * n, d + pivot * n, n);
        }
        const double inverse = 1.0 / a[j * m + j];
        for (int i = j + 1; i < m; i++) {
            const double factor = a[i * m + j] * inverse;
            for (int k = j + 1; k < m; k++) a[i * m + k] -= factor * a[j * m + k];
            for (int k = 0; k < n; k++) d[i * n + k] -= factor * d[j * n + k];
        }
    }
    for (int k = 0; k < n; k++) {
        for (int i = m - 1; i >= 0; i--) {
            double value = d[i * n + k];
            for (int j = i + 1; j < m; j++) value -= a[i * m + j] * d[j * n + k];
            d[i * n + k] = value / a[i * m + i];
        }
    }
}

static void begin_newton(double *y, double *record, int m)
{
    for (int i = 0; i < m; i++)
        if (!isfinite(y[i])) y[i] = 0.0;
    for (int i = 0; i < 4; i++) record[i] = 0.0;
}

/* One step, halved where the last made the residual no smaller; whether to go on.  Record:
   iterations, halvings, last residual, steps after convergence, last y, last step. */
static int step_newton(double *y, const double *residual, double *slope, double *record, int m)
{
    double *before = record + 4, *step = record + 4 + m, size = 0.0;
    for (int i = 0; i < m; i++) {
        if (!isfinite(residual[i])) size = INFINITY;
        else if (fabs(residual[i]) > size) size = fabs(residual[i]);
    }
    if (record[0] >= NEWTON_LIMIT) {
        for (int i = 0; i < m; i++) y[i] = NAN;
        return 0;
    }
    const int too_long = size > 0.0 && !(size < record[2]);
    record[0] += 1.0;
    if (record[0] > 1.0 && record[3] <= 0.0 && record[1] < 40.0 && too_long) {
        for (int i = 0; i < m; i++) {
            step[i] *= 0.5;
            y[i] = before[i] - step[i];
        }
        record[1] += 1.0;
        return 1;
    }
    for (int i = 0; i < m; i++) {
        before[i] = y[i];
        step[i] = residual[i];
    }
    vbg_solve_dense(slope, step, m, 1);
    int small = 1;
    for (int i = 0; i < m; i++) {
        y[i] = before[i] - step[i];
        if (!(fabs(step[i]) <= NEWTON_CLOSE * fabs(y[i]) + 1e-30)) small = 0;
    }
    record[1] = 0.0;
    record[2] = size;
    if (small || size <= 0.0) {
        record[3] += 1.0;
        return record[3] < 2.0;
    }
    return 1;
}

/* -- elimination ------------------------------------------------------------------------------------- */

/* A schedule in the stream: number of pivots; place of each; number of unknowns; place of the
   vectors; pivots (size, block, first, couplings: size, block, first, targets); vectors. */
static int unknowns_of(const int *s) { return s[s[0] + 1]; }
static const int *first_pivot(const int *s) { return s + 3 + s[0]; }

static inline void eliminate_diagonal(double *w, int m, int d, int original, const double *kept, double least)
{
    for (int j = 0; j < m; j++) {
        double pivot = w[d + j * m + j];
        for (int k = 0; k < j; k++) {
            const double x = w[d + j * m + k], factor = x * w[d + k * m + k];
            pivot -= x * factor;
            w[d + j * m + k] = factor;
        }
        const int good = kept[j] > 0.0 && pivot > least * w[original + j];
        w[d + j * m + j] = good ? 1.0 / pivot : 0.0;
        for (int i = j + 1; i < m; i++) {
            double value = w[d + i * m + j];
            for (int k = 0; k < j; k++) value -= w[d + i * m + k] * w[d + j * m + k];
            w[d + i * m + j] = value;
        }
    }
}

/* n rows at b: W = H L^-T into the scratch, M = W D^-1 in place */
static inline void eliminate_coupling(double *w, int m, int d, int b, int n, int scratch)
{
    for (int r = 0; r < n; r++) {
        double *here = w + b + r * m, *to = w + scratch + r * m;
        for (int j = 0; j < m; j++) {
            double value = here[j];
            for (int k = 0; k < j; k++) value -= to[k] * w[d + j * m + k];
            to[j] = value;
        }
        for (int j = 0; j < m; j++) here[j] = to[j] * w[d + j * m + j];
    }
}

/* H_t -= W M^T; the lower half if symmetric */
static inline void downdate(double *w, int m, int t, int from, int n, int b, int p, int symmetric)
{
    for (int r = 0; r < n; r++) {
        const int last = symmetric ? r + 1 : p;
        for (int c = 0; c < last; c++) {
            double value = w[t + r * p + c];
            for (int k = 0; k < m; k++) value -= w[from + r * m + k] * w[b + c * m + k];
            w[t + r * p + c] = value;
        }
    }
}

static inline const int *pivot_step(double *w, const int *here, int m, int scratch, int rest,
                                    const double *kept, double least)
{
    const int d = here[1], first = here[2], later = here[3];
    eliminate_diagonal(w, m, d, scratch + first, kept + first, least);
    const int *neighbours = here + 4;
    here += 4;
    for (int a = 0; a < later; a++) {
        const int n = here[0], b = here[1], *other = neighbours;
        eliminate_coupling(w, m, d, b, n, rest);
        for (int c = 0; c <= a; c++) {
            downdate(w, m, here[3 + c], rest, n, other[1], other[0], c == a);
            other += 4 + c;
        }
        here += 4 + a;
    }
    return here;
}

static void factorise(double *w, const int *s, int scratch, const double *kept, double least)
{
    const int *here = first_pivot(s);
    for (int p = 0; p < s[0]; p++) { /* the diagonal before anything is eliminated */
        const int m = here[0], d = here[1], first = here[2], later = here[3];
        for (int j = 0; j < m; j++) w[scratch + first + j] = w[d + j * m + j];
        here += 4 + 3 * later + later * (later + 1) / 2;
    }
    const int rest = scratch + unknowns_of(s);
    here = first_pivot(s);
    for (int p = 0; p < s[0]; p++) {
        switch (here[0]) { /* constants, so that the loops are unrolled */
        case 1: here = pivot_step(w, here, 1, scratch, rest, kept, least); break;
        case 2: here = pivot_step(w, here, 2, scratch, rest, kept, least); break;
        case 3: here = pivot_step(w, here, 3, scratch, rest, kept, least); break;
        case 4: here = pivot_step(w, here, 4, scratch, rest, kept, least); break;
        case 5: here = pivot_step(w, here, 5, scratch, rest, kept, least); break;
        default: here = pivot_step(w, here, here[0], scratch, rest, kept, least); break;
        }
    }
}

static inline void forward(double *w, double *x, const int *here, int m)
{
    const double *d = w + here[1];
    double *y = x + here[2];
    const int later = here[3];
    for (int i = 1; i < m; i++)
        for (int k = 0; k < i; k++) y[i] -= d[i * m + k] * y[k];
    here += 4;
    for (int a = 0; a < later; a++) {
        const int n = here[0];
        const double *b = w + here[1];
        double *to = x + here[2];
        for (int r = 0; r < n; r++) {
            double value = to[r];
            for (int k = 0; k < m; k++) value -= b[r * m + k] * y[k];
            to[r] = value;
        }
        here += 4 + a;
    }
}

static inline void backward(double *w, double *x, const int *here, int m)
{
    const double *d = w + here[1];
    double *y = x + here[2];
    const int later = here[3];
    for (int i = 0; i < m; i++) y[i] *= d[i * m + i];
    here += 4;
    for (int a = 0; a < later; a++) {
        const int n = here[0];
        const double *b = w + here[1], *to = x + here[2];
        for (int r = 0; r < n; r++)
            for (int k = 0; k < m; k++) y[k] -= b[r * m + k] * to[r];
        here += 4 + a;
    }
    for (int i = m - 1; i >= 0; i--)
        for (int k = i + 1; k < m; k++) y[i] -= d[k * m + i] * y[k];
}

static void solve(double *w, const int *s, double *x, const double *rhs)
{
    const int total = unknowns_of(s);
    for (int i = 0; i < total; i++) x[i] = rhs[i];
    for (int p = 0; p < s[0]; p++) {
        const int *here = s + s[1 + p];
        if (here[0] == 5) forward(w, x, here, 5);
        else if (here[0] == 3) forward(w, x, here, 3);
        else forward(w, x, here, here[0]);
    }
    for (int p = s[0] - 1; p >= 0; p--) {
        const int *here = s + s[1 + p];
        if (here[0] == 5) backward(w, x, here, 5);
        else if (here[0] == 3) backward(w, x, here, 3);
        else backward(w, x, here, here[0]);
    }
}

/* -- the smallest efforts among those that do the same (vbg/assemble/program/machine/smallest.py) -- */

/* r = -H x, with a copy of H at `matrix` */
static void minus_product(const double *w, const int *s, int matrix, const double *x, double *r)
{
    const int *here = first_pivot(s), shift = matrix - here[1];
    const int total = unknowns_of(s);
    for (int i = 0; i < total; i++) r[i] = 0.0;
    for (int p = 0; p < s[0]; p++) {
        const int m = here[0], first = here[2], later = here[3];
        const double *d = w + here[1] + shift;
        for (int i = 0; i < m; i++)
            for (int k = 0; k < m; k++) {
                const double h = k <= i ? d[i * m + k] : d[k * m + i];
                r[first + i] -= h * x[first + k];
            }
        here += 4;
        for (int a = 0; a < later; a++) {
            const int n = here[0], to = here[2];
            const double *b = w + here[1] + shift;
            for (int i = 0; i < n; i++)
                for (int k = 0; k < m; k++) {
                    r[to + i] -= b[i * m + k] * x[first + k];
                    r[first + k] -= b[i * m + k] * x[to + i];
                }
            here += 4 + a;
        }
    }
}

static void weights(const double *w, const int *s, int scratch, double *to)
{
    const int total = unknowns_of(s), *vectors = s + s[s[0] + 2];
    for (int i = 0; i < total; i++) to[i] = w[scratch + i];
    for (int v = 0; v < vectors[0]; v++) {
        const int first = vectors[1 + 2 * v], size = vectors[2 + 2 * v];
        double sum = 0.0;
        for (int i = 0; i < size; i++) sum += to[first + i];
        for (int i = 0; i < size; i++) to[first + i] = sum / size;
    }
    for (int i = 0; i < total; i++)
        if (to[i] <= 0.0) to[i] = 1.0;
}

/* n = N p */
static void combination(double *w, const int *s, int matrix, const double *kept, const double *p,
                        double *n, double *spare)
{
    const int total = unknowns_of(s);
    minus_product(w, s, matrix, p, spare);
    solve(w, s, n, spare);
    for (int i = 0; i < total; i++)
        if (kept[i] <= 0.0) n[i] = p[i];
}

/* at the rows that are not kept, N^T W v; zero at the others */
static void transposed(double *w, const int *s, int matrix, const double *kept, const double *weight,
                       const double *v, double *to, double *spare)
{
    const int total = unknowns_of(s);
    for (int i = 0; i < total; i++) to[i] = kept[i] > 0.0 ? weight[i] * v[i] : 0.0;
    solve(w, s, spare, to);
    minus_product(w, s, matrix, spare, to);
    for (int i = 0; i < total; i++) to[i] = kept[i] > 0.0 ? 0.0 : to[i] + weight[i] * v[i];
}

static void smallest_of_few(double *w, const int *s, int matrix, const double *kept, int count,
                            double *x, const double *weight, double *spare, double *columns)
{
    const int total = unknowns_of(s);
    double *system = columns + count * total, *right = system + count * count;
    for (int d = 0, c = 0; d < total; d++) {
        if (kept[d] > 0.0) continue;
        for (int i = 0; i < total; i++) spare[i] = i == d ? 1.0 : 0.0;
        combination(w, s, matrix, kept, spare, columns + c * total, spare + total);
        c++;
    }
    for (int a = 0; a < count; a++) {
        right[a] = 0.0;
        for (int b = 0; b < count; b++) system[a * count + b] = 0.0;
        for (int i = 0; i < total; i++) {
            const double weighed = columns[a * total + i] * weight[i];
            right[a] += weighed * x[i];
            for (int b = 0; b < count; b++) system[a * count + b] += weighed * columns[b * total + i];
        }
    }
    vbg_solve_dense(system, right, count, 1);
    for (int a = 0; a < count; a++)
        for (int i = 0; i < total; i++) x[i] -= columns[a * total + i] * right[a];
}

static void smallest_of_many(double *w, const int *s, int matrix, const double *kept, int count,
                             double *x, const double *weight, double *spare)
{
    const int total = unknowns_of(s);
    double *g = spare, *p = g + total, *n = p + total, *rest = n + total;
    double size = 0.0, rho = 0.0;
    transposed(w, s, matrix, kept, weight, x, g, rest);
    for (int i = 0; i < total; i++) {
        p[i] = -g[i] / weight[i];
        rho += g[i] * g[i] / weight[i];
        size += x[i] * x[i] * weight[i];
    }
    for (int turn = 0; turn < count + 10 && rho > CLOSE * CLOSE * size; turn++) {
        double curvature = 0.0;
        combination(w, s, matrix, kept, p, n, rest);
        for (int i = 0; i < total; i++) curvature += n[i] * n[i] * weight[i];
        const double alpha = rho / curvature, before = rho;
        for (int i = 0; i < total; i++) x[i] += alpha * n[i];
        transposed(w, s, matrix, kept, weight, x, g, rest);
        rho = 0.0;
        for (int i = 0; i < total; i++) rho += g[i] * g[i] / weight[i];
        for (int i = 0; i < total; i++) p[i] = rho / before * p[i] - g[i] / weight[i];
    }
}

static void make_smallest(double *w, const int *s, int scratch, int matrix, const double *kept,
                          double *x, double *spare, double *columns)
{
    const int total = unknowns_of(s);
    int count = 0;
    for (int i = 0; i < total; i++) count += kept[i] <= 0.0;
    if (count == 0) return;
    weights(w, s, scratch, spare);
    if (count <= FEW) smallest_of_few(w, s, matrix, kept, count, x, spare, spare + total, columns);
    else smallest_of_many(w, s, matrix, kept, count, x, spare, spare + total);
}

void vbg_factor(const int *stream, int schedule, double *w, const double *kept, double least)
{
    factorise(w, stream + stream[1 + 2 * schedule], stream[2 + 2 * schedule], kept, least);
}

void vbg_solve(const int *stream, int schedule, double *w, int x, int rhs, int matrix, int spare, int columns,
               const double *kept)
{
    const int *s = stream + stream[1 + 2 * schedule], scratch = stream[2 + 2 * schedule];
    solve(w, s, w + x, w + rhs);
    if (matrix > 0) make_smallest(w, s, scratch, matrix, kept, w + x, w + spare, w + columns);
}

double vbg_condition(const vbg_tape *tape, const double *work, const double *kept)
{
    double worst = 1.0;
    if (tape->stream[0] == 0) return worst;
    const int *s = tape->stream + tape->stream[1], scratch = tape->stream[2], *here = first_pivot(s);
    for (int p = 0; p < s[0]; p++) {
        const int m = here[0], d = here[1], first = here[2], later = here[3];
        for (int i = 0; i < m; i++) {
            const double inverse = work[d + i * (m + 1)];
            if (fabs(inverse) <= 0.0 && kept[first + i] > 0.0) return LOST;
            const double ratio = fabs(inverse * work[scratch + first + i]);
            if (ratio > worst) worst = ratio;
        }
        here += 4 + 3 * later + later * (later + 1) / 2;
    }
    return worst;
}

/* -- the tape -------------------------------------------------------------------------------------------- */

void vbg_run(const vbg_tape *tape, double *w, const double *kept)
{
    if (tape->straight) {
        tape->straight(w, kept);
        return;
    }
    for (int at = 0; at < tape->segments; at++) {
        const int *g = tape->segment + FIELDS * at, count = g[1];
        const int *o = tape->operand + 4 * g[2], m = g[4];
        const double *f = tape->factor + g[2];
        const shape s = {g[3], g[4], g[5], g[6], g[7], g[8], g[9], g[10], g[11], g[12]};
        switch (g[0]) {
        case VBG_GEMM: products(w, o, f, count, &s); break;
        case VBG_AXPY: sums(w, o, f, count, &s); break;
        case VBG_CROSS: crosses(w, o, f, count, &s); break;
        case VBG_TIMES: scaled(w, o, f, count, &s); break;
        case VBG_ROTATION:
            for (int i = 0; i < count; i++, o += 4) rotation(w + o[0], w + o[1], &s);
            break;
        case VBG_SKEW:
            for (int i = 0; i < count; i++, o += 4) skew(w + o[0], w + o[1], &s);
            break;
        case VBG_QUATERNION_RATE:
            for (int i = 0; i < count; i++, o += 4) quaternion_rate(w + o[0], w + o[1], w + o[2], &s);
            break;
        case VBG_CALL:
            for (int i = 0; i < count; i++, o += 4) w[o[0]] = function(m, w[o[1]], w[o[2]], w[o[3]]);
            break;
        case VBG_COPY:
            for (int i = 0; i < count; i++, o += 4)
                for (int j = 0; j < m; j++) w[o[0] + j] = w[o[1] + j];
            break;
        case VBG_FACTOR: vbg_factor(tape->stream, m, w, kept, f[0]); break;
        case VBG_SOLVE:
            for (int i = 0; i < count; i++, o += 4)
                vbg_solve(tape->stream, m, w, o[0], o[1], o[2], o[3], tape->spare, kept);
            break;
        case VBG_LINEAR_SOLVE:
            for (int i = 0; i < count; i++, o += 4) vbg_solve_dense(w + o[1], w + o[0], m, s.n);
            break;
        case VBG_NEWTON: begin_newton(w + o[0], w + o[1], m); break;
        case VBG_NEWTON_STEP:
            if (step_newton(w + o[0], w + o[1], w + o[2], w + o[3], m)) at = s.k - 1;
            break;
        default: break;
        }
    }
}
