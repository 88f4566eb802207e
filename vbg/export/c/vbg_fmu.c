/* One instance of a functional mock-up unit; see vbg_fmu.h. */
#include "vbg_fmu.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vbg_inside.h"

#define DRIFT 1e2 /* relative tolerances that states may drift from the constraints */

#define ON_STEP 1e-6 /* of a fixed step: sums of steps in an importer are that far off after 1e9 of them */

#define RATES 1
#define SIGNALS 2
#define SWITCHES 4

void vbg_fmu_changed(vbg_fmu *f)
{
    f->k.dirty = 1;
    f->k.known = 0;
}

static void *fresh(size_t count, size_t size) { return calloc(count ? count : 1, size); }

int vbg_fmu_fixed(void) { return vbg_fmu_model->step > 0.0; }

vbg_fmu *vbg_fmu_new(const char *name, const char *token, int co_simulation, const char **why)
{
    const vbg_model *m = vbg_fmu_model;
    *why = "the token is that of another machine";
    if (!token || strcmp(token, vbg_fmu_token) != 0) return 0;
    *why = "the unit goes in steps of fixed length: Co-Simulation alone";
    if (vbg_fmu_fixed() && !co_simulation) return 0;
    *why = "there is no memory left";
    vbg_fmu *f = fresh(1, sizeof *f);
    if (!f) return 0;
    const size_t n = (size_t)m->states, own = (size_t)vbg_doubles(m);
    const size_t tilt = vbg_fmu_tilt ? (size_t)vbg_fmu_tilt->words : 0;
    const size_t along = vbg_fmu_directions ? (size_t)vbg_fmu_directions->words : 0;
    const size_t freedoms = (size_t)vbg_fmu_freedoms, chart = freedoms ? freedoms * (n + 5) + 4 * n : 0;
    f->doubles = own + 4 * n + tilt + along + chart;
    f->memory = fresh(f->doubles, sizeof(double));
    f->name = fresh(strlen(name ? name : "") + 1, 1);
    if (!f->memory || !f->name) {
        vbg_fmu_free(f);
        return 0;
    }
    strcpy(f->name, name ? name : "");
    f->x = f->memory + own;
    f->y = f->x + n;
    f->z = f->y + n;
    f->trial = f->z + n;
    f->tilt = f->trial + n;
    f->along = f->tilt + tilt;
    f->coordinates = f->along + along;
    f->chosen = f->coordinates + freedoms;
    f->goal = f->chosen + freedoms;
    f->gap = f->goal + freedoms;
    f->kept = f->gap + freedoms;
    f->basis = f->kept + freedoms;
    f->pace = f->basis + freedoms * n;
    f->way = f->pace + n;
    f->guess = f->way + n;
    f->probe = f->guess + n;
    f->co_simulation = co_simulation;
    f->inputs_change = m->variables > 0;
    vbg_open(&f->v, m, f->memory);
    vbg_fmu_reset(f);
    return f;
}

void vbg_fmu_free(vbg_fmu *f)
{
    if (!f) return;
    free(f->memory);
    free(f->name);
    free(f);
}

void vbg_fmu_reset(vbg_fmu *f)
{
    const size_t n = (size_t)f->v.m->states;
    const double rtol = f->v.m->rtol, atol = f->v.m->atol;
    vbg_open(&f->v, f->v.m, f->memory);
    vbg_tolerances(&f->v, rtol, atol);
    if (vbg_fmu_directions) {
        vbg_prepare(vbg_fmu_tilt, f->tilt);
        vbg_prepare(vbg_fmu_directions, f->along);
    }
    memset(&f->k, 0, sizeof f->k);
    memcpy(f->x, f->v.x, n * sizeof *f->x);
    f->k.passed = -INFINITY;
    vbg_fmu_changed(f);
}

static int fails(vbg_fmu *f, const char *why)
{
    char text[512];
    const char *about = vbg_about(&f->v);
    snprintf(text, sizeof text, "%s at t = %.6g s: %s%s%s", f->v.m->name, f->k.t, why, *about ? ": " : "", about);
    f->k.phase = VBG_FAILED;
    if (f->log) f->log(f, 1, text);
    return 0;
}

/* What the last event is to be warned of. */
static void warn(vbg_fmu *f)
{
    char text[256];
    if (f->v.s.unsettled == f->k.told) return;
    f->k.told = f->v.s.unsettled;
    snprintf(text, sizeof text, "%s up to t = %.6g s: " VBG_UNSETTLED, f->v.m->name, f->k.t);
    if (f->log) f->log(f, 0, text);
}

