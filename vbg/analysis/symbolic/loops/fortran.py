"""Minimal equations as a Fortran 2008 program that runs by itself."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from vbg.analysis.symbolic.loops.coding import Code, Function, output_names, start_of

WIDTH = 120  # columns of a line; 132 are allowed

_RUN = """
  ! a x = b by elimination with pivots: b becomes x, a is lost; ok is false if a is singular
  subroutine solve(a, b, ok)
    real(dp), intent(inout) :: a(:, :), b(:, :)
    logical, intent(out) :: ok
    real(dp) :: row(size(a, 2)), right(size(b, 2)), s
    integer :: i, k, p
    ok = .true.
    do k = 1, size(a, 1)
      p = k - 1 + maxloc(abs(a(k:, k)), 1)
      ok = ok .and. abs(a(p, k)) > 0.0_dp
      if (.not. ok) return
      row = a(k, :); a(k, :) = a(p, :); a(p, :) = row
      right = b(k, :); b(k, :) = b(p, :); b(p, :) = right
      do i = 1, size(a, 1)
        if (i == k) cycle
        s = a(i, k) / a(k, k)
        a(i, :) = a(i, :) - s * a(k, :)
        b(i, :) = b(i, :) - s * b(k, :)
      end do
    end do
    do k = 1, size(a, 1)
      b(k, :) = b(k, :) / a(k, k)
    end do
  end subroutine

  ! dependent coordinates of q by Newton's method, from those that q has
  subroutine close_loops(t, q, ok)
    real(dp), intent(in) :: t
    real(dp), intent(inout) :: q(:)
    logical, intent(out) :: ok
    real(dp) :: phi(m), jac(m, n), d(m, m), r(m, 1)
    integer :: k
    do k = 1, 50
      call closures(t, q, phi, jac)
      d = jac(:, bound)
      r(:, 1) = phi
      call solve(d, r, ok)
      if (.not. ok) return
      q(bound) = q(bound) - r(:, 1)
      if (maxval([0.0_dp, abs(r(:, 1))]) <= 1e-14_dp * (1.0_dp + maxval(abs(q)))) return
    end do
    ok = .false.
  end subroutine

  ! y' of y = (free coordinates, their rates, other states); also all u, a = q'' and the closing
  ! efforts e; q is closed from where it is
  subroutine evaluate(t, y, q, dy, u, a, e, ok)
    real(dp), intent(in) :: t, y(:)
    real(dp), intent(inout) :: q(:)
    real(dp), intent(out) :: dy(:), u(:), a(:), e(:)
    logical, intent(out) :: ok
    real(dp) :: phi(m), jac(m, n), d(m, m), b(n, nf), g(n), r(m, nf + 1), one(m, 1)
    real(dp) :: driven(m), bias(m), mass(n, n), loads(n), s(nf, nf), w(nf, 1)
    integer :: i, pieces
    w(:, 1) = y(1:nf) - q(free)
    pieces = 1 + int(10 * maxval([0.0_dp, abs(w)]))  ! so that the loops stay in their branch
    do i = 1, pieces
      q(free) = y(1:nf) - w(:, 1) * (pieces - i) / pieces
      call close_loops(t, q, ok)
      if (.not. ok) return
    end do
    call closures(t, q, phi, jac)
    u = 0.0_dp
    u(free) = y(nf + 1:2 * nf)
    call motion(t, q, u, y(2 * nf + 1:), driven, bias, mass, loads, dy(2 * nf + 1:))
    d = jac(:, bound)
    r(:, 1:nf) = -jac(:, free)
    r(:, nf + 1) = driven
    call solve(d, r, ok)
    if (.not. ok) return
    b = 0.0_dp
    do i = 1, nf
      b(free(i), i) = 1.0_dp
    end do
    b(bound, :) = r(:, 1:nf)
    u = matmul(b, y(nf + 1:2 * nf))
    u(bound) = u(bound) + r(:, nf + 1)
    call motion(t, q, u, y(2 * nf + 1:), driven, bias, mass, loads, dy(2 * nf + 1:))
    d = jac(:, bound)
    one(:, 1) = bias
    call solve(d, one, ok)
    if (.not. ok) return
    g = 0.0_dp
    g(bound) = one(:, 1)
    s = matmul(transpose(b), matmul(mass, b))
    w(:, 1) = matmul(transpose(b), loads - matmul(mass, g))
    call solve(s, w, ok)
    if (.not. ok) return
    dy(1:nf) = y(nf + 1:2 * nf)
    dy(nf + 1:2 * nf) = w(:, 1)
    a = matmul(b, w(:, 1)) + g
    loads = matmul(mass, a) - loads
    d = transpose(jac(:, bound))
    one(:, 1) = loads(bound)
    call solve(d, one, ok)
    e = one(:, 1)
  end subroutine

  ! classical Runge-Kutta steps from t = 0 on; y and q as they are at the end
  subroutine run(t_end, steps, y, q, ok)
    real(dp), intent(in) :: t_end
    integer, intent(in) :: steps
    real(dp), intent(inout) :: y(:), q(:)
    logical, intent(out) :: ok
    real(dp) :: k1(ny), k2(ny), k3(ny), k4(ny), u(n), a(n), e(m), h, t
    integer :: i
    h = t_end / steps
    do i = 0, steps - 1
      t = i * h
      call evaluate(t, y, q, k1, u, a, e, ok)
      if (ok) call evaluate(t + h / 2, y + h / 2 * k1, q, k2, u, a, e, ok)
      if (ok) call evaluate(t + h / 2, y + h / 2 * k2, q, k3, u, a, e, ok)
      if (ok) call evaluate(t + h, y + h * k3, q, k4, u, a, e, ok)
      if (.not. ok) return
      y = y + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
    end do
  end subroutine
