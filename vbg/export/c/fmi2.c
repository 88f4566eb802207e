/* The functions of FMI 2.0 (fmi-standard.org) for one machine. */
#include <stdlib.h>
#include <string.h>

#include "vbg_fmu.h"

typedef enum { OK, WARNING, DISCARD, ERROR, FATAL, PENDING } fmi2Status;
typedef void (*fmi2CallbackLogger)(void *, const char *, fmi2Status, const char *, const char *, ...);

typedef struct {
    fmi2CallbackLogger logger;
    void *(*allocate)(size_t, size_t);
    void (*release)(void *);
    void (*finished)(void *, fmi2Status);
    void *environment;
} fmi2CallbackFunctions;

typedef struct {
    int needed, terminate, nominals, values, next_defined;
    double next;
} fmi2EventInfo;

#define FMI2(type) VBG_EXPORT type
#define STATUS(good) ((good) ? OK : ERROR)

static void say(vbg_fmu *f, int failed, const char *text)
{
    const fmi2CallbackFunctions *calls = f->logger;
    if (!calls || !calls->logger) return;
    if (failed) calls->logger(f->environment, f->name, ERROR, "logStatusError", "%s", text);
    else calls->logger(f->environment, f->name, WARNING, "logStatusWarning", "%s", text);
}

FMI2(const char *) fmi2GetTypesPlatform(void) { return "default"; }
FMI2(const char *) fmi2GetVersion(void) { return "2.0"; }

FMI2(fmi2Status) fmi2SetDebugLogging(void *i, int on, size_t n, const char *const categories[])
{
    (void)i; (void)on; (void)n; (void)categories;
    return OK;
}

FMI2(void *) fmi2Instantiate(const char *name, int kind, const char *guid, const char *resources,
                             const fmi2CallbackFunctions *calls, int visible, int logging)
{
    (void)resources; (void)visible; (void)logging;
    const char *why = "";
    vbg_fmu *f = vbg_fmu_new(name, guid, kind == 1, &why);
    if (!f) {
        if (calls && calls->logger)
            calls->logger(calls->environment, name, ERROR, "logStatusError", why);
        return 0;
    }
    union { const fmi2CallbackFunctions *given; void *kept; } both = {calls};
    f->logger = both.kept;
    f->environment = calls ? calls->environment : 0;
    f->log = say;
    return f;
}

FMI2(void) fmi2FreeInstance(void *i) { vbg_fmu_free(i); }

FMI2(fmi2Status) fmi2SetupExperiment(void *i, int tolerance_defined, double tolerance, double start, int stop_defined, double stop)
{
    vbg_fmu *f = i;
    (void)stop_defined; (void)stop;
    if (!f || f->k.phase != VBG_INSTANTIATED || start < 0.0 || start > 0.0) return ERROR; /* machines start at t = 0 */
    return STATUS(!tolerance_defined || vbg_fmu_tolerance(f, tolerance));
}

FMI2(fmi2Status) fmi2EnterInitializationMode(void *i)
{
    vbg_fmu *f = i;
    if (!f || f->k.phase != VBG_INSTANTIATED) return ERROR;
    f->k.phase = VBG_INITIALIZATION;
    return OK;
}

FMI2(fmi2Status) fmi2ExitInitializationMode(void *i)
{
    vbg_fmu *f = i;
    if (!f || f->k.phase != VBG_INITIALIZATION) return ERROR;
    if (!vbg_fmu_begin(f)) return ERROR;
    f->k.phase = f->co_simulation ? VBG_STEPPING : VBG_EVENT_MODE;
    return OK;
}

FMI2(fmi2Status) fmi2Terminate(void *i)
{
    vbg_fmu *f = i;
    if (!f) return ERROR;
    f->k.phase = VBG_TERMINATED;
    return OK;
}

FMI2(fmi2Status) fmi2Reset(void *i)
{
    if (!i) return ERROR;
    vbg_fmu_reset(i);
    return OK;
}

