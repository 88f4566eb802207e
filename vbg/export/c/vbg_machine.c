/* Rates, outputs, constraints and events of a machine; see vbg_machine.h. */
#include "vbg_machine.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "vbg_inside.h"

#define PROJECTIONS 8 /* Newton steps at most, and in a step of fixed length */
#define ONE 1
#define ROUNDS 20     /* changes of modes that may follow from one event, and in a step of fixed length */
#define FEW 4
#define NEAR (8.0 * DBL_EPSILON)   /* relative distance kept from an instant on both sides */
#define EQUAL (64.0 * DBL_EPSILON) /* of times that are equal but for rounding */

const char *vbg_status_text(vbg_status status)
{
    switch (status) {
    case VBG_OK: return "ok";
    case VBG_STEP_TOO_SMALL:
        return "the steps have become too small: a singular posture, or a stiff model";
    case VBG_NOT_FINITE: return "a law has no value here: a rate is not finite";
    case VBG_OPEN: return "the joints cannot be kept closed: the end of a reach, or drives that contradict";
    case VBG_SINGULAR: return "the machine is beside a posture where joints lose their grip";
    case VBG_CHATTER: return "something switches endlessly at one instant";
    case VBG_HALF_TURN:
        return "the ends of a bushing or of an element of a beam are turned by half a turn against each other: its law"
               " has two opposite torques there, and none beyond";
    case VBG_UNDEFINED: return "what switches has no value, as the root of a negative number";
    default: return "the run has failed before";
    }
}

/* -- memory ------------------------------------------------------------------------------------ */

static double *take(double **at, long words)
{
    double *here = *at;
    if (here) *at += words;
    return here;
}

static long places(vbg *v, const vbg_model *m, double *memory)
{
    double *at = memory;
    const long n = m->states, s = m->switches, square = m->implicit ? n * n : 0;
    const long adaptive = m->step > 0.0 ? 0 : 1;
    const long words[] = {m->rate->words,     m->recorded->words, m->output->words, m->residual->words,
                          m->correction->words, m->measure->words,  m->update->words, m->events->words,
                          m->effective->words, m->terms->words,    m->turns->words};
    const long own[] = {n, adaptive * n, n, adaptive * n, adaptive * VBG_STAGES * n, adaptive * VBG_POWERS * n,
                        n, adaptive * n, adaptive * n, adaptive * 3 * m->stretched,
                        m->rows, s, s, s, s, m->clocks, 2 * m->variables, m->tuning->parameters,
                        square, square, 2 * square, 2 * (m->implicit ? n : 0), n, s, s, s, s, s, m->parts, m->parts};
    long total = 0;
    for (int i = 0; i < 11; i++) total += words[i];
    for (int i = 0; i < 30; i++) total += own[i];
    if (!v) return total;
    v->memory = memory;
    v->rate = take(&at, words[0]);
    v->recorded = take(&at, words[1]);
    v->output = take(&at, words[2]);
    v->residual = take(&at, words[3]);
    v->correction = take(&at, words[4]);
    v->measure = take(&at, words[5]);
    v->update = take(&at, words[6]);
    v->event = take(&at, words[7]);
    v->effective = take(&at, words[8]);
    v->terms = take(&at, words[9]);
    v->turns = take(&at, words[10]);
    v->x = take(&at, n);
    v->f = take(&at, own[1]);
    v->raw = take(&at, n);
    v->before = take(&at, own[3]);
    v->K = take(&at, own[4]);
    v->F = take(&at, own[5]);
    v->trial = take(&at, n);
    v->scale = take(&at, own[7]);
    v->relative = take(&at, own[8]);
    v->part = take(&at, own[9]);
    v->kept = take(&at, m->rows);
    v->signs = take(&at, s);
    v->size = take(&at, s);
    v->value = take(&at, s);
    v->root = take(&at, s);
    v->count = take(&at, m->clocks);
    v->slope = take(&at, 2 * m->variables);
    v->parameter = take(&at, m->tuning->parameters);
    v->jacobian = take(&at, square);
    v->real = take(&at, square);
    v->complex = take(&at, 2 * square);
    v->pivot = take(&at, m->implicit ? 2 * n : 0);
    v->ahead = take(&at, n);
    v->rounded = take(&at, s);
    v->wrong = take(&at, s);
    v->since = take(&at, s);
    v->late = take(&at, s);
    v->turned = take(&at, s);
    v->side = take(&at, m->parts);
    v->next_side = take(&at, m->parts);
    return total;
}