int vbg_fmu_tolerance(vbg_fmu *f, double tolerance)
{
    if (!(tolerance > 0.0 && tolerance < 1.0)) return 0;
    if (vbg_fmu_fixed()) return 1; /* the length of its steps is what its error follows from */
    vbg_tolerances(&f->v, tolerance, f->v.m->atol / f->v.m->rtol * tolerance);
    return 1;
}

/* -- states on the constraints ------------------------------------------------------------------- */

/* Where functions of time are looked at: on an instant before or behind it. */
double vbg_fmu_seen(const vbg_fmu *f)
{
    const double t = f->k.t;
    if (vbg_fmu_fixed()) return f->v.s.t;
    if (f->co_simulation) return vbg_time(&f->v, t);
    if (t <= f->k.passed) return fmax(f->k.seen, t);
    const vbg_instant next = vbg_next(&f->v);
    return t >= next.first ? fmin(t, next.before) : t;
}

/* y: the states on the constraints, so that what is computed from them does not see the drift. */
const double *vbg_fmu_held(vbg_fmu *f)
{
    if (f->k.dirty && f->k.charted) {
        f->k.lost = !vbg_chart_reach(f, vbg_fmu_seen(f));
        f->k.dirty = 0;
    } else if (f->k.dirty) {
        memcpy(f->y, f->x, (size_t)f->v.m->states * sizeof *f->y);
        if (f->co_simulation) vbg_normalise(&f->v, f->y);
        else vbg_project(&f->v, vbg_fmu_seen(f), f->y, f->v.s.position_tol, 0.0); /* always: smooth */
        f->k.dirty = 0;
    }
    return f->y;
}

int vbg_fmu_begin(vbg_fmu *f)
{
    const size_t n = (size_t)f->v.m->states;
    memcpy(f->v.x, f->x, n * sizeof *f->x);
    const vbg_status status = vbg_begin(&f->v);
    memcpy(f->x, f->v.x, n * sizeof *f->x);
    f->k.t = 0.0;
    f->k.passed = f->v.s.t > 0.0 ? f->v.s.t : -INFINITY;
    f->k.seen = f->v.s.t;
    f->k.touched = f->k.charted = f->k.lost = 0;
    vbg_fmu_changed(f);
    if (status != VBG_OK) return fails(f, vbg_status_text(status));
    if (vbg_fmu_freedoms && !vbg_chart_begin(f, vbg_fmu_seen(f), f->x) && !f->co_simulation)
        return fails(f, vbg_status_text(VBG_SINGULAR));
    vbg_fmu_changed(f);
    return 1;
}

/* Event mode begins with the states as they are, and ends with what the coordinates have become. */
int vbg_fmu_enter_event(vbg_fmu *f)
{
    if (!f->k.charted) return 1;
    memcpy(f->x, vbg_fmu_held(f), (size_t)f->v.m->states * sizeof *f->x);
    f->k.charted = 0;
    return !f->k.lost;
}

void vbg_fmu_leave_event(vbg_fmu *f)
{
    f->k.charted = vbg_fmu_freedoms > 0;
    vbg_fmu_changed(f);
}

/* -- variables --------------------------------------------------------------------------------------- */

static int is_input(const vbg_model *m, int place)
{
    for (int i = 0; i < m->variables; i++)
        if (m->variable_at[i] == place) return 1;
    return 0;
}

/* What has been computed for these states stands in the workspaces still. */
static const double *rates(vbg_fmu *f)
{
    const double *y = vbg_fmu_held(f);
    if (!(f->k.known & RATES)) {
        vbg_rates(&f->v, vbg_fmu_seen(f), y);
        if (f->k.charted) vbg_chart_pace(f, f->v.rate + f->v.m->rate->first);
    }
    f->k.known |= RATES;
    return f->v.rate + f->v.m->rate->first;
}

static const double *signal_values(vbg_fmu *f)
{
    const double *y = vbg_fmu_held(f);
    if (!(f->k.known & SIGNALS)) vbg_outputs(&f->v, vbg_fmu_seen(f), y);
    f->k.known |= SIGNALS;
    return f->v.output + f->v.m->output->first;
}

static const double *switch_values(vbg_fmu *f)
{
    const double *y = vbg_fmu_held(f);
    if (!(f->k.known & SWITCHES)) vbg_values(&f->v, vbg_fmu_seen(f), y);
    f->k.known |= SWITCHES;
    return f->v.value;
}

