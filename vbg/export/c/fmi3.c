/* The functions of FMI 3.0 (fmi-standard.org) for one machine. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "vbg_fmu.h"

typedef enum { OK, WARNING, DISCARD, ERROR, FATAL } fmi3Status;
typedef uint32_t fmi3ValueReference;
typedef void (*fmi3LogMessageCallback)(void *, fmi3Status, const char *, const char *);
typedef void (*fmi3IntermediateUpdateCallback)(void *, double, bool, bool, bool, bool, bool *, double *);

#define FMI3(type) VBG_EXPORT type
#define STATUS(good) ((good) ? OK : ERROR)

static void say(vbg_fmu *f, int failed, const char *text)
{
    fmi3LogMessageCallback tell;
    memcpy(&tell, &f->logger, sizeof tell); /* a function's address in an object's */
    if (tell) tell(f->environment, failed ? ERROR : WARNING, failed ? "logStatusError" : "logStatusWarning", text);
}

/* In front of the end `to` of a step: an importer that hears of the integrator's steps may read
   all variables, set inputs, and ask for an earlier end. */
static void between(vbg_fmu *f, double *to)
{
    fmi3IntermediateUpdateCallback tell;
    bool wants = false;
    double end = f->k.t;
    memcpy(&tell, &f->updater, sizeof tell);
    tell(f->environment, f->k.t, f->inputs_change, true, true, f->early, &wants, &end);
    if (wants && f->early && end < *to) *to = end > f->k.t ? end : f->k.t;
}

static void *made(const char *name, const char *token, int co_simulation, void *environment, fmi3LogMessageCallback log)
{
    const char *why = "";
    vbg_fmu *f = vbg_fmu_new(name, token, co_simulation, &why);
    if (!f) {
        if (log) log(environment, ERROR, "logStatusError", why);
        return 0;
    }
    f->environment = environment;
    memcpy(&f->logger, &log, sizeof f->logger);
    f->log = say;
    return f;
}

FMI3(const char *) fmi3GetVersion(void) { return "3.0"; }

FMI3(fmi3Status) fmi3SetDebugLogging(void *i, bool on, size_t n, const char *const categories[])
{
    (void)i; (void)on; (void)n; (void)categories;
    return OK;
}

FMI3(void *) fmi3InstantiateModelExchange(const char *name, const char *token, const char *resources, bool visible,
                                          bool logging, void *environment, fmi3LogMessageCallback log)
{
    (void)resources; (void)visible; (void)logging;
    return made(name, token, 0, environment, log);
}

FMI3(void *) fmi3InstantiateCoSimulation(const char *name, const char *token, const char *resources, bool visible,
                                         bool logging, bool event_mode, bool early, const fmi3ValueReference needed[],
                                         size_t n, void *environment, fmi3LogMessageCallback log,
                                         fmi3IntermediateUpdateCallback intermediate)
{
    (void)resources; (void)visible; (void)logging; (void)needed; (void)n;
    vbg_fmu *f = made(name, token, 1, environment, log);
    if (f && !vbg_fmu_fixed()) {
        f->events = event_mode;
        f->early = early;
        f->between = intermediate ? between : 0;
        memcpy(&f->updater, &intermediate, sizeof f->updater);
    }
    return f;
}

FMI3(void *) fmi3InstantiateScheduledExecution(const char *name, const char *token, const char *resources, bool visible,
                                               bool logging, void *environment, fmi3LogMessageCallback log, void *clock,
                                               void *lock, void *unlock)
{
    (void)name; (void)token; (void)resources; (void)visible; (void)logging; (void)environment; (void)log;
    (void)clock; (void)lock; (void)unlock;
    return 0;
}

FMI3(void) fmi3FreeInstance(void *i) { vbg_fmu_free(i); }

FMI3(fmi3Status) fmi3EnterInitializationMode(void *i, bool tolerance_defined, double tolerance, double start,
                                             bool stop_defined, double stop)
{
    vbg_fmu *f = i;
    (void)stop_defined; (void)stop;
    if (!f || f->k.phase != VBG_INSTANTIATED || start < 0.0 || start > 0.0) return ERROR; /* machines start at t = 0 */
    if (tolerance_defined && !vbg_fmu_tolerance(f, tolerance)) return ERROR;
    f->k.phase = VBG_INITIALIZATION;
    return OK;
}

