/* Model Exchange in independent coordinates: a chart of the states that meet the constraints.

   Of the states x some, Y = x[chosen] + size, are given; the others follow from the constraints.  T,
   one row of `basis` for each coordinate, is how x moves on the constraints with it, T[chosen] = 1:

       x <- P(x + T (Y - size - x[chosen]))     until that is 0,     Y' = f(x)[chosen]

   where P puts x onto the constraints.  T decides how fast this converges and not where to, so that
   differences of P are good enough for it.  Where some other state moves much faster than the
   chosen ones, others are chosen, in an event (R. A. Wehage and E. J. Haug, J. Mech. Des. 104,
   1982, 247-255; tiers: an angle turns on where a slide reverses).

   The nominal size is added because difference quotients of importers go by a part of the value:
   for a state that is 0, as at rest, by one below rounding, and their Newton's method then stops
   beside the solution (docs/decisions/2026-11-model-exchange.md). */
#include <float.h>
#include <math.h>
#include <string.h>

#include "vbg_fmu.h"
#include "vbg_inside.h"

#define ROUNDS 40
#define CLOSED 1e-13  /* of the coordinates, in their sizes: what is left is its square */
#define ROUNDED 1e-9  /* what rounding may leave of it */
#define SLOWLY 0.5    /* the least part of the gap that must go in a round behind a new T */
#define PIECE 0.3     /* of a posture, in sizes, that is gone at once */
#define PIECES 1000
#define STEP 1e-6     /* of differences, in sizes */
#define SEEN 0.1      /* a motion that a tier sees with less than this part of its largest is left to the next */
#define NOTHING 1e-4  /* in sizes: what differences may leave where there is nothing */
#define MOVED 0.1     /* of a posture since T was computed */
#define GROWN 4.0

/* Places of the states that are integrated, by their numbers. */
static int place(const vbg_fmu *f, int number) { return f->v.m->continuous_at[number]; }

static double size_of(const vbg_fmu *f, int at) { return f->v.m->tolerance[at]; }

static int is_posture(int tier) { return tier < VBG_OTHERS; }

static double *row(const vbg_fmu *f, int k) { return f->basis + (size_t)k * (size_t)f->v.m->states; }

/* Largest entry of row k among the states of its class, in sizes. */
static double largest(const vbg_fmu *f, int k, int posture)
{
    const vbg_model *m = f->v.m;
    double most = 0.0;
    for (int i = 0; i < m->continuous; i++)
        if (is_posture(vbg_fmu_tier[i]) == posture)
            most = fmax(most, fabs(row(f, k)[place(f, i)]) / size_of(f, place(f, i)));
    return most;
}

/* Row k is 1 at `at` and the others 0. */
static void eliminate(vbg_fmu *f, int k, int at)
{
    const int n = f->v.m->states;
    double *one = row(f, k);
    const double pivot = one[at];
    for (int i = 0; i < n; i++) one[i] /= pivot;
    one[at] = 1.0;
    for (int other = 0; other < vbg_fmu_freedoms; other++) {
        double *to = row(f, other);
        const double part = to[at];
        if (other == k || fabs(part) <= 0.0) continue;
        for (int i = 0; i < n; i++) to[i] -= part * one[i];
        to[at] = 0.0;
    }
}

/* The number of the largest entry of the rows that have no coordinate yet, in a tier; its row to
   `k`; -1 where all are below SEEN of what else is in the row. */
static int pivot_in(const vbg_fmu *f, int tier, int last, int *k)
{
    const vbg_model *m = f->v.m;
    double best = last ? 0.0 : SEEN;
    int found = -1;
    for (int r = 0; r < vbg_fmu_freedoms; r++) {
        const double most = f->chosen[r] < 0.0 ? largest(f, r, is_posture(tier)) : 0.0;
        for (int i = 0; i < m->continuous && most > NOTHING; i++) {
            const double part = fabs(row(f, r)[place(f, i)]) / size_of(f, place(f, i)) / most;
            if (vbg_fmu_tier[i] != tier || part <= best) continue;
            best = part;
            found = i;
            *k = r;
        }
    }
    return found;
}

/* How far other states go with a coordinate at most, of the same class, in sizes. */
static double growth(const vbg_fmu *f)
{
    double most = 1.0;
    for (int k = 0; k < vbg_fmu_freedoms; k++) {
        const int at = (int)f->chosen[k];
        const double far = largest(f, k, k < vbg_fmu_postures);
        most = fmax(most, far * size_of(f, at));
    }
    return most;
}

