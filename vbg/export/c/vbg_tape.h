/* The tape: block operations over one workspace of doubles, and what plays it.

   A tape is what causality leaves to be computed, in an order fixed once: segments of operations
   of one kind and shape, 13 words each

       op  count  first  accumulate  m k n  d_row d_col  a_row a_col  b_row b_col

   with four operands (d, a, b, c: offsets in the workspace) and a factor for each operation; see
   vbg/assemble/program/program.py. No memory is taken and nothing is kept between calls but the
   roots of algebraic loops, which stand in the workspace. */
#ifndef VBG_TAPE_H
#define VBG_TAPE_H

typedef struct vbg_tape {
    int words;               /* of the workspace */
    int inputs;              /* words at its beginning: states, time, others */
    int first, outputs;      /* words of the outputs, one behind the other */
    int segments;
    const int *segment;      /* (segments, 13) */
    const int *operand;      /* (operations, 4) */
    const double *factor;    /* (operations) */
    const int *stream;       /* eliminations */
    int spare;               /* words behind the others, for the smallest solutions */
    int constants;           /* words of the workspace that are not zero at first */
    const int *constant_at;
    const double *constant;
    void (*straight)(double *work, const double *kept); /* the same without tables, or 0 */
    int factors_at, factors; /* where the factors stand in the workspace; 0: nowhere, they are fixed */
} vbg_tape;

/* The workspace (words) as it is before the first run. */
void vbg_prepare(const vbg_tape *tape, double *work);

/* All outputs from the inputs; kept: 1 for each constraint row that is eliminated with, 0 for
   those that depend on these. */
void vbg_run(const vbg_tape *tape, double *work, const double *kept);

/* Largest diagonal over pivot of the constraint matrix eliminated last: 1 at best. */
double vbg_condition(const vbg_tape *tape, const double *work, const double *kept);

/* LDL^T of the matrix of a schedule in the stream; pivots below `least` of their diagonal are held
   there, or count as zero where rows are `coming` and going. */
void vbg_factor(const int *stream, int schedule, double *work, const double *kept, double least, int coming);

/* The solution x of a right-hand side, both places in the workspace; the smallest one where a copy
   of the matrix stands at `matrix` (if not 0), with work space at `spare` and `columns`; `solved`:
   what stands at `rhs` is one. */
void vbg_solve(const int *stream, int schedule, double *work, int x, int rhs, int matrix, int spare, int columns,
               const double *kept, int solved);

/* D = A^-1 D with A (m, m), used up, and D (m, n): partial pivoting of scaled rows. */
void vbg_solve_dense(double *a, double *d, int m, int n);

/* The same and once more for what is left of D; behind A there is room for A and D. */
void vbg_solve_refined(double *a, double *d, int m, int n);

/* D (n) = the row of the table (m, n) that x is in: the last that begins at or before x. */
void vbg_lookup(double *d, double x, const double *starts, const double *table, int m, int n);

#endif