FMI3(fmi3Status) fmi3ExitInitializationMode(void *i)
{
    vbg_fmu *f = i;
    if (!f || f->k.phase != VBG_INITIALIZATION) return ERROR;
    if (!vbg_fmu_begin(f)) return ERROR;
    f->k.phase = f->co_simulation && !f->events ? VBG_STEPPING : VBG_EVENT_MODE;
    return OK;
}

FMI3(fmi3Status) fmi3EnterEventMode(void *i)
{
    vbg_fmu *f = i;
    if (!f || f->k.phase != (f->co_simulation && f->events ? VBG_STEPPING : VBG_CONTINUOUS)) return ERROR;
    f->k.phase = VBG_EVENT_MODE;
    return STATUS(vbg_fmu_enter_event(f));
}

FMI3(fmi3Status) fmi3Terminate(void *i)
{
    vbg_fmu *f = i;
    if (!f) return ERROR;
    f->k.phase = VBG_TERMINATED;
    return OK;
}

FMI3(fmi3Status) fmi3Reset(void *i)
{
    if (!i) return ERROR;
    vbg_fmu_reset(i);
    return OK;
}

FMI3(fmi3Status) fmi3GetFloat64(void *i, const fmi3ValueReference vr[], size_t n, double values[], size_t m)
{
    int good = i && n == m;
    for (size_t k = 0; good && k < n; k++) good = vbg_fmu_get(i, vr[k], values + k);
    return STATUS(good);
}

FMI3(fmi3Status) fmi3SetFloat64(void *i, const fmi3ValueReference vr[], size_t n, const double values[], size_t m)
{
    int good = i && n == m;
    for (size_t k = 0; good && k < n; k++) good = vbg_fmu_set(i, vr[k], values[k]);
    return STATUS(good);
}

/* There are no variables of other types. */
#define NONE(Name, type)                                                                                             \
    FMI3(fmi3Status) fmi3Get##Name(void *i, const fmi3ValueReference vr[], size_t n, type values[], size_t m)       \
    {                                                                                                                \
        (void)i; (void)vr; (void)values; (void)m;                                                                    \
        return STATUS(n == 0);                                                                                       \
    }                                                                                                                \
    FMI3(fmi3Status) fmi3Set##Name(void *i, const fmi3ValueReference vr[], size_t n, const type values[], size_t m) \
    {                                                                                                                \
        (void)i; (void)vr; (void)values; (void)m;                                                                    \
        return STATUS(n == 0);                                                                                       \
    }

NONE(Float32, float)
NONE(Int8, int8_t)
NONE(UInt8, uint8_t)
NONE(Int16, int16_t)
NONE(UInt16, uint16_t)
NONE(Int32, int32_t)
NONE(UInt32, uint32_t)
NONE(Int64, int64_t)
NONE(UInt64, uint64_t)
NONE(Boolean, bool)

typedef const char *text;
NONE(String, text)

FMI3(fmi3Status) fmi3GetBinary(void *i, const fmi3ValueReference vr[], size_t n, size_t sizes[], const uint8_t *values[], size_t m)
{
    (void)i; (void)vr; (void)sizes; (void)values; (void)m;
    return STATUS(n == 0);
}

FMI3(fmi3Status) fmi3SetBinary(void *i, const fmi3ValueReference vr[], size_t n, const size_t sizes[], const uint8_t *const values[], size_t m)
{
    (void)i; (void)vr; (void)sizes; (void)values; (void)m;
    return STATUS(n == 0);
}

FMI3(fmi3Status) fmi3GetClock(void *i, const fmi3ValueReference vr[], size_t n, bool values[])
{
    (void)i; (void)vr; (void)values;
    return STATUS(n == 0);
}

FMI3(fmi3Status) fmi3SetClock(void *i, const fmi3ValueReference vr[], size_t n, const bool values[])
{
    (void)i; (void)vr; (void)values;
    return STATUS(n == 0);
}

FMI3(fmi3Status) fmi3GetNumberOfVariableDependencies(void *i, fmi3ValueReference vr, size_t *n)
{
    (void)i; (void)vr; (void)n;
    return ERROR;
}

FMI3(fmi3Status) fmi3GetVariableDependencies(void *i, fmi3ValueReference vr, size_t *a, fmi3ValueReference *b, size_t *c, int *d, size_t n)
{
    (void)i; (void)vr; (void)a; (void)b; (void)c; (void)d; (void)n;
    return ERROR;
}

