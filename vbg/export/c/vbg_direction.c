/* Directional derivatives of an instance, forward mode; see vbg/export/directions.py for the tapes. */
#include <math.h>
#include <string.h>

#include "vbg_fmu.h"

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

const double *vbg_fmu_along(vbg_fmu *f, double t, const double *y, const double *dx)
{
    const vbg_model *m = f->v.m;
    double *dy = f->trial;
    memcpy(dy, dx, (size_t)m->states * sizeof *dx);
    keep_lengths(f, f->x, y, dy);
    if (!f->co_simulation && m->rows > 0) { /* as the states are put onto the constraints */
        correct(f, t, y, dy, residuals(f, t, y, dy), &m->posture);
        keep_lengths(f, y, y, dy);
        correct(f, t, y, dy, residuals(f, t, y, dy) + m->rows, &m->velocity);
    }
    return along(f, vbg_fmu_directions, f->along, t, y, dy);
}
