/* Elimination of the constraint system: LDL^T by a schedule, solutions, the smallest efforts; see
   vbg_tape.h. */
#include "vbg_tape.h"

#include <math.h>

#define LOST 1e300      /* condition where a kept row has no pivot any more */
#define MOST 6          /* unknowns of a pivot block */
#define FEW 24          /* dependent rows up to which their combinations are formed */
#define CLOSE 1e-13     /* of the norm of x: last step of conjugate gradients */
#define PART 4          /* of the number of dependent rows: steps of theirs at most */
#define SETTLED 1e-9    /* of it: from where on a step that is no shorter than the last is rounding's */

/* A schedule in the stream: number of pivots; place of each; number of unknowns; place of the
   vectors; pivots (size, block, first, couplings: size, block, first, targets); vectors. */
static int unknowns_of(const int *s) { return s[s[0] + 1]; }
static const int *first_pivot(const int *s) { return s + 3 + s[0]; }

/* What follows works on copies of small blocks: the compiler keeps them in registers, which it
   may not do with the workspace, where each word that is written might be one that is read. */

static inline void eliminate_diagonal(double *w, int m, int d, int original, const double *kept, double least,
                                      int coming)
{
    double l[MOST * MOST];
    for (int j = 0; j < m; j++)
        for (int k = 0; k <= j; k++) l[j * m + k] = w[d + j * m + k];
    for (int j = 0; j < m; j++) {
        double pivot = l[j * m + j];
        for (int k = 0; k < j; k++) {
            const double x = l[j * m + k], factor = x * l[k * m + k];
            pivot -= x * factor;
            l[j * m + k] = factor;
        }
        const double bound = least * fabs(w[original + j]);
        const int lost = fabs(pivot) <= bound;
        if (lost) pivot = bound;
        l[j * m + j] = kept[j] > 0.0 && pivot != 0.0 && !(lost && coming) ? 1.0 / pivot : 0.0;
        for (int i = j + 1; i < m; i++)
            for (int k = 0; k < j; k++) l[i * m + j] -= l[i * m + k] * l[j * m + k];
    }
    for (int j = 0; j < m; j++)
        for (int k = 0; k <= j; k++) w[d + j * m + k] = l[j * m + k];
}

/* n rows at b: W = H L^-T into the scratch, M = W D^-1 in place */
static inline void eliminate_coupling(double *w, int m, int d, int b, int n, int scratch)
{
    double l[MOST * MOST], x[MOST];
    for (int j = 0; j < m; j++)
        for (int k = 0; k <= j; k++) l[j * m + k] = w[d + j * m + k];
    for (int r = 0; r < n; r++) {
        double *here = w + b + r * m, *to = w + scratch + r * m;
        for (int j = 0; j < m; j++) {
            x[j] = here[j];
            for (int k = 0; k < j; k++) x[j] -= x[k] * l[j * m + k];
        }
        for (int j = 0; j < m; j++) to[j] = x[j];
        for (int j = 0; j < m; j++) here[j] = x[j] * l[j * m + j];
    }
}

/* H_t -= W M^T; the lower half if symmetric */
static inline void downdate(double *w, int m, int t, int from, int n, int b, int p, int symmetric)
{
    double x[MOST];
    for (int r = 0; r < n; r++) {
        const int last = symmetric ? r + 1 : p;
        for (int k = 0; k < m; k++) x[k] = w[from + r * m + k];
        for (int c = 0; c < last; c++) {
            double value = w[t + r * p + c];
            for (int k = 0; k < m; k++) value -= x[k] * w[b + c * m + k];
            w[t + r * p + c] = value;
        }
    }
}

static inline const int *pivot_step(double *w, const int *here, int m, int scratch, int rest,
                                    const double *kept, double least, int coming)
{
    const int d = here[1], first = here[2], later = here[3];
    eliminate_diagonal(w, m, d, scratch + first, kept + first, least, coming);
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

static void factorise(double *w, const int *s, int scratch, const double *kept, double least, int coming)
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
        case 1: here = pivot_step(w, here, 1, scratch, rest, kept, least, coming); break;
        case 2: here = pivot_step(w, here, 2, scratch, rest, kept, least, coming); break;
        case 3: here = pivot_step(w, here, 3, scratch, rest, kept, least, coming); break;
        case 4: here = pivot_step(w, here, 4, scratch, rest, kept, least, coming); break;
        case 5: here = pivot_step(w, here, 5, scratch, rest, kept, least, coming); break;
        default: here = pivot_step(w, here, MOST, scratch, rest, kept, least, coming); break;
        }
    }
}