FMI3(fmi3Status) fmi3GetFMUState(void *i, void **state)
{
    if (!i || !state) return ERROR;
    if (!*state) *state = malloc(vbg_fmu_state_size(i));
    if (!*state) return ERROR;
    vbg_fmu_save(i, *state);
    return OK;
}

FMI3(fmi3Status) fmi3SetFMUState(void *i, void *state)
{
    if (!i || !state) return ERROR;
    vbg_fmu_load(i, state);
    return OK;
}

FMI3(fmi3Status) fmi3FreeFMUState(void *i, void **state)
{
    (void)i;
    if (state) {
        free(*state);
        *state = 0;
    }
    return OK;
}

FMI3(fmi3Status) fmi3SerializedFMUStateSize(void *i, void *state, size_t *size)
{
    if (!i || !state || !size) return ERROR;
    *size = vbg_fmu_state_size(i);
    return OK;
}

FMI3(fmi3Status) fmi3SerializeFMUState(void *i, void *state, uint8_t bytes[], size_t size)
{
    if (!i || !state || size < vbg_fmu_state_size(i)) return ERROR;
    memcpy(bytes, state, vbg_fmu_state_size(i));
    return OK;
}

FMI3(fmi3Status) fmi3DeserializeFMUState(void *i, const uint8_t bytes[], size_t size, void **state)
{
    if (!i || !state || size != vbg_fmu_state_size(i)) return ERROR;
    if (!*state) *state = malloc(size);
    if (!*state) return ERROR;
    memcpy(*state, bytes, size);
    return OK;
}

FMI3(fmi3Status) fmi3GetDirectionalDerivative(void *i, const fmi3ValueReference unknown[], size_t unknowns,
                                              const fmi3ValueReference known[], size_t knowns, const double seed[],
                                              size_t seeds, double sensitivity[], size_t sensitivities)
{
    if (!i || seeds != knowns || sensitivities != unknowns) return ERROR;
    return STATUS(vbg_fmu_direction(i, unknown, unknowns, known, knowns, seed, sensitivity));
}

FMI3(fmi3Status) fmi3GetAdjointDerivative(void *i, const fmi3ValueReference u[], size_t nu, const fmi3ValueReference k[],
                                          size_t nk, const double seed[], size_t ns, double out[], size_t no)
{
    (void)i; (void)u; (void)nu; (void)k; (void)nk; (void)seed; (void)ns; (void)out; (void)no;
    return ERROR;
}

FMI3(fmi3Status) fmi3EnterConfigurationMode(void *i) { return STATUS(i); }
FMI3(fmi3Status) fmi3ExitConfigurationMode(void *i) { return STATUS(i); }

#define NO_CLOCK(Name, A, B)                                                                             \
    FMI3(fmi3Status) Name(void *i, const fmi3ValueReference vr[], size_t n, A a, B b)                   \
    {                                                                                                    \
        (void)i; (void)vr; (void)a; (void)b;                                                             \
        return STATUS(n == 0);                                                                           \
    }
NO_CLOCK(fmi3GetIntervalDecimal, double *, int *)
NO_CLOCK(fmi3GetShiftFraction, uint64_t *, uint64_t *)
NO_CLOCK(fmi3SetIntervalFraction, const uint64_t *, const uint64_t *)
NO_CLOCK(fmi3SetShiftFraction, const uint64_t *, const uint64_t *)

FMI3(fmi3Status) fmi3GetIntervalFraction(void *i, const fmi3ValueReference vr[], size_t n, uint64_t *a, uint64_t *b, int *c)
{
    (void)i; (void)vr; (void)a; (void)b; (void)c;
    return STATUS(n == 0);
}

FMI3(fmi3Status) fmi3GetShiftDecimal(void *i, const fmi3ValueReference vr[], size_t n, double *a)
{
    (void)i; (void)vr; (void)a;
    return STATUS(n == 0);
}

FMI3(fmi3Status) fmi3SetIntervalDecimal(void *i, const fmi3ValueReference vr[], size_t n, const double *a)
{
    (void)i; (void)vr; (void)a;
    return STATUS(n == 0);
}

FMI3(fmi3Status) fmi3SetShiftDecimal(void *i, const fmi3ValueReference vr[], size_t n, const double *a)
{
    (void)i; (void)vr; (void)a;
    return STATUS(n == 0);
}

FMI3(fmi3Status) fmi3EvaluateDiscreteStates(void *i) { return STATUS(i); }

