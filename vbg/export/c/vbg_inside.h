/* What vbg_machine.c and vbg_run.c share. */
#ifndef VBG_INSIDE_H
#define VBG_INSIDE_H

#include "vbg_machine.h"

#define VBG_LOST 1e-6 /* gap after projection [m or rad] that ends a run */

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
const double *vbg_values(vbg *v, double t, const double *x);
void vbg_begin_modes(vbg *v, double t, double *x);
int vbg_crossed(const vbg *v, int i);
void vbg_keep_signs(vbg *v);
void vbg_pass(vbg *v, double t, double *x);

#endif