long vbg_doubles(const vbg_model *model) { return places(0, model, 0); }

void vbg_place(vbg *v, double *memory) { places(v, v->m, memory); }

/* Number i that follows the parameters. */
static double followed(const vbg *v, int i)
{
    const vbg_tuning *g = v->m->tuning;
    double sum = 0.0;
    for (int term = g->first[i]; term < g->first[i + 1]; term++) {
        double value = g->factor[term];
        for (int p = 0; p < g->parameters; p++) value *= pow(v->parameter[p], g->exponent[term * g->parameters + p]);
        sum += value;
    }
    return g->sign[i] * pow(sum, g->outer[i]);
}

int vbg_tune(vbg *v, int parameter, double value, double *x)
{
    const vbg_tuning *g = v->m->tuning;
    double *const works[] = {v->rate,    v->recorded, v->output, v->residual, v->correction,
                             v->measure, v->update,   v->event,  v->effective, v->terms, v->turns};
    if (!(value >= g->low[parameter] && value <= g->high[parameter])) return 0;
    const double before = v->parameter[parameter];
    for (int i = 0; i < g->words; i++) {
        double *word = g->tape[i] == VBG_START ? x + g->at[i] : works[g->tape[i]] + g->at[i];
        v->parameter[parameter] = before;
        if (g->tape[i] == VBG_START && fabs(*word - followed(v, i)) > 0.0) continue;
        v->parameter[parameter] = value;
        *word = followed(v, i);
    }
    v->parameter[parameter] = value;
    return 1;
}

void vbg_open(vbg *v, const vbg_model *m, double *memory)
{
    memset(v, 0, sizeof *v);
    v->m = m;
    v->s.newton = PROJECTIONS;
    v->s.rounds = ROUNDS;
    const long words = places(v, m, memory);
    for (long i = 0; i < words; i++) memory[i] = 0.0;
    vbg_prepare(m->rate, v->rate);
    vbg_prepare(m->recorded, v->recorded);
    vbg_prepare(m->output, v->output);
    vbg_prepare(m->residual, v->residual);
    vbg_prepare(m->correction, v->correction);
    vbg_prepare(m->measure, v->measure);
    vbg_prepare(m->update, v->update);
    vbg_prepare(m->events, v->event);
    vbg_prepare(m->effective, v->effective);
    vbg_prepare(m->terms, v->terms);
    vbg_prepare(m->turns, v->turns);
    for (int i = 0; i < m->states; i++) v->x[i] = m->start[i];
    for (int i = 0; i < m->rows; i++) v->kept[i] = m->kept[i];
    for (int i = 0; i < m->tuning->parameters; i++) v->parameter[i] = m->tuning->value[i];
    for (int i = 0; i < m->tuning->words; i++)
        if (m->tuning->tape[i] == VBG_START) v->x[m->tuning->at[i]] = followed(v, i);
    vbg_tolerances(v, m->rtol, m->atol);
}

const char *vbg_about(const vbg *v)
{
    if (v->s.about > 0) return v->m->part_names[v->s.about - 1];
    return v->s.about < 0 ? v->m->switch_names[-1 - v->s.about] : "";
}

void vbg_tolerances(vbg *v, double rtol, double atol)
{
    v->s.rtol = rtol;
    v->s.atol = atol;
    /* constraints are held two digits tighter than the integration */
    v->s.position_tol = fmax(fmax(1e-2 * atol, 1e-13), v->m->rounding);
    v->s.velocity_tol = fmax(1e-1 * rtol, 1e-12);
}

int vbg_all_finite(const double *x, int n)
{
    for (int i = 0; i < n; i++)
        if (!isfinite(x[i])) return 0;
    return 1;
}

/* -- evaluation --------------------------------------------------------------------------------- */

static const double *evaluate(const vbg *v, const vbg_tape *tape, double *work, double t, const double *x)
{
    const int n = v->m->states;
    if (tape->segments == 0 && !tape->straight && tape->outputs == 0) return work;
    memcpy(work, x, (size_t)n * sizeof *x);
    work[n] = t;
    vbg_run(tape, work, v->kept);
    return work + tape->first;
}

