/* What plays a tape; see vbg_tape.h, and vbg_eliminate.c for the constraint system. */
#include "vbg_tape.h"

#include <math.h>

#include "vbg_codes.h"

#define FIELDS 13
#define NEWTON_LIMIT 300
#define NEWTON_CLOSE 1e-9
#define NEWTON_CONTRACTS 1e-3
#define NEWTON_ROUNDED (16.0 * 2.220446049250313e-16)
#define NEWTON_STILL (4.0 * 2.220446049250313e-16)
#define NEWTON_WRONG 1e-3
#define NEWTON_GAIN 0.25
#define NEWTON_GROWS 4.0
#define NEWTON_SHORTEST 1e-12

void vbg_prepare(const vbg_tape *tape, double *work)
{
    for (int i = 0; i < tape->words; i++) work[i] = 0.0;
    for (int i = 0; i < tape->constants; i++) work[tape->constant_at[i]] = tape->constant[i];
    if (tape->factors_at)
        for (int i = 0; i < tape->factors; i++) work[tape->factors_at + i] = tape->factor[i];
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

/* rows x 2 times a column */
static inline void column2(double *w, const int *o, double f, int rows, const shape *s)
{
    double *d = w + o[0];
    const double *a = w + o[1], *b = w + o[2];
    const double x = f * b[0], y = f * b[s->br];
    double r[3] = {0.0, 0.0, 0.0};
    for (int i = 0; i < rows; i++) r[i] = a[i * s->ar] * x + a[i * s->ar + s->ac] * y;
    if (s->accumulate)
        for (int i = 0; i < rows; i++) d[i * s->dr] += r[i];
    else
        for (int i = 0; i < rows; i++) d[i * s->dr] = r[i];
}

/* m <= 5 rows x 3 times 3 x n; the rows are read once, for what is written might be among them */
static inline void times3(double *w, const int *o, double f, int m, int n, const shape *s)
{
    const double *a = w + o[1];
    double h[15];
    for (int i = 0; i < m; i++)
        for (int j = 0; j < 3; j++) h[3 * i + j] = a[i * s->ar + j * s->ac];
    for (int c = 0; c < n; c++) {
        const double *b = w + o[2] + c * s->bc;
        double *d = w + o[0] + c * s->dc;
        const double x = f * b[0], y = f * b[s->br], z = f * b[2 * s->br];
        double r[5] = {0.0, 0.0, 0.0, 0.0, 0.0};
        for (int i = 0; i < m; i++) r[i] = h[3 * i] * x + h[3 * i + 1] * y + h[3 * i + 2] * z;
        if (s->accumulate)
            for (int i = 0; i < m; i++) d[i * s->dr] += r[i];
        else
            for (int i = 0; i < m; i++) d[i * s->dr] = r[i];
    }
}

/* 3 x k times a column, column by column of the matrix */
static inline void columns(double *w, const int *o, double f, const shape *s)
{
    const double *a = w + o[1], *b = w + o[2];
    double *d = w + o[0], x = 0.0, y = 0.0, z = 0.0;
    for (int j = 0; j < s->k; j++) {
        const double g = f * b[j * s->br], *h = a + j * s->ac;
        x += h[0] * g;
        y += h[s->ar] * g;
        z += h[2 * s->ar] * g;
    }
    d[0] = s->accumulate ? d[0] + x : x;
    d[s->dr] = s->accumulate ? d[s->dr] + y : y;
    d[2 * s->dr] = s->accumulate ? d[2 * s->dr] + z : z;
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
    else if (h.k == 2 && h.n == 1 && h.m == 2)
        for (int i = 0; i < count; i++) column2(w, o + 4 * i, f[i], 2, &h);
    else if (h.k == 2 && h.n == 1 && h.m == 3)
        for (int i = 0; i < count; i++) column2(w, o + 4 * i, f[i], 3, &h);
    else if (h.n == 1 && h.m == 3)
        for (int i = 0; i < count; i++) columns(w, o + 4 * i, f[i], &h);
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
    else if (h.n == 3 && h.m == 3)
        for (int i = 0; i < count; i++) add(w, o + 4 * i, f[i], 3, 3, &h);
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
    /* what is no number stays none */
    case VBG_SIGN: return a > 0.0 ? 1.0 : (a < 0.0 ? -1.0 : 0.0 * a);
    case VBG_POSITIVE: return a > 0.0 ? 1.0 : (a <= 0.0 ? 0.0 : a);
    case VBG_MIN: return a <= b || isnan(a) ? a : b;
    case VBG_MAX: return a >= b || isnan(a) ? a : b;
    case VBG_POWER: return pow(a, b);
    case VBG_RECIPROCAL: return 1.0 / a;
    case VBG_SELECT: return a > 0.0 ? b : (a <= 0.0 ? c : a);
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

/* The power of two by which a size is from 1 to 2. */
static double towards_one(double size)
{
    double factor = 1.0;
    if (!(size > 0.0 && size < INFINITY)) return factor;
    for (double step = ldexp(1.0, 512); step >= 2.0; step = sqrt(step)) {
        if (size * factor >= step) factor /= step;
        else if (size * factor * step < 2.0) factor *= step;
    }
    return factor;
}

/* Rows of A and D in units in which the largest entry of A is about 1: they are volts or amperes. */
static void scale_rows(double *a, double *d, int m, int n)
{
    for (int i = 0; i < m; i++) {
        double largest = 0.0;
        for (int k = 0; k < m; k++) largest = fmax(largest, fabs(a[i * m + k]));
        const double factor = towards_one(largest);
        for (int k = 0; k < m; k++) a[i * m + k] *= factor;
        for (int k = 0; k < n; k++) d[i * n + k] *= factor;
    }
}

void vbg_solve_dense(double *a, double *d, int m, int n)
{
    if (m > 1) scale_rows(a, d, m, n);
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

void vbg_solve_refined(double *a, double *d, int m, int n)
{
    double *own = a + m * m, *rest = own + m * m;
    for (int i = 0; i < m * m; i++) own[i] = a[i];
    for (int i = 0; i < m * n; i++) rest[i] = d[i];
    vbg_solve_dense(a, d, m, n);
    for (int i = 0; i < m; i++)
        for (int k = 0; k < n; k++)
            for (int j = 0; j < m; j++) rest[i * n + k] -= own[i * m + j] * d[j * n + k];
    for (int i = 0; i < m * m; i++) a[i] = own[i];
    vbg_solve_dense(a, rest, m, n);
    for (int i = 0; i < m * n; i++) d[i] += rest[i];
}

void vbg_lookup(double *d, double x, const double *starts, const double *table, int m, int n)
{
    int low = 0, high = m;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (starts[middle] <= x) low = middle;
        else high = middle;
    }
    for (int j = 0; j < n; j++) d[j] = isnan(x) ? x : table[low * n + j];
}

static void begin_newton(double *y, double *record, int m)
{
    double from_zero = 1.0;
    for (int i = 0; i < m; i++) {
        if (!isfinite(y[i])) y[i] = 0.0;
        if (fabs(y[i]) > 0.0) from_zero = 0.0;
    }
    for (int i = 0; i < 3; i++) record[i] = 0.0;
    record[3] = from_zero;
}

/* Whether what leads nowhere from the last root is begun again from zero. */
static int begins_again(double *y, double *record, int m)
{
    if (record[3] > 0.0) return 0;
    for (int i = 0; i < m; i++) y[i] = 0.0;
    begin_newton(y, record, m);
    return 1;
}

/* A part of the residual that is more than rounding of its terms; 0 where it is rounding. */
static double beyond_rounding(double part, double terms)
{
    return isfinite(terms) && fabs(part) <= NEWTON_ROUNDED * terms ? 0.0 : part;
}

/* The largest of these. */
static double newton_size(const double *residual, const double *terms, int m)
{
    double size = 0.0;
    for (int i = 0; i < m; i++) {
        const double part = fabs(beyond_rounding(residual[i], terms[i]));
        if (!isfinite(part)) return INFINITY;
        if (part > size) size = part;
    }
    return size;
}

/* What stands in the record of a loop of m unknowns. */
typedef struct newton {
    double *iterations, *share, *polished; /* one word each, the fourth of `begins_again` */
    double *before, *step;                 /* y and Newton's step where the present one began */
    double *terms, *ahead;                 /* of the residual at y; the simplified step */
    double *kept, *used;                   /* m x m: the slope there, and room to solve with it */
    double *was;                           /* the residual there */
} newton;

static newton newton_in(double *r, int m)
{
    double *v = r + 4, *k = v + 4 * m;
    return (newton){r,         r + 1, r + 2,     v,             v + m, v + 2 * m,
                    v + 3 * m, k,     k + m * m, k + 2 * m * m};
}

/* The length of a step, each component as part of the larger of y and of Newton's step. */
static double newton_length(const double *vector, const newton *r, int m)
{
    double total = 0.0;
    for (int i = 0; i < m; i++) {
        const double part = fabs(vector[i]);
        if (!(part > 0.0)) continue;
        const double share = part / fmax(fabs(r->before[i]), fabs(r->step[i]));
        total += share * share;
    }
    return sqrt(total);
}

/* Whether every part of the residual is smaller than where the step began, or rounding. */
static int all_smaller(const double *residual, const newton *r, int m)
{
    for (int i = 0; i < m; i++) {
        const double part = fabs(beyond_rounding(residual[i], r->terms[i]));
        if (!(part <= (1.0 - NEWTON_GAIN * *r->share) * fabs(r->was[i]))) return 0;
    }
    return 1;
}

/* The step for what of this residual is no rounding, by the slope of the step before; its length. */
static double simplified_step(const double *residual, newton *r, int m)
{
    for (int i = 0; i < m; i++) r->ahead[i] = beyond_rounding(residual[i], r->terms[i]);
    for (int i = 0; i < m * m; i++) r->used[i] = r->kept[i];
    vbg_solve_dense(r->used, r->ahead, m, 1);
    return newton_length(r->ahead, r, m);
}

static void whole_step(const double *y, const double *residual, double *slope, newton *r, int m)
{
    for (int i = 0; i < m; i++) {
        r->before[i] = y[i];
        r->step[i] = r->was[i] = residual[i];
    }
    for (int i = 0; i < m * m; i++) r->kept[i] = slope[i];
    vbg_solve_dense(slope, r->step, m, 1);
}

/* Whether the step is no more than this part of y in each component. */
static int newton_small(const newton *r, int m, double part)
{
    for (int i = 0; i < m; i++)
        if (!(fabs(r->step[i]) <= part * fabs(r->before[i]) + 1e-30)) return 0;
    return 1;
}

/* Whether a residual is no small part of its terms, as at no root. */
static int newton_wrong(const double *residual, const newton *r, int m)
{
    for (int i = 0; i < m; i++)
        if (!(fabs(residual[i]) <= NEWTON_WRONG * r->terms[i])) return 1;
    return 0;
}

/* One Newton step, or a shorter one where the last was too long: where neither the simplified step
   ahead is shorter than it (natural monotonicity, P. Deuflhard) nor each residual smaller; whether
   to go on. */
static int step_newton(double *y, const double *residual, double *slope, double *record, int m)
{
    newton r = newton_in(record, m);
    const double size = newton_size(residual, r.terms, m);
    if (*r.iterations >= NEWTON_LIMIT) {
        if (begins_again(y, record, m)) return 1;
        for (int i = 0; i < m; i++) y[i] = NAN;
        return 0;
    }
    *r.iterations += 1.0;
    const int judged = *r.iterations > 1.0 && *r.polished <= 0.0 && size > 0.0;
    double length = 1.0, left = 0.0;
    if (judged) {
        length = newton_length(r.step, &r, m);
        left = isfinite(size) ? simplified_step(residual, &r, m) : INFINITY;
    }
    const int nearer = left <= (1.0 - NEWTON_GAIN * *r.share) * length;
    if (judged && *r.share > NEWTON_SHORTEST && !nearer && !all_smaller(residual, &r, m)) {
        *r.share *= 0.5;
    } else {
        const int squares = judged && *r.share >= 1.0 && left <= NEWTON_CONTRACTS * length &&
                            newton_small(&r, m, NEWTON_CLOSE);
        whole_step(y, residual, slope, &r, m);
        const double longest = NEWTON_GROWS * *r.share * length, now = newton_length(r.step, &r, m);
        *r.share = judged && longest < now ? longest / now : 1.0;
        const int found = squares || newton_small(&r, m, NEWTON_STILL);
        if (*r.polished > 0.0 || size <= 0.0 || (found && !newton_wrong(residual, &r, m))) {
            *r.share = 1.0;
            *r.polished += 1.0;
        }
    }
    for (int i = 0; i < m; i++) y[i] = r.before[i] - *r.share * r.step[i];
    return *r.polished < 2.0;
}

/* -- the tape -------------------------------------------------------------------------------------------- */

void vbg_run(const vbg_tape *tape, double *w, const double *kept)
{
    if (tape->straight) {
        tape->straight(w, kept);
        return;
    }
    const double *factors = tape->factors_at ? w + tape->factors_at : tape->factor;
    for (int at = 0; at < tape->segments; at++) {
        const int *g = tape->segment + FIELDS * at, count = g[1];
        const int *o = tape->operand + 4 * g[2], m = g[4];
        const double *f = factors + g[2];
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
        case VBG_LOOKUP:
            for (int i = 0; i < count; i++, o += 4) vbg_lookup(w + o[0], w[o[1]], w + o[2], w + o[3], m, s.n);
            break;
        case VBG_COPY:
            for (int i = 0; i < count; i++, o += 4)
                for (int j = 0; j < m; j++) w[o[0] + j] = w[o[1] + j];
            break;
        case VBG_FACTOR: vbg_factor(tape->stream, m, w, kept, f[0], s.k); break;
        case VBG_SOLVE:
            for (int i = 0; i < count; i++, o += 4)
                vbg_solve(tape->stream, m, w, o[0], o[1], o[2], o[3], tape->spare, kept, s.k);
            break;
        case VBG_LINEAR_SOLVE:
            for (int i = 0; i < count; i++, o += 4) vbg_solve_refined(w + o[1], w + o[0], m, s.n);
            break;
        case VBG_NEWTON: begin_newton(w + o[0], w + o[1], m); break;
        case VBG_NEWTON_STEP:
            if (step_newton(w + o[0], w + o[1], w + o[2], w + o[3], m)) at = s.k - 1;
            break;
        default: break;
        }
    }
}
