/* The run of the model file: a table of all signals as CSV on standard output.

       ./MACHINE                   its own times, adaptive steps
       ./MACHINE T_END STEP        other ones [s]
       ./MACHINE T_END STEP fixed  Runge-Kutta of order 4 with that step, one projection each

   Exit code 1 where the run does not reach its end; what was computed is in the table. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "MACHINE.h"

static void row(vbg *v, double t, const double *x)
{
    const double *signal = vbg_outputs(v, vbg_time(v, t), x);
    printf("%.17g", t);
    for (int i = 0; i < v->m->signals; i++) printf(",%.17g", signal[i]);
    putchar('\n');
}

static void header(const vbg_model *m)
{
    printf("time [s]");
    for (int i = 0; i < m->signals; i++) printf(",%s [%s]", m->signal_names[i], m->signal_units[i]);
    putchar('\n');
}

int main(int count, char **given)
{
    const vbg_model *m = &machine_MACHINE;
    const double t_end = count > 1 ? atof(given[1]) : m->t_end;
    const double output_step = count > 2 ? atof(given[2]) : m->output_step;
    const int fixed = count > 3 && strcmp(given[3], "fixed") == 0;
    if (!(t_end >= 0.0) || !(output_step > 0.0)) {
        fprintf(stderr, "usage: %s [T_END STEP [fixed]]\n", given[0]);
        return 2;
    }
    double *memory = malloc((size_t)vbg_doubles(m) * sizeof *memory);
    double *x = malloc((size_t)(m->states + 1) * sizeof *x);
    if (!memory || !x) return 2;
    vbg v;
    vbg_open(&v, m, memory);
    vbg_status status = vbg_begin(&v);
    header(m);
    const clock_t began = clock();
    const long rows = (long)floor(t_end / output_step + 1e-9);
    const int last = t_end - (double)rows * output_step > 1e-9 * output_step;
    for (long i = 0; i <= rows + last && status == VBG_OK; i++) {
        const double t = i > rows || (i == rows && !last) ? t_end : (double)i * output_step;
        if (!fixed) {
            status = vbg_advance(&v, t, 1, x);
            if (status == VBG_OK) row(&v, t, x);
        } else {
            if (i > 0) status = vbg_fixed_step(&v, t - (i > rows ? (double)rows : (double)(i - 1)) * output_step);
            if (status == VBG_OK) row(&v, t, v.x);
        }
    }
    const double seconds = (double)(clock() - began) / CLOCKS_PER_SEC;
    fprintf(stderr, "%s: %u steps, %u rates, %d events, %.3g s, %.3g kB\n", m->name, v.s.steps, v.s.rates,
            v.s.events, seconds, (double)vbg_doubles(m) * 8e-3);
    if (v.s.unsettled > 0)
        fprintf(stderr, "%s: at %u events " VBG_UNSETTLED "\n", m->name, v.s.unsettled);
    if (status != VBG_OK)
        fprintf(stderr, "%s: stopped at t = %.6g s: %s%s%s\n", m->name, v.s.t, vbg_status_text(status),
                *vbg_about(&v) ? ": " : "", vbg_about(&v));
    free(memory);
    free(x);
    return status == VBG_OK ? 0 : 1;
}