const double *vbg_rates(vbg *v, double t, const double *x)
{
    const vbg_model *m = v->m;
    v->s.rates++;
    const double *found = evaluate(v, m->rate, v->rate, t, x);
    for (int i = 0; i < m->variables; i++) /* inputs stand still, or follow a polynomial */
        v->rate[m->rate->first + m->variable_at[i]] = v->slope[2 * i] + v->slope[2 * i + 1] * (t - v->s.sloped);
    return found;
}

const double *vbg_efforts(vbg *v, double t, const double *x)
{
    return evaluate(v, v->m->recorded, v->recorded, t, x) + v->m->states;
}

const double *vbg_outputs(vbg *v, double t, const double *x)
{
    const int n = v->m->states;
    if (v->m->rows > 0)
        memcpy(v->output + n + 1, vbg_efforts(v, t, x), (size_t)v->m->rows * sizeof *x);
    return evaluate(v, v->m->output, v->output, t, x);
}

const double *vbg_switching(vbg *v, double t, const double *x)
{
    return evaluate(v, v->m->events, v->event, t, x);
}

const double *vbg_effective(vbg *v, double t, const double *x)
{
    return evaluate(v, v->m->effective, v->effective, t, x);
}

const double *vbg_terms(vbg *v, double t, const double *x)
{
    return evaluate(v, v->m->terms, v->terms, t, x);
}

const double *vbg_turns(vbg *v, double t, const double *x)
{
    return evaluate(v, v->m->turns, v->turns, t, x);
}

double vbg_condition_now(vbg *v)
{
    v->s.condition = v->m->rows > 0 ? vbg_condition(v->m->rate, v->rate, v->kept) : 1.0;
    return v->s.condition;
}

/* -- constraints ---------------------------------------------------------------------------------- */

void vbg_normalise(const vbg *v, double *x)
{
    for (int i = 0; i < v->m->quaternions; i++) {
        double *q = x + v->m->quaternion[i];
        const double size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3]);
        for (int k = 0; k < 4; k++) q[k] /= size;
    }
}

/* Joint coordinates from the posture; angles keep their turns. */
static void measure(vbg *v, double t, double *x)
{
    const vbg_model *m = v->m;
    if (m->measured == 0) return;
    const double *found = evaluate(v, m->measure, v->measure, t, x);
    for (int i = 0; i < m->measured; i++) {
        const double period = m->period[i];
        double *to = x + m->measured_at[i];
        const double turns = period > 0.0 ? rint((*to - found[i]) / period) : 0.0;
        *to = found[i] + period * turns;
    }
}

/* Residuals of the rows, in their lengths. */
static double largest(const vbg_model *m, const double *values)
{
    double most = 0.0;
    for (int i = 0; i < m->rows; i++) {
        if (!isfinite(values[i])) return INFINITY;
        if (fabs(values[i]) / m->length[i] > most) most = fabs(values[i]) / m->length[i];
    }
    return most;
}

/* One Newton step of posture or momenta for the residual that stands at `left`. */
static void correct(vbg *v, double t, double *x, const double *left, const vbg_steps *steps)
{
    const int n = v->m->states;
    for (int i = 0; i < v->m->rows; i++) v->correction[n + 1 + i] = -left[i];
    evaluate(v, v->m->correction, v->correction, t, x);
    for (int i = 0; i < steps->count; i++) x[steps->to[i]] += v->correction[steps->from[i]];
}

int vbg_project(vbg *v, double t, double *x, double position_tol, double velocity_tol)
{
    const vbg_model *m = v->m;
    const int rows = m->rows;
    vbg_normalise(v, x);
    if (rows == 0) return 0;
    int moved = 0;
    measure(v, t, x);
    const double *left = evaluate(v, m->residual, v->residual, t, x);
    for (int i = 0; i < v->s.newton && largest(m, left) > position_tol; i++) {
        correct(v, t, x, left, &m->posture);
        vbg_normalise(v, x);
        measure(v, t, x);
        left = evaluate(v, m->residual, v->residual, t, x);
        moved = 1;
    }
    v->s.left = largest(m, left);
    if (moved || largest(m, left + rows) > velocity_tol) {
        correct(v, t, x, left + rows, &m->velocity);
        moved = 1;
    }
    return moved;
}

void vbg_project_once(vbg *v, double t, double *x)
{
    vbg_normalise(v, x);
    if (v->m->rows == 0) return;
    measure(v, t, x);
    correct(v, t, x, evaluate(v, v->m->residual, v->residual, t, x), &v->m->posture);
    vbg_normalise(v, x);
    measure(v, t, x);
    const double *left = evaluate(v, v->m->residual, v->residual, t, x);
    v->s.left = largest(v->m, left);
    correct(v, t, x, left + v->m->rows, &v->m->velocity);
}

