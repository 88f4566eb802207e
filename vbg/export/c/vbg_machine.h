/* A machine as data, one run of it, and the methods that integrate it.

   A machine's equations are redundant: momenta, poses and joint coordinates x with

       x' = f(x, t),   0 = Phi(x, t) at posture level,   0 = r(x, t) at velocity level,

   and the constraint efforts (joint forces) come with the rates.  A run holds its numbers in one
   block of doubles that the caller gives; nothing else is taken or kept. */
#ifndef VBG_MACHINE_H
#define VBG_MACHINE_H

#include "vbg_tape.h"

/* x[to[i]] += work[from[i]] of the tape `correction` */
typedef struct vbg_steps {
    int count;
    const int *from, *to;
} vbg_steps;

/* Numbers that follow parameters: number `at` of the workspace of tape `tape`, in the order of
   vbg_model, of x for VBG_START, is sign * S^outer; S is the sum of terms first[i] ...
   first[i + 1] - 1, factor * p_0^exponent[0] * p_1^exponent[1] ... */
typedef struct vbg_tuning {
    int parameters;
    const char *const *names;
    const double *value, *low, *high; /* in the model file; the range that was tried */
    int words;
    const int *tape, *at, *first;
    const double *outer, *sign, *factor, *exponent;
} vbg_tuning;

#define VBG_START 11

typedef struct vbg_model {
    const char *name, *key; /* key: hash of what it was made of */
    int states, rows;       /* of x; of the constraints */
    const char *const *state_names;
    const double *start;     /* x at t = 0, on the constraints */
    const double *kept;      /* (rows): see vbg_run */
    const double *length;    /* (rows): of each, by which its gaps and speeds count as angles */
    double rounding;         /* of positions, in gaps */
    const double *tolerance; /* absolute ones of the states for atol = 1 */
    double rtol, atol, t_end, output_step;
    int implicit;            /* the adaptive method is Radau IIA instead of DOP853 */
    double step;             /* of vbg_tick; 0: the model is for the adaptive methods */

    const vbg_tape *rate;       /* rates, and behind them the constraint efforts */
    const vbg_tape *recorded;   /* the same with the smallest efforts; may be `rate` */
    const vbg_tape *output;     /* signals from states, time and efforts */
    const vbg_tape *residual;   /* Phi and r */
    const vbg_tape *correction; /* steps onto the constraints */
    const vbg_tape *measure;    /* joint coordinates from the posture */
    const vbg_tape *update;     /* sampled states at their instants */
    const vbg_tape *events;     /* switching functions */
    const vbg_tape *effective;  /* what of the states `stretched_at` makes an effort, effort / slope */
    const vbg_tape *terms;      /* of each mode's function, how large the numbers are that make it */
    const vbg_tape *turns;      /* how `parts` are turned: see vbg_turns.c */

    vbg_steps posture, velocity;
    int quaternions;
    const int *quaternion; /* first of each in x */
    int stretched; /* stores whose law is not proportional: places in x */
    const int *stretched_at;
    int measured;
    const int *measured_at;
    const double *period; /* 0: none */

    int switches;
    const char *const *switch_names;
    const int *mode_at; /* place in x of the mode it sets, or -1 */
    const int *quiet;   /* a kink, no event in words */
    int parts; /* bushings and elements of beams: their law ends at half a turn */
    const char *const *part_names;
    int clocks;
    const double *clock_first, *clock_period;
    int singles;
    const double *single; /* instants, in order */
    double spread_scale;
    int samples; /* words of `update` */
    const int *sample_to;
    const int *sample_clock; /* its clock; -1 - number of a single instant */
    int pauses;
    const double *pause; /* times that no step may pass: a source changes fast there */
    double longest;      /* step that passes no pulse of an exponential diode unseen */

    int signals;
    const char *const *signal_names, *const *signal_units;
    int variables; /* inputs: states that the outside sets */
    const char *const *variable_names, *const *variable_units;
    const int *variable_at;
    int continuous; /* states that are integrated, in the order of x */
    const int *continuous_at;
    const vbg_tuning *tuning;
} vbg_model;

typedef enum vbg_status {
    VBG_OK = 0,
    VBG_STEP_TOO_SMALL, /* a singular posture or a stiff model */
    VBG_NOT_FINITE,     /* a law has no value here */
    VBG_OPEN,           /* the joints cannot be kept closed */
    VBG_SINGULAR,       /* beside a posture where joints lose their grip */
    VBG_CHATTER,        /* something switches endlessly at one instant */
    VBG_HALF_TURN,      /* the ends of a part are turned by half a turn: vbg_about */
    VBG_UNDEFINED,      /* what switches has no value: vbg_about */
    VBG_ENDED           /* the run has failed before */
} vbg_status;

/* What is to be said where vbg_scalars.unsettled is not zero. */
#define VBG_UNSETTLED "no modes were found that agree with their conditions; the last that were tried were taken"

const char *vbg_status_text(vbg_status status);

#define VBG_STAGES 16
#define VBG_POWERS 7
#define VBG_RECENT 101

