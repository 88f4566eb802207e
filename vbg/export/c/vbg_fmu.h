/* One instance of a functional mock-up unit: what FMI 2 and FMI 3 have in common. */
#ifndef VBG_FMU_H
#define VBG_FMU_H

#include <stddef.h>

#include "vbg_machine.h"

#if defined _WIN32
#define VBG_EXPORT __declspec(dllexport)
#else
#define VBG_EXPORT __attribute__((visibility("default")))
#endif

/* What the archive is of; in the file of the machine. */
extern const vbg_model *const vbg_fmu_model;
extern const char *const vbg_fmu_token;
/* Residuals, and rates, signals and switching functions along a direction of the states; 0 where
   derivatives are differences. */
extern const vbg_tape *const vbg_fmu_tilt, *const vbg_fmu_directions;

/* Coordinates of Model Exchange, those of a posture among them, and the tiers of the states that
   are integrated, in which they are looked for, see vbg_chart.c; 0: the states themselves. */
extern const int vbg_fmu_freedoms, vbg_fmu_postures;
extern const int *const vbg_fmu_tier;
#define VBG_TIERS 7
#define VBG_OTHERS 4 /* the first tier of states that are no posture */

/* Value references: 0 time; 1 + i state i; then the rates of the states, the signals, the event
   indicators, the parameters, the coordinates, their rates, the indicator of their choice. */
typedef enum vbg_phase {
    VBG_INSTANTIATED,
    VBG_INITIALIZATION,
    VBG_EVENT_MODE,
    VBG_CONTINUOUS,
    VBG_STEPPING,
    VBG_INTERMEDIATE, /* inside a step, between two steps of the integrator */
    VBG_TERMINATED,
    VBG_FAILED
} vbg_phase;

/* What is copied as it is when a state is kept; the rest is the block of doubles. */
typedef struct vbg_kept {
    vbg_scalars s;
    double t;            /* time that the outside has set */
    double passed, seen; /* up to the last instant; where functions of time are looked at there */
    double at, moved, limit; /* of coordinates: time of y; posture gone since T; where others are chosen */
    vbg_phase phase;
    int dirty, touched, known;
    unsigned told;     /* events without modes that agree */
    int charted, lost; /* states follow from coordinates; there are none that do */
} vbg_kept;

typedef struct vbg_fmu {
    vbg v;
    vbg_kept k;
    double *x; /* Model Exchange: the states as they were set; Co-Simulation: at time t */
    double *y; /* the same on the constraints */
    double *z, *trial;
    double *tilt, *along; /* workspaces of the tapes */
    double *coordinates, *chosen, *basis; /* see vbg_chart.c: Y, their places in x, T */
    double *pace, *way, *guess, *probe, *goal, *gap, *kept;
    double *memory; /* all doubles */
    size_t doubles;
    int co_simulation, inputs_change;
    int events, early; /* Co-Simulation: event mode is used; a step may end in front of an event */
    void (*log)(struct vbg_fmu *fmu, int failed, const char *text); /* an error, or a warning */
    void (*between)(struct vbg_fmu *fmu, double *to); /* called at the ends of steps before `to`, or 0 */
    void *environment, *logger, *updater;
    char *name;
} vbg_fmu;

/* 0, and the reason in `why`, where there is no such instance. */
vbg_fmu *vbg_fmu_new(const char *name, const char *token, int co_simulation, const char **why);
void vbg_fmu_free(vbg_fmu *f);
void vbg_fmu_reset(vbg_fmu *f);

/* All return 1 where they could do it. */
int vbg_fmu_tolerance(vbg_fmu *f, double tolerance);
int vbg_fmu_begin(vbg_fmu *f);
int vbg_fmu_get(vbg_fmu *f, unsigned reference, double *value);
int vbg_fmu_set(vbg_fmu *f, unsigned reference, double value);
/* Derivative of order 1 or 2 of an input, from now to the end of the next step. */
int vbg_fmu_slope(vbg_fmu *f, unsigned reference, int order, double value);
/* Whether it goes in steps of fixed length, in Co-Simulation alone (vbg_model.step). */
int vbg_fmu_fixed(void);
/* Continuous states of Model Exchange, and event indicators. */
size_t vbg_fmu_states(void);
size_t vbg_fmu_switches(void);
int vbg_fmu_set_states(vbg_fmu *f, const double *states);
void vbg_fmu_get_states(const vbg_fmu *f, double *states);
/* Event mode begins and ends. */
int vbg_fmu_enter_event(vbg_fmu *f);
void vbg_fmu_leave_event(vbg_fmu *f);
void vbg_fmu_set_time(vbg_fmu *f, double t);
int vbg_fmu_rates(vbg_fmu *f, double *to);
int vbg_fmu_indicators(vbg_fmu *f, double *indicators);
void vbg_fmu_nominals(const vbg_fmu *f, double *nominals);
int vbg_fmu_update(vbg_fmu *f, int *values_changed, int *nominals_changed, double *next);
int vbg_fmu_completed(vbg_fmu *f, int *enter_event_mode);
int vbg_fmu_step(vbg_fmu *f, double from, double length, double *reached);
int vbg_fmu_direction(vbg_fmu *f, const unsigned *unknown, size_t unknowns, const unsigned *known, size_t knowns,
                      const double *seed, double *sensitivity);

/* The states on the constraints, the time that functions are looked at, what is to be called where
   states have been set. */
const double *vbg_fmu_held(vbg_fmu *f);
double vbg_fmu_seen(const vbg_fmu *f);
void vbg_fmu_changed(vbg_fmu *f);

/* Coordinates for the state x on the constraints; 0 where there are none. */
int vbg_chart_begin(vbg_fmu *f, double t, const double *x);

/* The same in an event, others where they have become bad: 1; -1 where there are none. */
int vbg_chart_settle(vbg_fmu *f, double t, const double *x);

/* y at the coordinates that have been set; 0 where there is no such state. */
int vbg_chart_reach(vbg_fmu *f, double t);

/* Rates at y, by which the next state is guessed. */
void vbg_chart_pace(vbg_fmu *f, const double *rates);

/* Below zero where other coordinates should be chosen; the same behind a step of the integrator. */
double vbg_chart_indicator(const vbg_fmu *f);
int vbg_chart_completed(vbg_fmu *f, double t);

/* A kept state: vbg_kept and all doubles, one behind the other. */
size_t vbg_fmu_state_size(const vbg_fmu *f);
void vbg_fmu_save(const vbg_fmu *f, void *state);
void vbg_fmu_load(vbg_fmu *f, const void *state);

#endif