int vbg_project_here(vbg *v, double t, double *x) { return vbg_project(v, t, x, v->s.position_tol, v->s.velocity_tol); }

/* -- clocks ------------------------------------------------------------------------------------------- */

static double spread(const vbg *v, double t) { return EQUAL * (fabs(t) + v->m->spread_scale); }

vbg_instant vbg_next(const vbg *v)
{
    const vbg_model *m = v->m;
    double first = INFINITY;
    for (int i = 0; i < m->clocks; i++)
        first = fmin(first, m->clock_first[i] + v->count[i] * m->clock_period[i]);
    if (v->s.passed < m->singles) first = fmin(first, m->single[v->s.passed]);
    vbg_instant found = {first, first, first, first, first};
    if (!isfinite(first)) return found;
    double last = first;
    const double reach = first + spread(v, first);
    for (int i = 0; i < m->clocks; i++) {
        const double t = m->clock_first[i] + v->count[i] * m->clock_period[i];
        if (t <= reach && t > last) last = t;
    }
    if (v->s.passed < m->singles && m->single[v->s.passed] <= reach)
        last = fmax(last, m->single[v->s.passed]);
    found.before = first - NEAR * (fabs(first) + m->spread_scale);
    found.after = fmax(last + NEAR * (fabs(last) + m->spread_scale), 0.0);
    found.first = first - spread(v, first);
    found.last = last + spread(v, last);
    return found;
}

double vbg_next_instant(const vbg *v) { return vbg_next(v).at; }

static void begin_clocks(vbg *v)
{
    const vbg_model *m = v->m;
    v->s.passed = 0;
    while (v->s.passed < m->singles && m->single[v->s.passed] < -spread(v, 0.0)) v->s.passed++;
    for (int i = 0; i < m->clocks; i++) {
        v->count[i] = fmax(0.0, trunc(-m->clock_first[i] / m->clock_period[i]) - 1.0);
        while (m->clock_first[i] + v->count[i] * m->clock_period[i] < -spread(v, 0.0)) v->count[i] += 1.0;
    }
}

int vbg_go_past(vbg *v, const vbg_instant *instant, double *x)
{
    const vbg_model *m = v->m;
    const int passed = v->s.passed;
    int sampled = 0;
    const double *next = m->samples > 0 ? evaluate(v, m->update, v->update, instant->after, x) : 0;
    while (v->s.passed < m->singles && m->single[v->s.passed] <= instant->last) v->s.passed++;
    for (int i = 0; i < m->samples; i++) { /* all values are of before any is written */
        const int clock = m->sample_clock[i];
        const int due = clock >= 0 ? m->clock_first[clock] + v->count[clock] * m->clock_period[clock] <= instant->last
                                   : passed <= -1 - clock && -1 - clock < v->s.passed;
        if (due) {
            x[m->sample_to[i]] = next[i];
            sampled = 1;
        }
    }
    for (int i = 0; i < m->clocks; i++)
        if (m->clock_first[i] + v->count[i] * m->clock_period[i] <= instant->last) v->count[i] += 1.0;
    return sampled;
}

vbg_status vbg_begin(vbg *v)
{
    const vbg_model *m = v->m;
    double t = 0.0;
    begin_clocks(v);
    const vbg_instant first = vbg_next(v);
    if (first.first <= 0.0) t = first.after;
    for (int i = 0; i < m->switches; i++)
        if (m->mode_at[i] >= 0) v->x[m->mode_at[i]] = 0.0;
    vbg_begin_modes(v, t, v->x);
    if (first.first <= 0.0 && vbg_go_past(v, &first, v->x)) vbg_begin_modes(v, t, v->x);
    vbg_project(v, t, v->x, 1e-12, 1e-12);
    vbg_begin_turns(v, t, v->x);
    v->s.regular = v->s.condition = 1e300;
    v->s.t = v->s.t_before = v->s.t_step = t;
    v->s.fresh = 1;
    v->s.status = VBG_OK;
    if (m->step > 0.0) {
        v->s.newton = ONE;
        v->s.rounds = FEW;
    }
    return v->s.left > VBG_LOST ? VBG_OPEN : VBG_OK;
}