/* Numbers of a run that are no doubles, and single ones: copied as they are. */
typedef struct vbg_scalars {
    double t;        /* the state x belongs to it */
    double t_before; /* beginning of the last step */
    double t_step;   /* its end, or of the part that is used */
    double h;        /* next step of the adaptive method */
    double rtol, atol, position_tol, velocity_tol;
    double left;                   /* largest gap after a projection, in lengths of rows */
    double condition, regular;     /* of the constraint matrix: now, at its best */
    double largest;                /* step so far */
    double last_condition;
    double event_time;
    double h_factors, h_old, error_old; /* of Radau: step of its factors; last step, its error */
    double sloped; /* since when inputs follow polynomials */
    double recent[VBG_RECENT]; /* times of the last events */
    double ticks;                       /* steps of vbg_tick */
    int pending, dense, fresh, passed, events;
    unsigned steps, rates;
    unsigned unsettled; /* events behind which no modes were found that agree with their conditions */
    int newton, rounds; /* at most: Newton's steps onto the joints; changes of modes at one instant */
    int sloped_here, stale; /* of Radau: its Jacobian is of x; is to be made anew */
    int stopped; /* in front of the event that is pending */
    int about;   /* what the status is about: a part, counted from 1; -1, ...: a switching function; 0: none */
    vbg_status status;
} vbg_scalars;

typedef struct vbg {
    const vbg_model *m;
    vbg_scalars s;
    double *memory;
    /* places in memory */
    double *rate, *recorded, *output, *residual, *correction, *measure, *update, *event, *effective, *terms, *turns;
    double *x, *f, *raw, *before, *K, *F, *trial, *scale, *relative, *part, *kept;
    double *signs, *size, *value, *root, *count;
    double *ahead, *rounded, *wrong, *since, *late, *turned; /* of modes: see vbg_modes.c */
    double *side, *next_side; /* of parts: the sign of cos(a/2), and behind the step that is made */
    double *slope; /* first and second derivative of each input at s.sloped */
    double *parameter;
    double *jacobian, *real, *complex, *pivot; /* of Radau: slopes of the rates, factors, their rows */
} vbg;

/* The name of what the status is about, "" if of nothing. */
const char *vbg_about(const vbg *v);

/* Doubles that a run needs. */
long vbg_doubles(const vbg_model *model);

/* A run in `memory` (vbg_doubles words); begins nothing yet. */
void vbg_open(vbg *v, const vbg_model *model, double *memory);

/* Moves the places of `v` to another block with the same content. */
void vbg_place(vbg *v, double *memory);

/* Another value of a parameter, before vbg_begin: all numbers that follow from it, and the entries
   of x, of vbg_open or a copy of it, that the caller has not set otherwise.  0 where the value is
   out of the range in which it was tried. */
int vbg_tune(vbg *v, int parameter, double value, double *x);

/* The start at t = 0 with the values that x, set by vbg_open or by the caller, holds. */
vbg_status vbg_begin(vbg *v);

/* Tolerances of what follows; constraints are held tighter. */
void vbg_tolerances(vbg *v, double rtol, double atol);

/* Rates f (states) at (t, x). */
const double *vbg_rates(vbg *v, double t, const double *x);

/* Constraint efforts (rows), the smallest where they are not unique. */
const double *vbg_efforts(vbg *v, double t, const double *x);

/* Signals, in the order of signal_names. */
const double *vbg_outputs(vbg *v, double t, const double *x);

/* Switching functions. */
const double *vbg_switching(vbg *v, double t, const double *x);

/* x onto the constraints, in place; whether it was moved. */
int vbg_project(vbg *v, double t, double *x, double position_tol, double velocity_tol);

/* The next instant at which a clock ticks or a function of time jumps; infinity if none. */
double vbg_next_instant(const vbg *v);

/* Modes and samples at an event: `crossed` if a switching function has changed its sign, and
   every instant up to t; x in place.  Whether anything but kinks happened. */
int vbg_settle_events(vbg *v, double t, double *x);

/* Up to `target` with the adaptive method, events located; what is at `target` goes to x.  `beyond`: steps
   may go on beyond it, for no input changes then. */
vbg_status vbg_advance(vbg *v, double target, int beyond, double *x);

/* The same in the ways that are added up in `way`; the time that x belongs to goes to `reached`.
   VBG_BEYOND: steps may go on beyond the target; those of Radau end there, where its error is
   under control.  VBG_TO_EVENT: it stops in front of the first
   event that is more than a kink, s.stopped is 1, and vbg_handle, or whatever goes on from there,
   lets it happen.  VBG_ONE_STEP: it stops where a step ends, too. */
#define VBG_BEYOND 1
#define VBG_TO_EVENT 2
#define VBG_ONE_STEP 4
vbg_status vbg_advance_by(vbg *v, double target, int way, double *x, double *reached);

/* Lets the event happen in front of which the run has stopped; what is behind it goes to x. */
vbg_status vbg_handle(vbg *v, double *x);

/* The time that the state of vbg_advance at `target` belongs to: behind an instant on which the
   target lies, `target` elsewhere. */
double vbg_time(const vbg *v, double target);

/* One step of fixed length: Runge-Kutta of order 4, one projection, events at its end. */
vbg_status vbg_fixed_step(vbg *v, double h);

/* The same with the step of the model, vbg_model.step: the n-th ends at n * step.  Its work has a
   bound (vbg_fixed.c), it takes no memory, and inputs may be set in x between two of them. */
vbg_status vbg_tick(vbg *v);

/* Inputs have been set in x: goes on from there. */
void vbg_touch(vbg *v);

#endif