static inline void forward(const double *w, double *x, const int *here, int m)
{
    const double *d = w + here[1];
    double *at = x + here[2], y[MOST];
    const int later = here[3];
    for (int i = 0; i < m; i++) {
        y[i] = at[i];
        for (int k = 0; k < i; k++) y[i] -= d[i * m + k] * y[k];
    }
    for (int i = 0; i < m; i++) at[i] = y[i];
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

static inline void backward(const double *w, double *x, const int *here, int m)
{
    const double *d = w + here[1];
    double *at = x + here[2], y[MOST];
    const int later = here[3];
    for (int i = 0; i < m; i++) y[i] = at[i] * d[i * m + i];
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
    for (int i = 0; i < m; i++) at[i] = y[i];
}

static void solve(double *w, const int *s, double *x, const double *rhs)
{
    const int total = unknowns_of(s);
    for (int i = 0; i < total; i++) x[i] = rhs[i];
    for (int p = 0; p < s[0]; p++) {
        const int *here = s + s[1 + p];
        switch (here[0]) { /* constants, so that the loops are unrolled */
        case 1: forward(w, x, here, 1); break;
        case 2: forward(w, x, here, 2); break;
        case 3: forward(w, x, here, 3); break;
        case 4: forward(w, x, here, 4); break;
        case 5: forward(w, x, here, 5); break;
        default: forward(w, x, here, MOST); break;
        }
    }
    for (int p = s[0] - 1; p >= 0; p--) {
        const int *here = s + s[1 + p];
        switch (here[0]) {
        case 1: backward(w, x, here, 1); break;
        case 2: backward(w, x, here, 2); break;
        case 3: backward(w, x, here, 3); break;
        case 4: backward(w, x, here, 4); break;
        case 5: backward(w, x, here, 5); break;
        default: backward(w, x, here, MOST); break;
        }
    }
}

/* -- the smallest efforts among those that do the same (vbg/assemble/program/machine/elimination/smallest.py) -- */

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

/* x - N z with N (total, count) column by column */
static void smallest_of_few(double *w, const int *s, int matrix, const double *kept, int count,
                            double *x, const double *weight, double *spare, double *columns)
{
    const int total = unknowns_of(s);
    double *system = columns + count * total, *right = system + count * count;
    for (int d = 0, c = 0; d < total; d++) {
        if (kept[d] > 0.0) continue;
        for (int i = 0; i < total; i++) spare[i] = i == d ? 1.0 : 0.0;
        combination(w, s, matrix, kept, spare, spare + total, spare + 2 * total);
        for (int i = 0; i < total; i++) columns[i * count + c] = spare[total + i];
        c++;
    }
    for (int i = 0; i < count * count + count; i++) system[i] = 0.0;
    for (int i = 0; i < total; i++) {
        const double *row = columns + i * count;
        for (int a = 0; a < count; a++) {
            const double weighed = row[a] * weight[i];
            right[a] += weighed * x[i];
            for (int b = 0; b <= a; b++) system[a * count + b] += weighed * row[b];
        }
    }
    for (int a = 0; a < count; a++)
        for (int b = 0; b < a; b++) system[b * count + a] = system[a * count + b];
    vbg_solve_dense(system, right, count, 1);
    for (int i = 0; i < total; i++)
        for (int a = 0; a < count; a++) x[i] -= columns[i * count + a] * right[a];
}

/* whether conjugate gradients converge in a part of the steps that N costs */
static int smallest_of_many(double *w, const int *s, int matrix, const double *kept, int count,
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
    for (int turn = 0; turn < count / PART; turn++) {
        double curvature = 0.0;
        if (rho <= CLOSE * CLOSE * size) return 1;
        combination(w, s, matrix, kept, p, n, rest);
        for (int i = 0; i < total; i++) curvature += n[i] * n[i] * weight[i];
        const double alpha = rho / curvature, before = rho;
        for (int i = 0; i < total; i++) x[i] += alpha * n[i];
        transposed(w, s, matrix, kept, weight, x, g, rest);
        rho = 0.0;
        for (int i = 0; i < total; i++) rho += g[i] * g[i] / weight[i];
        if (before <= rho && before <= SETTLED * SETTLED * size) return 1;
        for (int i = 0; i < total; i++) p[i] = rho / before * p[i] - g[i] / weight[i];
    }
    return rho <= SETTLED * SETTLED * size;
}

static void make_smallest(double *w, const int *s, int scratch, int matrix, const double *kept,
                          double *x, double *spare, double *columns)
{
    const int total = unknowns_of(s);
    int count = 0;
    for (int i = 0; i < total; i++) count += kept[i] <= 0.0;
    if (count == 0) return;
    weights(w, s, scratch, spare);
    if (count > FEW) {
        for (int i = 0; i < total; i++) columns[i] = x[i];
        if (smallest_of_many(w, s, matrix, kept, count, x, spare, spare + total)) return;
        for (int i = 0; i < total; i++) x[i] = columns[i];
    }
    smallest_of_few(w, s, matrix, kept, count, x, spare, spare + total, columns);
}

void vbg_factor(const int *stream, int schedule, double *w, const double *kept, double least, int coming)
{
    factorise(w, stream + stream[1 + 2 * schedule], stream[2 + 2 * schedule], kept, least, coming);
}

void vbg_solve(const int *stream, int schedule, double *w, int x, int rhs, int matrix, int spare, int columns,
               const double *kept, int solved)
{
    const int *s = stream + stream[1 + 2 * schedule], scratch = stream[2 + 2 * schedule];
    if (solved)
        for (int i = 0; i < unknowns_of(s); i++) w[x + i] = w[rhs + i];
    else
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
