/* Directional derivatives of an instance, forward mode; see vbg/export/directions.py for the tapes. */
#include <math.h>
#include <string.h>

#include "vbg_fmu.h"

#define ROUNDS 40

/* What a tape tells of the direction dy at the states y, t. */
static const double *along(const vbg_fmu *f, const vbg_tape *tape, double *work, double t, const double *y, const double *dy)
{
    const size_t n = (size_t)f->v.m->states;
    memcpy(work, y, n * sizeof *y);
    work[n] = t;
    memcpy(work + n + 1, dy, n * sizeof *dy);
    vbg_run(tape, work, f->v.kept);
    return work + tape->first;
}

/* Quaternions stay of length 1: d(x / |x|) = (1 - q q^T) dx / |x|. */
static void keep_lengths(const vbg_fmu *f, const double *x, const double *y, double *dy)
{
    const vbg_model *m = f->v.m;
    for (int i = 0; i < m->quaternions; i++) {
        const int at = m->quaternion[i];
        double size = 0.0, radial = 0.0;
        for (int k = 0; k < 4; k++) {
            size += x[at + k] * x[at + k];
            radial += y[at + k] * dy[at + k];
        }
        for (int k = 0; k < 4; k++) dy[at + k] = (dy[at + k] - radial * y[at + k]) / sqrt(size);
    }
}

/* Residuals of position and behind them those of velocity along dy, once its joint coordinates are
   those of its posture. */
static const double *residuals(vbg_fmu *f, double t, const double *y, double *dy)
{
    const vbg_model *m = f->v.m;
    const double *found = along(f, vbg_fmu_tilt, f->tilt, t, y, dy);
    for (int i = 0; i < m->measured; i++) dy[m->measured_at[i]] = found[2 * m->rows + i];
    return m->measured > 0 ? along(f, vbg_fmu_tilt, f->tilt, t, y, dy) : found;
}

static void correct(vbg_fmu *f, double t, const double *y, double *dy, const double *left, const vbg_steps *steps)
{
    const vbg_model *m = f->v.m;
    double *work = f->v.correction;
    memcpy(work, y, (size_t)m->states * sizeof *y);
    work[m->states] = t;
    for (int i = 0; i < m->rows; i++) work[m->states + 1 + i] = -left[i];
    vbg_run(m->correction, work, f->v.kept);
    for (int i = 0; i < steps->count; i++) dy[steps->to[i]] += work[steps->from[i]];
}

/* dy as the states are put onto the constraints. */
static void project(vbg_fmu *f, double t, const double *x, const double *y, double *dy)
{
    keep_lengths(f, x, y, dy);
    if (f->v.m->rows == 0) return;
    correct(f, t, y, dy, residuals(f, t, y, dy), &f->v.m->posture);
    keep_lengths(f, y, y, dy);
    correct(f, t, y, dy, residuals(f, t, y, dy) + f->v.m->rows, &f->v.m->velocity);
}

/* dy with the change dY of the coordinates: as in vbg_chart_reach, P and its argument by their
   slopes. */
static void follow(vbg_fmu *f, double t, const double *y, const double *dY, double *dy)
{
    const int n = f->v.m->states;
    double before = INFINITY;
    for (int round = 0; round < ROUNDS; round++) {
        double far = 0.0;
        for (int k = 0; k < vbg_fmu_freedoms; k++) {
            const int at = (int)f->chosen[k];
            f->gap[k] = dY[k] - dy[at];
            far = fmax(far, fabs(f->gap[k]) / f->v.m->tolerance[at]);
        }
        if (!(far > 0.0 && far < before)) return;
        for (int k = 0; k < vbg_fmu_freedoms; k++)
            for (int i = 0; i < n; i++) dy[i] += f->gap[k] * f->basis[(size_t)k * (size_t)n + (size_t)i];
        project(f, t, y, y, dy);
        before = round > 0 ? far : INFINITY; /* dy itself may begin anywhere */
    }
}

/* -- what is told ---------------------------------------------------------------------------------- */

/* Number of the coordinate, or behind the coordinates of the rate of one, that a reference means. */
static int coordinate(const vbg_fmu *f, unsigned reference)
{
    const vbg_model *m = f->v.m;
    const unsigned first = 1 + 2 * (unsigned)m->states + (unsigned)m->signals + (unsigned)m->switches;
    const unsigned behind = first + (unsigned)m->tuning->parameters, count = (unsigned)vbg_fmu_freedoms;
    return reference >= behind && reference - behind < 2 * count ? (int)(reference - behind) : -1;
}