/* Coordinates for the rows of `basis`, those of the posture first; 0 where there are not so many. */
static int choose(vbg_fmu *f)
{
    const int n = f->v.m->states;
    int found = 0;
    for (int k = 0; k < vbg_fmu_freedoms; k++) f->chosen[k] = -1.0;
    for (int tier = 0; tier < VBG_TIERS; tier++) {
        const int wanted = is_posture(tier) ? vbg_fmu_postures : vbg_fmu_freedoms;
        while (found < wanted) {
            int k = 0;
            const int i = pivot_in(f, tier, tier == VBG_OTHERS - 1 || tier == VBG_TIERS - 1, &k);
            if (i < 0) break;
            eliminate(f, k, place(f, i));
            for (int j = 0; j < n && k != found; j++) {
                const double kept = row(f, k)[j];
                row(f, k)[j] = row(f, found)[j];
                row(f, found)[j] = kept;
            }
            f->chosen[k] = f->chosen[found];
            f->chosen[found++] = place(f, i);
        }
        if (tier == VBG_OTHERS - 1 && found < wanted) return 0;
    }
    f->k.limit = GROWN * growth(f);
    return found == vbg_fmu_freedoms;
}

/* Rows of `basis` as motions on the constraints at x, by differences. */
static void tangents(vbg_fmu *f, double t, const double *x)
{
    const vbg_model *m = f->v.m;
    for (int k = 0; k < vbg_fmu_freedoms; k++) {
        double *one = row(f, k), most = 0.0;
        for (int i = 0; i < m->continuous; i++)
            most = fmax(most, fabs(one[place(f, i)]) / (size_of(f, place(f, i)) + fabs(x[place(f, i)])));
        const double h = most > 0.0 ? STEP / most : 0.0;
        for (int i = 0; i < m->states; i++) f->probe[i] = x[i] + h * one[i];
        vbg_project(&f->v, t, f->probe, 1e-13, 0.0);
        for (int i = 0; i < m->states; i++) one[i] = h > 0.0 ? (f->probe[i] - x[i]) / h : 0.0;
    }
    f->k.moved = 0.0;
}

/* T at x for the chosen coordinates; 0 where they do not tell the motion any more. */
static int renew(vbg_fmu *f, double t, const double *x)
{
    tangents(f, t, x);
    for (int k = 0; k < vbg_fmu_freedoms; k++) {
        const int at = (int)f->chosen[k];
        if (!(fabs(row(f, k)[at]) > NOTHING)) return 0;
        eliminate(f, k, at);
    }
    return 1;
}

/* The coordinates of x, those that differ from what they were by more than rounding. */
static void take(vbg_fmu *f, const double *x)
{
    for (int k = 0; k < vbg_fmu_freedoms; k++) {
        const int at = (int)f->chosen[k];
        const double now = x[at] + size_of(f, at);
        double *to = f->coordinates + k;
        if (!(fabs(now - *to) <= 8.0 * DBL_EPSILON * (size_of(f, at) + fabs(*to)))) *to = now;
    }
}

/* The state that ways begin from. */
static void stand(vbg_fmu *f, double t, const double *x)
{
    memmove(f->y, x, (size_t)f->v.m->states * sizeof *x);
    f->k.at = t;
    take(f, x);
}

int vbg_chart_begin(vbg_fmu *f, double t, const double *x)
{
    const vbg_model *m = f->v.m;
    unsigned random = 1u;
    for (int k = 0; k < vbg_fmu_freedoms; k++) {
        for (int i = 0; i < m->states; i++) row(f, k)[i] = 0.0;
        for (int i = 0; i < m->continuous; i++) { /* any directions: a linear congruential generator */
            random = (1664525u * random + 1013904223u) & 0xffffffffu;
            row(f, k)[place(f, i)] = size_of(f, place(f, i)) * ((double)random / 2147483648.0 - 1.0);
        }
    }
    tangents(f, t, x);
    if (!choose(f) || !renew(f, t, x)) return 0;
    memset(f->pace, 0, (size_t)m->states * sizeof *f->pace);
    stand(f, t, x);
    return 1;
}

int vbg_chart_settle(vbg_fmu *f, double t, const double *x)
{
    const int count = vbg_fmu_freedoms;
    memcpy(f->goal, f->chosen, (size_t)count * sizeof *f->goal);
    if (!renew(f, t, x) || growth(f) > f->k.limit) {
        if (!choose(f)) return -1;
    }
    int changed = 0;
    for (int k = 0; k < count; k++) {
        if (fabs(f->goal[k] - f->chosen[k]) <= 0.0) continue;
        f->coordinates[k] = NAN;
        changed = 1;
    }
    stand(f, t, x);
    return changed;
}

