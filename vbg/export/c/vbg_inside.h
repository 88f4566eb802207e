/* What the files of a machine and its methods share. */
#ifndef VBG_INSIDE_H
#define VBG_INSIDE_H

#include "vbg_machine.h"

#define VBG_FLAT 1e-10 /* of the largest value seen: a switching function this small has no sign */
#define VBG_LOST 1e-6 /* gap after projection [rad, or lengths of rows] that ends a run */

/* Instants that are equal but for rounding: functions of time are smooth up to `before` and from
   `after` on; output rows from `first` to `last` lie on it. */
typedef struct vbg_instant {
    double at, before, after, first, last;
} vbg_instant;

vbg_instant vbg_next(const vbg *v);
int vbg_go_past(vbg *v, const vbg_instant *instant, double *x);
void vbg_normalise(const vbg *v, double *x);
void vbg_project_once(vbg *v, double t, double *x);
int vbg_project_here(vbg *v, double t, double *x);
double vbg_condition_now(vbg *v);
const double *vbg_effective(vbg *v, double t, const double *x);
const double *vbg_values(vbg *v, double t, const double *x);
void vbg_begin_modes(vbg *v, double t, double *x);

/* Which functions at (t, x), whose values are `value`, have crossed zero by more than their rounding:
   `root` 1, 0 of the others; whether any has. `since` becomes t where one is not beyond zero. */
int vbg_look(vbg *v, double t, const double *x);

/* Below which values of modes' functions are rounding; 0 of the others. */
const double *vbg_rounding(vbg *v, double t, const double *x);
const double *vbg_terms(vbg *v, double t, const double *x);
void vbg_keep_signs(vbg *v);

/* VBG_UNDEFINED where the `value` of a function that is more than a kink is no number. */
vbg_status vbg_defined(vbg *v);
void vbg_pass(vbg *v, double t, double *x);

/* Turns of parts at (t, x): where a run begins; VBG_HALF_TURN where one has passed half a turn since
   the state that was kept last; that of the last look is kept; VBG_HALF_TURN in the place of
   VBG_STEP_TOO_SMALL where one is about to. */
const double *vbg_turns(vbg *v, double t, const double *x);
void vbg_begin_turns(vbg *v, double t, const double *x);
vbg_status vbg_look_at_turns(vbg *v, double t, const double *x);
void vbg_keep_turns(vbg *v);
vbg_status vbg_before_half_a_turn(vbg *v, double t, const double *x, vbg_status status);

/* One accepted step from x, not past `bound`: from s.t_before to s.t_step, its end is `raw`, the
   rates there are in K behind those of 12 stages, x and `before` are still its beginning. */
vbg_status vbg_step(vbg *v, double bound);
vbg_status vbg_radau_step(vbg *v, double bound);

/* The polynomial of the step; 0 where it or one of the three stages that only it needs strays from
   the motion, as in a stiff model. */
int vbg_make_dense(vbg *v);

/* The state inside the step. */
void vbg_between(const vbg *v, double t, double *x);
void vbg_radau_between(const vbg *v, double t, double *x);

/* Rates from x, and a first step of a method of this order. */
void vbg_restart(vbg *v, double bound, double order);

/* The error norm, larger where the step of length h ends beside a singular posture; -1: it must
   not go on. */
double vbg_checked(vbg *v, double norm, double h);

double vbg_tolerance(const vbg *v, int state);

/* What of the size of each state at (t, x) its tolerance is besides, into `relative`: vbg_rtol, of
   a store whose law is not proportional for what makes its effort only. */
void vbg_weigh(vbg *v, double t, const double *x);
double vbg_rtol(const vbg *v);
int vbg_all_finite(const double *x, int n);

#endif