/* What an importer may change: a state or a coordinate. */
static double *known_at(vbg_fmu *f, unsigned reference)
{
    const int number = coordinate(f, reference);
    if (number >= 0 && number < vbg_fmu_freedoms) return f->coordinates + number;
    return reference > 0 && reference <= (unsigned)f->v.m->states ? f->x + reference - 1 : 0;
}

/* By the tapes of directions. */
static int exact(vbg_fmu *f, const unsigned *unknown, size_t unknowns, const unsigned *known, size_t knowns,
                 const double *seed, double *sensitivity)
{
    const unsigned n = (unsigned)f->v.m->states, told = n + (unsigned)vbg_fmu_directions->outputs;
    const double *y = vbg_fmu_held(f);
    double *dx = f->z, *dY = f->goal, *dy = f->trial;
    const double t = vbg_fmu_seen(f);
    int along_chart = f->k.charted;
    for (unsigned i = 0; i < n; i++) dx[i] = 0.0;
    for (int k = 0; k < vbg_fmu_freedoms; k++) dY[k] = 0.0;
    for (size_t i = 0; i < knowns; i++) {
        const double *place = known_at(f, known[i]);
        if (!place) return 0;
        if (coordinate(f, known[i]) < 0) dx[place - f->x] += seed[i];
        else dY[place - f->coordinates] += seed[i];
        along_chart |= coordinate(f, known[i]) >= 0;
    }
    memcpy(dy, dx, n * sizeof *dx);
    if (along_chart) follow(f, t, y, dY, dy);
    else if (f->co_simulation) keep_lengths(f, f->x, y, dy);
    else project(f, t, f->x, y, dy);
    const double *slopes = along(f, vbg_fmu_directions, f->along, t, y, dy);
    for (size_t i = 0; i < unknowns; i++) {
        const int number = coordinate(f, unknown[i]), rate = number - vbg_fmu_freedoms;
        const unsigned at = number < 0 ? unknown[i] : (rate < 0 ? 1 : 1 + n) + (unsigned)f->chosen[rate < 0 ? number : rate];
        if (at > told) return 0;
        sensitivity[i] = at == 0 ? 0.0 : (at <= n ? (along_chart ? dy : dx)[at - 1] : slopes[at - 1 - n]);
        if (!isfinite(sensitivity[i])) return 0;
    }
    return !f->k.lost;
}

static int unknowns_at(vbg_fmu *f, double h, const unsigned *unknown, size_t unknowns, const unsigned *known,
                       size_t knowns, const double *seed, double weight, double *sensitivity)
{
    for (size_t i = 0; i < knowns; i++) *known_at(f, known[i]) += h * seed[i];
    vbg_fmu_changed(f);
    int good = 1;
    for (size_t i = 0; i < unknowns; i++) {
        double value = 0.0;
        good &= vbg_fmu_get(f, unknown[i], &value);
        sensitivity[i] += weight * value;
    }
    return good;
}

/* Without them central differences of order four along the seed. */
static int differences(vbg_fmu *f, const unsigned *unknown, size_t unknowns, const unsigned *known, size_t knowns,
                       const double *seed, double *sensitivity)
{
    static const double place[4] = {-2.0, -1.0, 1.0, 2.0}, weight[4] = {1.0, -8.0, 8.0, -1.0};
    const size_t n = (size_t)f->v.m->states, count = (size_t)vbg_fmu_freedoms;
    double size = 0.0, length = 0.0;
    for (size_t i = 0; i < knowns; i++) {
        const double *at = known_at(f, known[i]);
        if (!at) return 0;
        size = fmax(size, fabs(*at));
        length = fmax(length, fabs(seed[i]));
    }
    for (size_t i = 0; i < unknowns; i++) sensitivity[i] = 0.0;
    if (length <= 0.0) return 1;
    const double h = 1e-3 * fmax(size, 1e-3) / length;
    memcpy(f->z, f->x, n * sizeof *f->x);
    if (count) memcpy(f->kept, f->coordinates, count * sizeof *f->kept);
    int good = 1;
    for (int p = 0; p < 4; p++) {
        good &= unknowns_at(f, place[p] * h, unknown, unknowns, known, knowns, seed, weight[p] / (12.0 * h), sensitivity);
        memcpy(f->x, f->z, n * sizeof *f->x);
        if (count) memcpy(f->coordinates, f->kept, count * sizeof *f->kept);
        vbg_fmu_changed(f);
    }
    return good;
}

int vbg_fmu_direction(vbg_fmu *f, const unsigned *unknown, size_t unknowns, const unsigned *known, size_t knowns,
                      const double *seed, double *sensitivity)
{
    return (vbg_fmu_directions ? exact : differences)(f, unknown, unknowns, known, knowns, seed, sensitivity);
}