end module

program main
  use machine
  implicit none
  real(dp) :: t_end, y(ny), q(n), dy(ny), u(n), a(n), e(m), f(no)
  integer :: steps, i
  character(40) :: word
  logical :: ok
  t_end = 1.0_dp
  steps = 10000
  if (command_argument_count() > 0) then
    call get_command_argument(1, word)
    read (word, *) t_end
  end if
  if (command_argument_count() > 1) then
    call get_command_argument(2, word)
    read (word, *) steps
  end if
  y = y_start
  q = q_start
  call run(t_end, steps, y, q, ok)
  if (ok) call evaluate(t_end, y, q, dy, u, a, e, ok)
  if (.not. ok) error stop "the loops do not close, or the free coordinates are none here"
  call outputs(t_end, q, u, y(2 * nf + 1:), a, e, f)
  do i = 1, ny
    print "(a, ' = ', es23.15)", trim(y_names(i)), y(i)
  end do
  do i = 1, no
    print "(a, ' = ', es23.15)", trim(output_names(i)), f(i)
  end do
end program
"""


def as_fortran(code: Code) -> str:
    """The program: `gfortran NAME.f90`, then `NAME T STEPS`."""
    e = code.equations
    y, q = start_of(e)
    n, m, f = len(e.q), len(e.closures), len(e.independent)
    y_names = [*(str(e.q[i]) for i in e.independent), *(str(e.u[i]) for i in e.independent)]
    y_names += map(str, e.states)
    names = output_names(e)
    lines = [
        f"! {e.name}: equations of motion in minimal coordinates, written by vbg.",
        *_wrapped(f"! q = ({', '.join(map(str, e.q))})", "! "),
        "! y: the free ones, their rates, other states",
        "module machine",
        "  implicit none",
        "  integer, parameter :: dp = kind(1.0d0)",
        f"  integer, parameter :: n = {n}, m = {m}, nf = {f}, ny = {len(y)}, no = {len(names)}",
        *_constant("integer", "free(nf)", (i + 1 for i in e.independent)),
        *_constant("integer", "bound(m)", (i + 1 for i in e.dependent)),
        *_constant("real(dp)", "y_start(ny)", map(_real, y)),
        *_constant("real(dp)", "q_start(n)", map(_real, q)),
        *_constant("character(64)", "y_names(ny)", (f'"{name}"' for name in y_names)),
        *_constant("character(64)", "output_names(no)", (f'"{name}"' for name in names)),
        "contains",
    ]
    lines += _function(code, "closures", "", code.closures, {"phi": "m", "jac": "m, n"})
    sizes = {"driven": "m", "bias": "m", "mass": "n, n", "loads": "n", "rates": ":"}
    lines += _function(code, "motion", "ux", code.motion, sizes)
    lines += _function(code, "outputs", "uxae", code.outputs, {"f": ":"})
    return "\n".join(lines) + _RUN


def _real(x: float) -> str:
    return f"{float(x)!r}_dp"


def _constant(kind: str, name: str, values: Iterable[object]) -> list[str]:
    every = ", ".join(map(str, values))
    return _wrapped(f"  {kind}, parameter :: {name} = [{kind} :: {every}]", "    ")


def _wrapped(line: str, indent: str) -> list[str]:
    """A line in pieces that end in & behind a comma or an operator."""
    comment = line.startswith("!")
    lines = []
    while len(line) > WIDTH:
        at = max(line.rfind(mark, 40, WIDTH) for mark in (", ", " + ", " - ", "*"))
        at = (WIDTH if at < 0 else at) + 1
        lines.append(line[:at] + ("" if comment else " &"))
        line = indent + line[at:].lstrip()
    return [*lines, line]


def _function(
    code: Code, name: str, read: str, function: Function, sizes: Mapping[str, str]
) -> list[str]:
    from sympy import fcode

    def written(expression: object) -> str:
        text = fcode(expression, standard=2008, source_format="free")
        return " ".join(line.strip().removesuffix("&").strip() for line in text.splitlines())

    given = ["q", *read]
    lines = ["", f"  subroutine {name}({', '.join(['t', *given, *sizes])})"]
    lines.append(f"    real(dp), intent(in) :: t, {', '.join(f'{a}(:)' for a in given)}")
    made = ", ".join(f"{a}({size})" for a, size in sizes.items())
    lines.append(f"    real(dp), intent(out) :: {made}")
    locals_of = [str(s) for _, _, s in code.arguments(function)]
    locals_of += [str(s) for s, _ in code.parameters(function)]
    locals_of += [str(s) for s, _ in function.parts]
    for symbol in locals_of:
        lines.append(f"    real(dp) :: {symbol}")
    lines += [f"    {s} = {a}({i + 1})" for a, i, s in code.arguments(function)]
    lines += [f"    {s} = {_real(v)}" for s, v in code.parameters(function)]
    lines += [f"    {s} = {written(part)}" for s, part in function.parts]
    for array, place, value in function.values:
        at = ", ".join(str(i + 1) for i in place)
        lines.append(f"    {array}({at}) = {written(value)}")
    return [piece for line in [*lines, "  end subroutine"] for piece in _wrapped(line, "      ")]