/* What of the coordinates x misses, into `gap`; the largest, in sizes. */
static double missing(vbg_fmu *f, const double *x)
{
    double most = 0.0;
    for (int k = 0; k < vbg_fmu_freedoms; k++) {
        const int at = (int)f->chosen[k];
        f->gap[k] = f->goal[k] - x[at];
        if (!isfinite(f->gap[k])) return INFINITY;
        most = fmax(most, fabs(f->gap[k]) / (size_of(f, at) + fabs(f->goal[k])));
    }
    return most;
}

/* The guess x becomes the state on the constraints whose coordinates are `goal`. */
static int approach(vbg_fmu *f, double t, double *x)
{
    const vbg_model *m = f->v.m;
    double before = INFINITY;
    int renewed = 0;
    for (int round = 0; round < ROUNDS; round++) {
        vbg_project(&f->v, t, x, fmax(1e-13, m->rounding), 0.0);
        const double far = missing(f, x);
        const int done = far <= CLOSED || (renewed && far > SLOWLY * before && far <= ROUNDED);
        if (!isfinite(far) || (!done && renewed && far > before)) return 0;
        if (!done && !renewed && isfinite(before)) {
            /* a new T costs a projection for each coordinate: where the old one takes more */
            const double rounds = far < before ? log(CLOSED / far) / log(far / before) : INFINITY;
            if (rounds > vbg_fmu_freedoms + 2) {
                if (!renew(f, t, x)) return 0;
                renewed = 1;
            }
        }
        for (int k = 0; k < vbg_fmu_freedoms; k++)
            for (int i = 0; i < m->states; i++) x[i] += f->gap[k] * row(f, k)[i];
        if (done) return 1;
        before = far;
    }
    return 0;
}

/* Where the coordinates and the time lead to from y, into `way`; the largest part of a posture. */
static double lead(vbg_fmu *f, double later)
{
    const vbg_model *m = f->v.m;
    double far = 0.0;
    for (int i = 0; i < m->states; i++) f->way[i] = later * f->pace[i];
    for (int k = 0; k < vbg_fmu_freedoms; k++) {
        const int at = (int)f->chosen[k];
        const double gap = f->coordinates[k] - size_of(f, at) - f->y[at] - later * f->pace[at];
        for (int i = 0; i < m->states; i++) f->way[i] += gap * row(f, k)[i];
    }
    for (int i = 0; i < m->continuous; i++) {
        const double part = fabs(f->way[place(f, i)]) / size_of(f, place(f, i));
        if (!isfinite(part)) return INFINITY;
        if (is_posture(vbg_fmu_tier[i])) far = fmax(far, part);
    }
    return far;
}

int vbg_chart_reach(vbg_fmu *f, double t)
{
    const vbg_model *m = f->v.m;
    const double later = t - f->k.at, far = lead(f, later);
    if (!(far <= PIECE * PIECES)) return 0;
    const int pieces = 1 + (int)(far / PIECE);
    for (int p = 1; p <= pieces; p++) {
        const double part = 1.0 / (pieces - p + 1), here = t - (pieces - p) * (later / pieces);
        memcpy(f->guess, f->x, (size_t)m->states * sizeof *f->x); /* inputs, and what is held */
        for (int i = 0; i < m->continuous; i++)
            f->guess[place(f, i)] = f->y[place(f, i)] + f->way[place(f, i)] / pieces;
        for (int k = 0; k < vbg_fmu_freedoms; k++) {
            const int at = (int)f->chosen[k];
            const double from = f->y[at], to = f->coordinates[k] - size_of(f, at);
            f->goal[k] = p == pieces ? to : from + part * (to - from);
        }
        if (!approach(f, here, f->guess)) return 0;
        memcpy(f->y, f->guess, (size_t)m->states * sizeof *f->y);
        f->k.at = here;
    }
    f->k.moved += far;
    return 1;
}

void vbg_chart_pace(vbg_fmu *f, const double *rates)
{
    memcpy(f->pace, rates, (size_t)f->v.m->states * sizeof *rates);
}

double vbg_chart_indicator(const vbg_fmu *f) { return 1.0 - growth(f) / f->k.limit; }

int vbg_chart_completed(vbg_fmu *f, double t)
{
    if (f->k.moved > MOVED && !renew(f, t, f->y)) return 1;
    return growth(f) > f->k.limit;
}