FMI2(fmi2Status) fmi2GetReal(void *i, const unsigned vr[], size_t n, double values[])
{
    int good = i != 0;
    for (size_t k = 0; good && k < n; k++) good = vbg_fmu_get(i, vr[k], values + k);
    return STATUS(good);
}

FMI2(fmi2Status) fmi2SetReal(void *i, const unsigned vr[], size_t n, const double values[])
{
    int good = i != 0;
    for (size_t k = 0; good && k < n; k++) good = vbg_fmu_set(i, vr[k], values[k]);
    return STATUS(good);
}

/* There are no variables of other types. */
#define NONE(Name, type)                                                                         \
    FMI2(fmi2Status) fmi2Get##Name(void *i, const unsigned vr[], size_t n, type values[])       \
    {                                                                                            \
        (void)i; (void)vr; (void)values;                                                         \
        return STATUS(n == 0);                                                                   \
    }                                                                                            \
    FMI2(fmi2Status) fmi2Set##Name(void *i, const unsigned vr[], size_t n, const type values[]) \
    {                                                                                            \
        (void)i; (void)vr; (void)values;                                                         \
        return STATUS(n == 0);                                                                   \
    }

typedef const char *text;
NONE(Integer, int)
NONE(Boolean, int)
NONE(String, text)

FMI2(fmi2Status) fmi2GetFMUstate(void *i, void **state)
{
    if (!i || !state) return ERROR;
    if (!*state) *state = malloc(vbg_fmu_state_size(i));
    if (!*state) return ERROR;
    vbg_fmu_save(i, *state);
    return OK;
}

FMI2(fmi2Status) fmi2SetFMUstate(void *i, void *state)
{
    if (!i || !state) return ERROR;
    vbg_fmu_load(i, state);
    return OK;
}

FMI2(fmi2Status) fmi2FreeFMUstate(void *i, void **state)
{
    (void)i;
    if (state) {
        free(*state);
        *state = 0;
    }
    return OK;
}

FMI2(fmi2Status) fmi2SerializedFMUstateSize(void *i, void *state, size_t *size)
{
    if (!i || !state || !size) return ERROR;
    *size = vbg_fmu_state_size(i);
    return OK;
}

FMI2(fmi2Status) fmi2SerializeFMUstate(void *i, void *state, char bytes[], size_t size)
{
    if (!i || !state || size < vbg_fmu_state_size(i)) return ERROR;
    memcpy(bytes, state, vbg_fmu_state_size(i));
    return OK;
}

FMI2(fmi2Status) fmi2DeSerializeFMUstate(void *i, const char bytes[], size_t size, void **state)
{
    if (!i || !state || size != vbg_fmu_state_size(i)) return ERROR;
    if (!*state) *state = malloc(size);
    if (!*state) return ERROR;
    memcpy(*state, bytes, size);
    return OK;
}

FMI2(fmi2Status) fmi2GetDirectionalDerivative(void *i, const unsigned unknown[], size_t unknowns, const unsigned known[],
                                              size_t knowns, const double seed[], double sensitivity[])
{
    return STATUS(i && vbg_fmu_direction(i, unknown, unknowns, known, knowns, seed, sensitivity));
}

FMI2(fmi2Status) fmi2EnterEventMode(void *i)
{
    vbg_fmu *f = i;
    if (!f || f->co_simulation || f->k.phase != VBG_CONTINUOUS) return ERROR;
    f->k.phase = VBG_EVENT_MODE;
    return STATUS(vbg_fmu_enter_event(f));
}

FMI2(fmi2Status) fmi2NewDiscreteStates(void *i, fmi2EventInfo *info)
{
    vbg_fmu *f = i;
    int changed = 0, nominals = 0;
    if (!f || f->k.phase != VBG_EVENT_MODE) return ERROR;
    const int good = vbg_fmu_update(f, &changed, &nominals, &info->next);
    info->needed = 0;
    info->nominals = nominals;
    info->terminate = !good;
    info->values = changed;
    info->next_defined = info->next < 1e300;
    return STATUS(good);
}