/* Number of the parameter that a reference means; -1: of none. */
static int parameter(const vbg_model *m, unsigned reference)
{
    const unsigned first = 1 + 2 * (unsigned)m->states + (unsigned)m->signals + (unsigned)m->switches;
    return reference >= first && reference - first < (unsigned)m->tuning->parameters ? (int)(reference - first) : -1;
}

/* The same of a coordinate; `count` and more: of a rate of one; twice that: of their indicator. */
static int coordinate(const vbg_model *m, unsigned reference)
{
    const unsigned first = 1 + 2 * (unsigned)m->states + (unsigned)m->signals + (unsigned)m->switches;
    const unsigned behind = first + (unsigned)m->tuning->parameters, count = (unsigned)vbg_fmu_freedoms;
    return count && reference >= behind && reference - behind <= 2 * count ? (int)(reference - behind) : -1;
}

static int get_coordinate(vbg_fmu *f, int number, double *value)
{
    const int count = vbg_fmu_freedoms;
    if (f->k.phase <= VBG_INITIALIZATION) vbg_chart_begin(f, 0.0, vbg_fmu_held(f));
    const int at = number < 2 * count ? (int)f->chosen[number % count] : 0;
    if (number == 2 * count) *value = vbg_chart_indicator(f);
    else if (number >= count) *value = rates(f)[at];
    else *value = f->k.charted ? f->coordinates[number] : f->x[at] + f->v.m->tolerance[at];
    return !f->k.lost;
}

int vbg_fmu_get(vbg_fmu *f, unsigned reference, double *value)
{
    const vbg_model *m = f->v.m;
    const unsigned n = (unsigned)m->states, signals = (unsigned)m->signals;
    if (coordinate(m, reference) >= 0) return get_coordinate(f, coordinate(m, reference), value);
    if (reference == 0) *value = f->k.t;
    else if (reference <= n) *value = (f->k.charted ? vbg_fmu_held(f) : f->x)[reference - 1];
    else if (reference <= 2 * n) *value = rates(f)[reference - 1 - n];
    else if (reference <= 2 * n + signals) *value = signal_values(f)[reference - 1 - 2 * n];
    else if (reference <= 2 * n + signals + (unsigned)m->switches)
        *value = switch_values(f)[reference - 1 - 2 * n - signals];
    else if (parameter(m, reference) >= 0) *value = f->v.parameter[parameter(m, reference)];
    else return 0;
    return !f->k.lost;
}

int vbg_fmu_set(vbg_fmu *f, unsigned reference, double value)
{
    const vbg_model *m = f->v.m;
    const int place = (int)reference - 1, starting = f->k.phase <= VBG_INITIALIZATION;
    if (parameter(m, reference) >= 0) {
        vbg_fmu_changed(f);
        return starting && vbg_tune(&f->v, parameter(m, reference), value, f->x);
    }
    if (reference == 0 || reference > (unsigned)m->states) return 0;
    if (!is_input(m, place) && !starting) return 0;
    if (fabs(f->x[place] - value) > 0.0 || !isfinite(value)) {
        vbg_fmu_changed(f);
        f->k.touched = 1;
    }
    f->x[place] = value;
    return isfinite(value) ? 1 : 0;
}

int vbg_fmu_slope(vbg_fmu *f, unsigned reference, int order, double value)
{
    const vbg_model *m = f->v.m;
    if (order < 1 || order > 2 || !isfinite(value) || vbg_fmu_fixed()) return 0;
    for (int i = 0; i < m->variables; i++)
        if (m->variable_at[i] + 1 == (int)reference) {
            f->v.slope[2 * i + order - 1] = value;
            f->k.touched = 1;
            return 1;
        }
    return 0;
}

size_t vbg_fmu_states(void) { return (size_t)(vbg_fmu_freedoms ? vbg_fmu_freedoms : vbg_fmu_model->continuous); }

size_t vbg_fmu_switches(void) { return (size_t)(vbg_fmu_model->switches + (vbg_fmu_freedoms > 0)); }

int vbg_fmu_set_states(vbg_fmu *f, const double *states)
{
    const vbg_model *m = f->v.m;
    for (int k = 0; k < vbg_fmu_freedoms; k++) f->coordinates[k] = states[k];
    for (int i = 0; i < m->continuous && !vbg_fmu_freedoms; i++) f->x[m->continuous_at[i]] = states[i];
    vbg_fmu_changed(f);
    return 1;
}

void vbg_fmu_get_states(const vbg_fmu *f, double *states)
{
    const vbg_model *m = f->v.m;
    for (int k = 0; k < vbg_fmu_freedoms; k++) states[k] = f->coordinates[k];
    for (int i = 0; i < m->continuous && !vbg_fmu_freedoms; i++) states[i] = f->x[m->continuous_at[i]];
}

