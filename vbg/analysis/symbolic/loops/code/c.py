"""Minimal equations as a C99 program that runs by itself."""

from __future__ import annotations

from collections.abc import Mapping

from vbg.analysis.symbolic.loops.code.coding import (
    Code,
    Function,
    motion_names,
    output_names,
    start_of,
)
from vbg.analysis.symbolic.rewriting.printing import c_code, helpers

_RUN = """
static void exchange(double *a, double *b)
{
    double s = *a;
    *a = *b;
    *b = s;
}

/* a x = b by elimination with pivots: b becomes x, a is lost; 0 if singular */
static int solve(int n, double *a, double *b)
{
    for (int k = 0; k < n; k++) {
        int p = k;
        for (int i = k + 1; i < n; i++) if (fabs(a[i * n + k]) > fabs(a[p * n + k])) p = i;
        if (a[p * n + k] == 0.0) return 0;
        for (int j = 0; j < n; j++) exchange(a + k * n + j, a + p * n + j);
        exchange(b + k, b + p);
        for (int i = 0; i < n; i++) {
            if (i == k) continue;
            double s = a[i * n + k] / a[k * n + k];
            for (int j = k; j < n; j++) a[i * n + j] -= s * a[k * n + j];
            b[i] -= s * b[k];
        }
    }
    for (int k = 0; k < n; k++) b[k] /= a[k * n + k];
    return 1;
}

/* Q (M x B, orthogonal columns) and R of the dependent coordinates' columns d of the Jacobian, by
   Gram and Schmidt, twice; rows may be more than columns (redundant loops); 0 if singular */
static int factors(const double *jac, double *q, double *r)
{
    memset(r, 0, (B * B + 1) * sizeof *r);
    for (int j = 0; j < B; j++) {
        double whole = 0.0, rest = 0.0;
        for (int i = 0; i < M; i++) {
            q[i * B + j] = jac[i * N + bound[j]];
            whole = hypot(whole, q[i * B + j]);
        }
        for (int k = 0; k < 2 * j; k++) {
            int l = k % j;
            double s = 0.0;
            for (int i = 0; i < M; i++) s += q[i * B + l] * q[i * B + j];
            for (int i = 0; i < M; i++) q[i * B + j] -= s * q[i * B + l];
            r[l * B + j] += s;
        }
        for (int i = 0; i < M; i++) rest = hypot(rest, q[i * B + j]);
        if (rest <= 1e-12 * whole) return 0;
        for (int i = 0; i < M; i++) q[i * B + j] /= rest;
        r[j * B + j] = rest;
    }
    return 1;
}

/* x of d x = b */
static void solved(const double *q, const double *r, const double *b, double *x)
{
    for (int j = B - 1; j >= 0; j--) {
        double s = 0.0;
        for (int i = 0; i < M; i++) s += q[i * B + j] * b[i];
        for (int k = j + 1; k < B; k++) s -= r[j * B + k] * x[k];
        x[j] = s / r[j * B + j];
    }
}

/* the smallest e of d^T e = b; b is lost */
static void efforts(const double *q, const double *r, double *b, double *e)
{
    memset(e, 0, M * sizeof *e);
    for (int j = 0; j < B; j++) {
        for (int k = 0; k < j; k++) b[j] -= r[k * B + j] * b[k];
        b[j] /= r[j * B + j];
        for (int i = 0; i < M; i++) e[i] += q[i * B + j] * b[j];
    }
}

/* takes other free coordinates where a dependent one says less than a third of what another would
   (a rocker's angle is free up to the dead point of its crank); 1 if it did */
static int choose(double t, const double *q)
{
    double phi[M + 1], s[M * N + 1];
    int wish[N] = {0}, taken[N] = {0}, changed = 0, f = 0, b = 0;
    closures(t, q, phi, s);
    for (int i = 0; i < M; i++) {
        double size = 1e-300;
        for (int j = 0; j < N; j++) size = hypot(size, s[i * N + j]);
        for (int j = 0; j < N; j++) s[i * N + j] /= size;
    }
    for (int j = 0; j < N; j++) {
        double size = 1e-12;
        for (int i = 0; i < M; i++) size = hypot(size, s[i * N + j]);
        for (int i = 0; i < M; i++) s[i * N + j] /= size;
    }
    for (int i = 0; i < B; i++) wish[bound[i]] = 1;
    for (int k = 0; k < B; k++) {
        int p = 0;
        double sizes[N], most = -1.0, square = 1e-300;
        for (int j = 0; j < N; j++) {
            sizes[j] = 0.0;
            for (int i = 0; i < M; i++) sizes[j] = hypot(sizes[j], s[i * N + j]);
            sizes[j] *= wish[j] ? 3.0 : 1.0;
            if (!taken[j]) most = fmax(most, sizes[j]);
        }
        while (taken[p] || !(sizes[p] > 0.999999 * most)) {
            if (++p == N) return 0;
        }
        taken[p] = 1; /* of like ones the first */
        changed |= !wish[p];
        for (int i = 0; i < M; i++) square += s[i * N + p] * s[i * N + p];
        for (int j = 0; j < N; j++) {
            double part = 0.0;
            if (taken[j]) continue;
            for (int i = 0; i < M; i++) part += s[i * N + p] * s[i * N + j] / square;
            for (int i = 0; i < M; i++) s[i * N + j] -= part * s[i * N + p];
        }
    }
    for (int j = 0; changed && j < N; j++) {
        if (taken[j]) bound[b++] = j;
        else free_q[f++] = j;
    }
    return changed;
}

/* whether closures are met, beside what the Jacobian makes of the size of q */
static int fits(const double *phi, const double *jac, const double *q)
{
    for (int i = 0; i < M; i++) {
        double size = 0.0;
        for (int j = 0; j < N; j++) size += fabs(jac[i * N + j]) * (1.0 + fabs(q[j]));
        if (!(fabs(phi[i]) <= 1e-9 * size)) return 0;
    }
    return 1;
}

/* dependent coordinates of q by Newton's method, from those that q has; 0 if they do not close */
int close_loops(double t, double *q)
{
    double phi[M + 1], jac[M * N + 1], d[M * B + 1], r[B * B + 1], x[B + 1];
    for (int k = 0; k < 50; k++) {
        double largest = 0.0, size = 1.0;
        closures(t, q, phi, jac);
        if (!factors(jac, d, r)) return 0;
        solved(d, r, phi, x);
        for (int i = 0; i < B; i++) {
            q[bound[i]] -= x[i];
            largest = fmax(largest, fabs(x[i]));
        }
        for (int i = 0; i < N; i++) size = fmax(size, fabs(q[i]));
        if (largest <= 1e-11 * size) {
            closures(t, q, phi, jac);
            return fits(phi, jac, q);
        }
    }
    return 0;
}

/* free coordinates of q to y in pieces of a tenth, so that the loops stay in their branch */
static int move_to(double t, const double *y, double *q)
{
    double begin[F + 1], largest = 0.0;
    for (int i = 0; i < F; i++) {
        begin[i] = q[free_q[i]];
        largest = fmax(largest, fabs(y[i] - begin[i]));
    }
    int pieces = 1 + (int)fmin(10.0 * largest, 1e4);
    for (int k = 1; k <= pieces; k++) {
        double part = (double)k / pieces;
        for (int i = 0; i < F; i++) q[free_q[i]] = part * y[i] + (1.0 - part) * begin[i];
        if (!close_loops(t, q)) return 0;
    }
    return 1;
}

/* y' of y = (free coordinates, their rates, other states); also all u, a = q'' and closing efforts;
   q is closed from where it is; 0 at a posture where the free coordinates are none */
int evaluate(double t, const double *y, double *q, double *dy, double *u, double *a, double *e)
{
    double phi[M + 1], jac[M * N + 1], d[M * B + 1], r[B * B + 1], b[N * F + 1], g[N + 1];
    double driven[M + 1], bias[M + 1], mass[N * N], loads[N], s[F * F + 1], x[B + 1];
    const double *others = y + 2 * F;
    if (!move_to(t, y, q)) return 0;
    closures(t, q, phi, jac);
    if (!factors(jac, d, r)) return 0;
    memset(b, 0, sizeof b);
    memset(u, 0, N * sizeof *u);
    for (int j = 0; j < F; j++) {
        for (int i = 0; i < M; i++) phi[i] = -jac[i * N + free_q[j]];
        solved(d, r, phi, x);
        b[free_q[j] * F + j] = 1.0;
        for (int i = 0; i < B; i++) b[bound[i] * F + j] = x[i];
        for (int i = 0; i < N; i++) u[i] += b[i * F + j] * y[F + j];
    }
    motion(t, q, u, others, driven, bias, mass, loads, dy + 2 * F);
    solved(d, r, driven, x);
    for (int i = 0; i < B; i++) u[bound[i]] += x[i];
    motion(t, q, u, others, driven, bias, mass, loads, dy + 2 * F);
    memset(g, 0, sizeof g);
    solved(d, r, bias, x);
    for (int i = 0; i < B; i++) g[bound[i]] = x[i];
    for (int i = 0; i < F; i++) {
        dy[i] = y[F + i];
        dy[F + i] = 0.0;
        for (int j = 0; j < F; j++) s[i * F + j] = 0.0;
        for (int k = 0; k < N; k++) {
            double w = loads[k], along = b[k * F + i];
            for (int l = 0; l < N; l++) {
                w -= mass[k * N + l] * g[l];
                for (int j = 0; j < F; j++) s[i * F + j] += along * mass[k * N + l] * b[l * F + j];
            }
            dy[F + i] += along * w;
        }
    }
    if (!solve(F, s, dy + F)) return 0;
    for (int k = 0; k < N; k++) {
        a[k] = g[k];
        for (int j = 0; j < F; j++) a[k] += b[k * F + j] * dy[F + j];
    }
    for (int i = 0; i < B; i++) {
        x[i] = -loads[bound[i]];
        for (int l = 0; l < N; l++) x[i] += mass[bound[i] * N + l] * a[l];
    }
    efforts(d, r, x, e);
    return 1;
}

/* classical Runge-Kutta steps from t = 0 on; y, of what is free at the start, and q become those
   at the end, of what is free there; 0 where it stops */
int run(double t_end, int steps, double *y, double *q)
{
    double k[4][Y + 1], z[Y + 1], u[N], a[N], e[M + 1], h = t_end / steps;
    const double part[4] = {0.0, 0.5, 0.5, 1.0};
    for (int i = 0; i < F; i++) free_q[i] = free_start[i]; /* an earlier run may have */
    for (int i = 0; i < B; i++) bound[i] = bound_start[i]; /* taken others */
    for (int n = 0; n < steps; n++) {
        if (!evaluate(n * h, y, q, k[0], u, a, e)) return 0;
        if (choose(n * h, q)) {
            for (int i = 0; i < F; i++) {
                y[i] = q[free_q[i]];
                y[F + i] = u[free_q[i]];
            }
            if (!evaluate(n * h, y, q, k[0], u, a, e)) return 0;
        }
        for (int s = 1; s < 4; s++) {
            for (int i = 0; i < Y; i++) z[i] = y[i] + part[s] * h * k[s - 1][i];
            if (!evaluate((n + part[s]) * h, z, q, k[s], u, a, e)) return 0;
        }
        for (int i = 0; i < Y; i++)
            y[i] += h / 6.0 * (k[0][i] + 2.0 * (k[1][i] + k[2][i]) + k[3][i]);
    }
    return 1;
}

int main(int argc, char **argv)
{
    double t_end = argc > 1 ? atof(argv[1]) : 1.0, dy[Y + 1], u[N], a[N], e[M + 1], f[O + 1];
    int steps = argc > 2 ? atoi(argv[2]) : 10000;
    double y[Y + 1], q[N];
    memcpy(y, y_start, sizeof y_start);
    memcpy(q, q_start, sizeof q_start);
    if (!run(t_end, steps, y, q) || !evaluate(t_end, y, q, dy, u, a, e)) {
        fprintf(stderr, "the loops do not close, or the free coordinates are none here\\n");
        return 1;
    }
    outputs(t_end, q, u, y + 2 * F, a, e, f);
    for (int i = 0; i < N; i++) printf("%s = %.15g\\n", q_names[i], q[i]);
    for (int i = 0; i < N; i++) printf("%s = %.15g\\n", u_names[i], u[i]);
    for (int i = 2 * F; i < Y; i++) printf("%s = %.15g\\n", x_names[i - 2 * F], y[i]);
    for (int i = 0; i < O; i++) printf("%s = %.15g\\n", output_names[i], f[i]);
    return 0;
}
"""