FMI3(fmi3Status) fmi3UpdateDiscreteStates(void *i, bool *again, bool *terminate, bool *nominals, bool *values,
                                          bool *next_defined, double *next)
{
    vbg_fmu *f = i;
    int changed = 0, others = 0;
    if (!f || f->k.phase != VBG_EVENT_MODE) return ERROR;
    const int good = vbg_fmu_update(f, &changed, &others, next);
    *again = false;
    *nominals = others;
    *terminate = !good;
    *values = changed;
    *next_defined = *next < 1e300;
    return STATUS(good);
}

FMI3(fmi3Status) fmi3EnterContinuousTimeMode(void *i)
{
    vbg_fmu *f = i;
    if (!f || f->co_simulation || f->k.phase != VBG_EVENT_MODE) return ERROR;
    f->k.phase = VBG_CONTINUOUS;
    vbg_fmu_leave_event(f);
    return OK;
}

FMI3(fmi3Status) fmi3CompletedIntegratorStep(void *i, bool no_return, bool *event, bool *terminate)
{
    vbg_fmu *f = i;
    int enter = 0;
    (void)no_return;
    if (!f || f->k.phase != VBG_CONTINUOUS) return ERROR;
    const int good = vbg_fmu_completed(f, &enter);
    *event = enter;
    *terminate = !good;
    return STATUS(good);
}

FMI3(fmi3Status) fmi3SetTime(void *i, double t)
{
    if (!i) return ERROR;
    vbg_fmu_set_time(i, t);
    return OK;
}

FMI3(fmi3Status) fmi3SetContinuousStates(void *i, const double x[], size_t n)
{
    return STATUS(i && n == vbg_fmu_states() && vbg_fmu_set_states(i, x));
}

FMI3(fmi3Status) fmi3GetContinuousStateDerivatives(void *i, double rates[], size_t n)
{
    if (!i || n != vbg_fmu_states()) return ERROR;
    return vbg_fmu_rates(i, rates) ? OK : DISCARD;
}

FMI3(fmi3Status) fmi3GetEventIndicators(void *i, double indicators[], size_t n)
{
    if (!i || n != vbg_fmu_switches()) return ERROR;
    return vbg_fmu_indicators(i, indicators) ? OK : DISCARD;
}

FMI3(fmi3Status) fmi3GetContinuousStates(void *i, double x[], size_t n)
{
    if (!i || n != vbg_fmu_states()) return ERROR;
    vbg_fmu_get_states(i, x);
    return OK;
}

FMI3(fmi3Status) fmi3GetNominalsOfContinuousStates(void *i, double nominals[], size_t n)
{
    if (!i || n != vbg_fmu_states()) return ERROR;
    vbg_fmu_nominals(i, nominals);
    return OK;
}

FMI3(fmi3Status) fmi3GetNumberOfEventIndicators(void *i, size_t *n)
{
    *n = vbg_fmu_switches();
    return STATUS(i);
}

FMI3(fmi3Status) fmi3GetNumberOfContinuousStates(void *i, size_t *n)
{
    *n = vbg_fmu_states();
    return STATUS(i);
}

FMI3(fmi3Status) fmi3EnterStepMode(void *i)
{
    vbg_fmu *f = i;
    if (!f || !f->co_simulation || f->k.phase != VBG_EVENT_MODE) return ERROR;
    f->k.phase = VBG_STEPPING;
    return OK;
}

FMI3(fmi3Status) fmi3GetOutputDerivatives(void *i, const fmi3ValueReference vr[], size_t n, const int32_t orders[], double values[], size_t m)
{
    (void)i; (void)vr; (void)orders; (void)values; (void)m;
    return STATUS(n == 0);
}

FMI3(fmi3Status) fmi3DoStep(void *i, double from, double length, bool no_return, bool *event, bool *terminate, bool *early, double *reached)
{
    vbg_fmu *f = i;
    (void)no_return;
    if (!f || f->k.phase != VBG_STEPPING) return ERROR;
    const int good = vbg_fmu_step(f, from, length, reached);
    *event = f->events && f->v.s.stopped;
    *early = good && *reached < from + length;
    *terminate = !good;
    return STATUS(good);
}

FMI3(fmi3Status) fmi3ActivateModelPartition(void *i, fmi3ValueReference clock, double t)
{
    (void)i; (void)clock; (void)t;
    return ERROR;
}