void vbg_fmu_set_time(vbg_fmu *f, double t)
{
    f->k.t = t;
    vbg_fmu_changed(f);
}

int vbg_fmu_rates(vbg_fmu *f, double *to)
{
    const vbg_model *m = f->v.m;
    const double *found = rates(f);
    const int count = (int)vbg_fmu_states();
    int good = !f->k.lost;
    for (int i = 0; i < count; i++) {
        to[i] = found[vbg_fmu_freedoms ? (int)f->chosen[i] : m->continuous_at[i]];
        if (!isfinite(to[i])) good = 0;
    }
    return good;
}

/* A mode's indicator is off zero on its own side, so that what has just happened is not seen
   again. */
int vbg_fmu_indicators(vbg_fmu *f, double *indicators)
{
    const double *found = switch_values(f);
    for (int i = 0; i < f->v.m->switches; i++) indicators[i] = found[i] + 1e-10 * f->v.size[i] * f->v.signs[i];
    if (vbg_fmu_freedoms) indicators[f->v.m->switches] = vbg_chart_indicator(f);
    return !f->k.lost;
}

/* What a unit of effort or flow is in each store, the size of the machine, or 1. */
void vbg_fmu_nominals(const vbg_fmu *f, double *nominals)
{
    const vbg_model *m = f->v.m;
    const int count = (int)vbg_fmu_states();
    for (int i = 0; i < count; i++)
        nominals[i] = m->tolerance[vbg_fmu_freedoms ? (int)f->chosen[i] : m->continuous_at[i]];
}

/* -- Model Exchange ------------------------------------------------------------------------------------ */

/* Inputs that have been set go into the run. */
static void take_inputs(vbg_fmu *f)
{
    const vbg_model *m = f->v.m;
    double *x = f->trial;
    if (!f->k.touched) return;
    if (f->v.s.stopped) vbg_handle(&f->v, x);
    for (int i = 0; i < m->variables; i++) f->v.x[m->variable_at[i]] = f->x[m->variable_at[i]];
    f->v.s.sloped = f->k.t;
    vbg_touch(&f->v);
    f->k.touched = 0;
}

/* Event mode of Co-Simulation: the event in front of which the last step has stopped, and inputs. */
static int handled(vbg_fmu *f, int *values_changed, double *next)
{
    const size_t n = (size_t)f->v.m->states;
    memcpy(f->z, f->x, n * sizeof *f->x);
    const int touched = f->k.touched;
    take_inputs(f);
    const vbg_status status = vbg_handle(&f->v, f->x);
    if (touched) memcpy(f->x, f->v.x, n * sizeof *f->x);
    *values_changed = memcmp(f->z, f->x, n * sizeof *f->x) != 0;
    *next = vbg_next(&f->v).at;
    vbg_fmu_changed(f);
    warn(f);
    return status == VBG_OK ? 1 : fails(f, vbg_status_text(status));
}

int vbg_fmu_update(vbg_fmu *f, int *values_changed, int *nominals_changed, double *next)
{
    *nominals_changed = 0;
    if (f->co_simulation) return handled(f, values_changed, next);
    const size_t n = (size_t)f->v.m->states;
    memcpy(f->z, f->x, n * sizeof *f->x);
    for (vbg_instant i = vbg_next(&f->v); i.first <= f->k.t; i = vbg_next(&f->v)) {
        vbg_project_here(&f->v, i.before, f->x);
        vbg_go_past(&f->v, &i, f->x);
        vbg_begin_modes(&f->v, i.after, f->x);
        vbg_project_here(&f->v, i.after, f->x);
        f->k.passed = i.last;
        f->k.seen = i.after;
    }
    vbg_fmu_changed(f);
    vbg_settle_events(&f->v, vbg_fmu_seen(f), f->x);
    *values_changed = memcmp(f->z, f->x, n * sizeof *f->x) != 0;
    *next = vbg_next(&f->v).at;
    vbg_fmu_changed(f);
    warn(f);
    if (f->v.s.left > VBG_LOST) return fails(f, vbg_status_text(VBG_OPEN));
    if (!vbg_fmu_freedoms) return 1;
    const int others = vbg_chart_settle(f, vbg_fmu_seen(f), f->x);
    *nominals_changed = others > 0;
    *values_changed |= others > 0;
    vbg_fmu_changed(f);
    return others < 0 ? fails(f, vbg_status_text(VBG_SINGULAR)) : 1;
}