def as_c(code: Code) -> str:
    """The program: `cc NAME.c -lm`, then `NAME T STEPS`."""
    e = code.equations
    y, q = start_of(e)
    n, m, f, outputs = len(e.q), len(e.closures), len(e.independent), output_names(e)
    lines = [
        f"/* {e.name}: equations of motion in minimal coordinates, written by vbg.",
        f"   q = ({', '.join(map(str, e.q))}); y: the free ones, their rates, other states. */",
        *(f"/* {remark} */" for remark in e.remarks(forces=True)),
        "#include <math.h>",
        "#include <stdio.h>",
        "#include <stdlib.h>",
        "#include <string.h>",
        "",
        f"enum {{ N = {n}, M = {m}, F = {f}, B = {n - f}, Y = {len(y)}, O = {len(outputs)} }};",
        "/* places of free and of dependent coordinates in q; a run takes others where it must */",
        f"static const int free_start[F + 1] = {{{_list(e.independent)}}};",
        f"static const int bound_start[B + 1] = {{{_list(e.dependent)}}};",
        f"static int free_q[F + 1] = {{{_list(e.independent)}}};",
        f"static int bound[B + 1] = {{{_list(e.dependent)}}};",
        f"static const double y_start[Y + 1] = {{{_list(y)}}};",
        f"static const double q_start[N] = {{{_list(q)}}};",
        *(
            f"static const char *const {name}_names[] = {{{_texts(own)}}};"
            for name, own in motion_names(e).items()
        ),
        f"static const char *const output_names[O + 1] = {{{_texts(outputs)}}};",
        "",
    ]
    sizes = {"phi": (m,), "jac": (m, n)}
    before = len(lines)
    lines += _function(code, "closures", "", code.closures, sizes)
    sizes = {"driven": (m,), "bias": (m,), "mass": (n, n), "loads": (n,), "rates": (len(e.states),)}
    lines += _function(code, "motion", "ux", code.motion, sizes)
    lines += _function(code, "outputs", "uxae", code.outputs, {"f": (len(outputs),)})
    lines[before:before] = helpers("\n".join(lines))
    return "\n".join(lines) + _RUN.lstrip("\n")


def _list(values: object) -> str:
    return ", ".join(repr(v) for v in values) or "0"  # type: ignore[attr-defined]


def _texts(values: list[str]) -> str:
    return ", ".join(f'"{v}"' for v in values) or '""'


def _function(
    code: Code, name: str, read: str, function: Function, sizes: Mapping[str, tuple[int, ...]]
) -> list[str]:
    given = "".join(f", const double *{array}" for array in ("q", *read))
    made = "".join(f", double *{array}" for array in sizes)
    lines = [f"static void {name}(double t{given}{made})", "{"]
    lines += [f"    (void){a};" for a in ("t", "q", *read, *sizes)]
    lines += [f"    const double {s} = {a}[{i}];" for a, i, s in code.arguments(function)]
    lines += [f"    const double {s} = {v!r};" for s, v in code.parameters(function)]
    lines += [f"    const double {s} = {c_code(part)};" for s, part in function.parts]
    for array, place, value in function.values:
        at = place[0] if len(place) == 1 else place[0] * sizes[array][1] + place[1]
        lines.append(f"    {array}[{at}] = {c_code(value)};")
    return [*lines, "}", ""]