FMI2(fmi2Status) fmi2EnterContinuousTimeMode(void *i)
{
    vbg_fmu *f = i;
    if (!f || f->co_simulation || f->k.phase != VBG_EVENT_MODE) return ERROR;
    f->k.phase = VBG_CONTINUOUS;
    vbg_fmu_leave_event(f);
    return OK;
}

FMI2(fmi2Status) fmi2CompletedIntegratorStep(void *i, int no_return, int *event, int *terminate)
{
    vbg_fmu *f = i;
    (void)no_return;
    if (!f || f->k.phase != VBG_CONTINUOUS) return ERROR;
    const int good = vbg_fmu_completed(f, event);
    *terminate = !good;
    return STATUS(good);
}

FMI2(fmi2Status) fmi2SetTime(void *i, double t)
{
    if (!i) return ERROR;
    vbg_fmu_set_time(i, t);
    return OK;
}

FMI2(fmi2Status) fmi2SetContinuousStates(void *i, const double x[], size_t n)
{
    return STATUS(i && n == vbg_fmu_states() && vbg_fmu_set_states(i, x));
}

FMI2(fmi2Status) fmi2GetDerivatives(void *i, double rates[], size_t n)
{
    if (!i || n != vbg_fmu_states()) return ERROR;
    return vbg_fmu_rates(i, rates) ? OK : DISCARD;
}

FMI2(fmi2Status) fmi2GetEventIndicators(void *i, double indicators[], size_t n)
{
    if (!i || n != vbg_fmu_switches()) return ERROR;
    return vbg_fmu_indicators(i, indicators) ? OK : DISCARD;
}

FMI2(fmi2Status) fmi2GetContinuousStates(void *i, double x[], size_t n)
{
    if (!i || n != vbg_fmu_states()) return ERROR;
    vbg_fmu_get_states(i, x);
    return OK;
}

FMI2(fmi2Status) fmi2GetNominalsOfContinuousStates(void *i, double nominals[], size_t n)
{
    if (!i || n != vbg_fmu_states()) return ERROR;
    vbg_fmu_nominals(i, nominals);
    return OK;
}

FMI2(fmi2Status) fmi2SetRealInputDerivatives(void *i, const unsigned vr[], size_t n, const int order[], const double values[])
{
    vbg_fmu *f = i;
    int good = f != 0 && f->co_simulation && (n == 0 || f->k.phase == VBG_STEPPING);
    for (size_t k = 0; good && k < n; k++) good = vbg_fmu_slope(f, vr[k], order[k], values[k]);
    return STATUS(good);
}

FMI2(fmi2Status) fmi2GetRealOutputDerivatives(void *i, const unsigned vr[], size_t n, const int order[], double values[])
{
    (void)i; (void)vr; (void)order; (void)values;
    return STATUS(n == 0);
}

FMI2(fmi2Status) fmi2DoStep(void *i, double from, double length, int no_return)
{
    vbg_fmu *f = i;
    double reached = 0.0;
    (void)no_return;
    if (!f || f->k.phase != VBG_STEPPING) return ERROR;
    return STATUS(vbg_fmu_step(f, from, length, &reached));
}

FMI2(fmi2Status) fmi2CancelStep(void *i)
{
    (void)i;
    return ERROR;
}

/* Steps are done when they return: nothing is pending. */
#define STATE(Name, type)                                                 \
    FMI2(fmi2Status) fmi2Get##Name(void *i, const int kind, type *value) \
    {                                                                     \
        (void)i; (void)kind; (void)value;                                 \
        return DISCARD;                                                   \
    }
STATE(Status, fmi2Status)
STATE(IntegerStatus, int)
STATE(BooleanStatus, int)
STATE(StringStatus, text)

FMI2(fmi2Status) fmi2GetRealStatus(void *i, const int kind, double *value)
{
    const vbg_fmu *f = i;
    if (!f || kind != 2) return DISCARD;
    *value = f->k.t; /* the last successful time */
    return OK;
}