/* States that have drifted from the constraints are put back in event mode. */
int vbg_fmu_completed(vbg_fmu *f, int *enter_event_mode)
{
    const vbg_model *m = f->v.m;
    double drift = 0.0;
    const double *y = vbg_fmu_held(f);
    switch_values(f);
    vbg_status status = vbg_defined(&f->v);
    if (status == VBG_OK) status = vbg_look_at_turns(&f->v, vbg_fmu_seen(f), y);
    vbg_keep_turns(&f->v);
    if (status != VBG_OK) return fails(f, vbg_status_text(status));
    if (f->k.charted) {
        *enter_event_mode = vbg_chart_completed(f, vbg_fmu_seen(f));
        return f->k.lost ? fails(f, vbg_status_text(VBG_SINGULAR)) : 1;
    }
    for (int i = 0; i < m->continuous; i++) {
        const int at = m->continuous_at[i];
        drift = fmax(drift, fabs(y[at] - f->x[at]) / m->tolerance[at]);
    }
    *enter_event_mode = drift > DRIFT * f->v.s.rtol;
    return f->v.s.left > VBG_LOST ? fails(f, vbg_status_text(VBG_OPEN)) : 1;
}

/* -- Co-Simulation ----------------------------------------------------------------------------------------- */

/* Steps of fixed length, as many as there are in `length`; inputs stand still in them.  The work of
   each has the bound of vbg_tick. */
static int ticked(vbg_fmu *f, double length, double *reached)
{
    const vbg_model *m = f->v.m;
    const double ticks = floor(length / m->step + 0.5), beside = length - ticks * m->step;
    if (fabs(beside) > ON_STEP * m->step) return fails(f, "a step is no whole number of the unit's own, fixed ones");
    for (int i = 0; i < m->variables; i++) f->v.x[m->variable_at[i]] = f->x[m->variable_at[i]];
    for (double n = 0.0; n < ticks; n += 1.0) {
        const vbg_status status = vbg_tick(&f->v);
        if (status != VBG_OK) return fails(f, vbg_status_text(status));
        f->k.t = *reached = f->v.s.ticks * m->step;
    }
    memcpy(f->x, f->v.x, (size_t)m->states * sizeof *f->x);
    vbg_fmu_changed(f);
    return 1;
}

int vbg_fmu_step(vbg_fmu *f, double from, double length, double *reached)
{
    const vbg_model *m = f->v.m;
    double to = from + length;
    *reached = f->k.t;
    if (f->k.phase == VBG_FAILED || !(length >= 0.0) || fabs(from - f->k.t) > 1e-9 * (1.0 + fabs(from))) return 0;
    if (vbg_fmu_fixed()) return ticked(f, length, reached);
    take_inputs(f);
    const int way = (f->inputs_change ? 0 : VBG_BEYOND) | (f->early ? VBG_TO_EVENT : 0) | (f->between ? VBG_ONE_STEP : 0);
    for (;;) {
        const vbg_status status = vbg_advance_by(&f->v, to, way, f->trial, reached);
        warn(f);
        if (status != VBG_OK) {
            f->k.t = *reached = fmax(f->k.t, fmin(*reached, f->v.s.t));
            return fails(f, vbg_status_text(status));
        }
        memcpy(f->x, f->trial, (size_t)m->states * sizeof *f->x);
        f->k.t = *reached;
        vbg_fmu_changed(f);
        if (*reached >= to || f->v.s.stopped) break;
        f->k.phase = VBG_INTERMEDIATE;
        f->between(f, &to);
        f->k.phase = VBG_STEPPING;
        take_inputs(f);
        if (*reached >= to) break;
    }
    for (int i = 0; i < 2 * m->variables; i++) { /* what is not given again stands still */
        if (fabs(f->v.slope[i]) > 0.0) f->k.touched = 1;
        f->v.slope[i] = 0.0;
    }
    return 1;
}

/* -- kept states ---------------------------------------------------------------------------------------------- */

size_t vbg_fmu_state_size(const vbg_fmu *f) { return sizeof(vbg_kept) + f->doubles * sizeof(double); }

void vbg_fmu_save(const vbg_fmu *f, void *state)
{
    vbg_kept kept = f->k;
    kept.s = f->v.s;
    memcpy(state, &kept, sizeof kept);
    memcpy((char *)state + sizeof kept, f->memory, f->doubles * sizeof(double));
}

void vbg_fmu_load(vbg_fmu *f, const void *state)
{
    memcpy(&f->k, state, sizeof f->k);
    f->v.s = f->k.s;
    memcpy(f->memory, (const char *)state + sizeof f->k, f->doubles * sizeof(double));
}
