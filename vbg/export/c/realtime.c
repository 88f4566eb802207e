/* The machine in steps of STEP_ s.

       ./MACHINE [T_END [EVERY]]   signals as CSV on standard output, a row every EVERY steps
       ./MACHINE time [T_END]      microseconds of a step with all signals, memory

   Exit code 1 where the run does not reach its end. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "MACHINE.h"

/* All that a run needs; another task, core or thread takes a block of its own. */
static double memory[MACHINE_UPPER_DOUBLES];

static void row(vbg *v)
{
    const double *signal = vbg_outputs(v, v->s.t, v->x);
    printf("%.17g", v->s.ticks * v->m->step);
    for (int i = 0; i < v->m->signals; i++) printf(",%.17g", signal[i]);
    putchar('\n');
}

static vbg_status table(vbg *v, double ticks, int every)
{
    vbg_status status = v->s.status;
    printf("time [s]");
    for (int i = 0; i < v->m->signals; i++) printf(",%s [%s]", v->m->signal_names[i], v->m->signal_units[i]);
    putchar('\n');
    row(v);
    while (v->s.ticks < ticks && (status = vbg_tick(v)) == VBG_OK)
        if (fmod(v->s.ticks, every) <= 0.0) row(v);
    return status;
}

static double microseconds(clock_t began) { return 1e6 * (double)(clock() - began) / CLOCKS_PER_SEC; }

/* What a task does in one period; processor time, as fine as clock() of this system. */
static vbg_status timed(vbg *v, double ticks)
{
    vbg_status status = v->s.status;
    double sum = 0.0, worst = 0.0;
    const clock_t began = clock();
    while (v->s.ticks < ticks && status == VBG_OK) {
        const clock_t now = clock();
        status = vbg_tick(v);
        if (status == VBG_OK) sum += vbg_outputs(v, v->s.t, v->x)[0];
        worst = fmax(worst, microseconds(now));
    }
    const double mean = microseconds(began) / fmax(v->s.ticks, 1.0);
    printf("%s: %.0f steps of %g s: %.2f us each, the longest %.0f us, %.1f kB, gap left %.1e%s\n", v->m->name,
           v->s.ticks, v->m->step, mean, worst, 1e-3 * (double)(sizeof memory + sizeof *v), v->s.left,
           isnan(sum) ? ", a signal is not a number" : "");
    return status;
}

int main(int count, char **given)
{
    const vbg_model *m = &machine_MACHINE;
    const int times = count > 1 && strcmp(given[1], "time") == 0;
    const double t_end = count > 1 + times ? atof(given[1 + times]) : m->t_end;
    const int every = count > 2 && !times ? atoi(given[2]) : 1;
    if (!(t_end >= 0.0) || every < 1 || vbg_doubles(m) > MACHINE_UPPER_DOUBLES) {
        fprintf(stderr, "usage: %s [T_END [EVERY]] | time [T_END]\n", given[0]);
        return 2;
    }
    vbg v;
    vbg_open(&v, m, memory);
    vbg_status status = vbg_begin(&v);
    const double ticks = floor(t_end / m->step + 1e-9);
    if (status == VBG_OK) status = times ? timed(&v, ticks) : table(&v, ticks, every);
    if (status != VBG_OK)
        fprintf(stderr, "%s: stopped at t = %.6g s: %s%s%s\n", m->name, v.s.t, vbg_status_text(status),
                *vbg_about(&v) ? ": " : "", vbg_about(&v));
    return status == VBG_OK ? 0 : 1;
}
