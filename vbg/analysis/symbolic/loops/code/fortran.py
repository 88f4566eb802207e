"""Minimal equations as a Fortran 2008 program that runs by itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import chain

from vbg.analysis.symbolic.loops.code.coding import (
    Code,
    Function,
    motion_names,
    output_names,
    start_of,
)
from vbg.analysis.symbolic.rewriting.printing import PROCEDURES, fortran_code

WIDTH = 120  # columns of a line; 132 are allowed
_PLACES = re.compile(r", | [+-] |(?<!\*)\*(?!\*)")  # behind which a statement may be cut
_SPACES = re.compile(" ")

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

  ! Q (orthogonal columns) and R of the dependent coordinates' columns of the Jacobian, by Gram and
  ! Schmidt, twice; rows may be more than columns (redundant loops); ok is false if singular
  subroutine factors(jac, d, r, ok)
    real(dp), intent(in) :: jac(:, :)
    real(dp), intent(out) :: d(m, nb), r(nb, nb)
    logical, intent(out) :: ok
    real(dp) :: s(nb)
    integer :: j, k
    d = jac(:, bound)
    r = 0.0_dp
    ok = .true.
    do j = 1, nb
      do k = 1, 2
        s(1:j - 1) = matmul(d(:, j), d(:, 1:j - 1))
        d(:, j) = d(:, j) - matmul(d(:, 1:j - 1), s(1:j - 1))
        r(1:j - 1, j) = r(1:j - 1, j) + s(1:j - 1)
      end do
      r(j, j) = norm2(d(:, j))
      ok = ok .and. r(j, j) > 1e-12_dp * norm2(jac(:, bound(j)))
      if (.not. ok) return
      d(:, j) = d(:, j) / r(j, j)
    end do
  end subroutine

  ! x of d x = b
  function solved(d, r, b) result(x)
    real(dp), intent(in) :: d(:, :), r(:, :), b(:)
    real(dp) :: x(nb)
    integer :: j
    x = matmul(b, d)
    do j = nb, 1, -1
      x(j) = (x(j) - dot_product(r(j, j + 1:), x(j + 1:))) / r(j, j)
    end do
  end function

  ! the smallest e of d^T e = b
  function efforts(d, r, b) result(e)
    real(dp), intent(in) :: d(:, :), r(:, :), b(:)
    real(dp) :: e(m), w(nb)
    integer :: j
    do j = 1, nb
      w(j) = (b(j) - dot_product(r(1:j - 1, j), w(1:j - 1))) / r(j, j)
    end do
    e = matmul(d, w)
  end function

  ! takes other free coordinates where a dependent one says less than a third of what another would
  ! (a rocker's angle is free up to the dead point of its crank)
  subroutine choose(t, q, changed)
    real(dp), intent(in) :: t, q(:)
    logical, intent(out) :: changed
    real(dp) :: phi(m), s(m, n), wish(n), sizes(n), column(m)
    logical :: taken(n)
    integer :: i, j
    call closures(t, q, phi, s)
    do i = 1, m
      s(i, :) = s(i, :) / (norm2(s(i, :)) + 1e-300_dp)
    end do
    do j = 1, n
      s(:, j) = s(:, j) / (norm2(s(:, j)) + 1e-12_dp)
    end do
    wish = 1.0_dp
    wish(bound) = 3.0_dp
    taken = .false.
    do i = 1, nb
      sizes = merge(-1.0_dp, wish * norm2(s, 1), taken)
      j = maxloc(merge(1, 0, sizes > 0.999999_dp * maxval(sizes)), 1)  ! of like ones the first
      taken(j) = .true.
      column = s(:, j) / (norm2(s(:, j)) + 1e-300_dp)
      s = s - matmul(reshape(column, [m, 1]), reshape(matmul(column, s), [1, n]))
    end do
    changed = .not. all(taken(bound))
    if (.not. changed) return
    bound = pack([(j, j = 1, n)], taken)
    free = pack([(j, j = 1, n)], .not. taken)
  end subroutine

  ! dependent coordinates of q by Newton's method, from those that q has
  subroutine close_loops(t, q, ok)
    real(dp), intent(in) :: t
    real(dp), intent(inout) :: q(:)
    logical, intent(out) :: ok
    real(dp) :: phi(m), jac(m, n), d(m, nb), r(nb, nb), x(nb)
    integer :: k
    do k = 1, 50
      call closures(t, q, phi, jac)
      call factors(jac, d, r, ok)
      if (.not. ok) return
      x = solved(d, r, phi)
      q(bound) = q(bound) - x
      if (maxval([0.0_dp, abs(x)]) <= 1e-11_dp * (1.0_dp + maxval(abs(q)))) then
        call closures(t, q, phi, jac)
        ok = all(abs(phi) <= 1e-9_dp * matmul(abs(jac), 1.0_dp + abs(q)))
        return
      end if
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
    real(dp) :: phi(m), jac(m, n), d(m, nb), r(nb, nb), b(n, nf), g(n)
    real(dp) :: driven(m), bias(m), mass(n, n), loads(n), s(nf, nf), w(nf, 1)
    integer :: i, pieces
    w(:, 1) = y(1:nf) - q(free)
    pieces = 1 + int(min(10 * maxval([0.0_dp, abs(w)]), 1e4_dp))  ! so that loops keep their branch
    do i = 1, pieces
      q(free) = y(1:nf) - w(:, 1) * (pieces - i) / pieces
      call close_loops(t, q, ok)
      if (.not. ok) return
    end do
    call closures(t, q, phi, jac)
    call factors(jac, d, r, ok)
    if (.not. ok) return
    b = 0.0_dp
    do i = 1, nf
      b(free(i), i) = 1.0_dp
      b(bound, i) = -solved(d, r, jac(:, free(i)))
    end do
    u = matmul(b, y(nf + 1:2 * nf))
    call motion(t, q, u, y(2 * nf + 1:), driven, bias, mass, loads, dy(2 * nf + 1:))
    u(bound) = u(bound) + solved(d, r, driven)
    call motion(t, q, u, y(2 * nf + 1:), driven, bias, mass, loads, dy(2 * nf + 1:))
    g = 0.0_dp
    g(bound) = solved(d, r, bias)
    s = matmul(transpose(b), matmul(mass, b))
    w(:, 1) = matmul(transpose(b), loads - matmul(mass, g))
    call solve(s, w, ok)
    if (.not. ok) return
    dy(1:nf) = y(nf + 1:2 * nf)
    dy(nf + 1:2 * nf) = w(:, 1)
    a = matmul(b, w(:, 1)) + g
    loads = matmul(mass, a) - loads
    e = efforts(d, r, loads(bound))
  end subroutine

  ! classical Runge-Kutta steps from t = 0 on; y, of what is free at the start, and q become those
  ! at the end, of what is free there
  subroutine run(t_end, steps, y, q, ok)
    real(dp), intent(in) :: t_end
    integer, intent(in) :: steps
    real(dp), intent(inout) :: y(:), q(:)
    logical, intent(out) :: ok
    real(dp) :: k1(ny), k2(ny), k3(ny), k4(ny), u(n), a(n), e(m), h, t
    integer :: i
    logical :: changed
    free = free_start
    bound = bound_start
    h = t_end / steps
    do i = 0, steps - 1
      t = i * h
      call evaluate(t, y, q, k1, u, a, e, ok)
      if (.not. ok) return
      call choose(t, q, changed)
      if (changed) then
        y(1:2 * nf) = [q(free), u(free)]
        call evaluate(t, y, q, k1, u, a, e, ok)
      end if
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
  do i = 1, n
    print "(a, ' = ', es23.15)", trim(q_names(i)), q(i)
  end do
  do i = 1, n
    print "(a, ' = ', es23.15)", trim(u_names(i)), u(i)
  end do
  do i = 1, nx
    print "(a, ' = ', es23.15)", trim(x_names(i)), y(2 * nf + i)
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
    n, m, nf, names = len(e.q), len(e.closures), len(e.independent), output_names(e)
    lines = [
        f"! {e.name}: equations of motion in minimal coordinates, written by vbg.",
        *_wrapped(f"! q = ({', '.join(map(str, e.q))})", "! "),
        "! y: the free ones, their rates, other states",
        *chain.from_iterable(_wrapped(f"! {one}", "! ") for one in e.remarks(forces=True)),
        "module machine",
        "  implicit none",
        "  integer, parameter :: dp = kind(1.0d0)",
        f"  integer, parameter :: n = {n}, m = {m}, nf = {nf}, nb = {n - nf}",
        f"  integer, parameter :: ny = {len(y)}, no = {len(names)}, nx = {len(e.states)}",
        "  ! a run takes other free coordinates where it must",
        *_array("integer, parameter", "free_start(nf)", (i + 1 for i in e.independent)),
        *_array("integer, parameter", "bound_start(nb)", (i + 1 for i in e.dependent)),
        *_array("integer, save", "free(nf)", (i + 1 for i in e.independent)),
        *_array("integer, save", "bound(nb)", (i + 1 for i in e.dependent)),
        *_constant("real(dp)", "y_start(ny)", map(_real, y)),
        *_constant("real(dp)", "q_start(n)", map(_real, q)),
        *_texts("q_names(n)", motion_names(e)["q"]),
        *_texts("u_names(n)", motion_names(e)["u"]),
        *_texts("x_names(nx)", motion_names(e)["x"]),
        *_texts("output_names(no)", names),
        "contains",
    ]
    lines += _function(code, "closures", "", code.closures, {"phi": "m", "jac": "m, n"})
    sizes = {"driven": "m", "bias": "m", "mass": "n, n", "loads": "n", "rates": ":"}
    lines += _function(code, "motion", "ux", code.motion, sizes)
    lines += _function(code, "outputs", "uxae", code.outputs, {"f": ":"})
    return "\n".join(lines) + "\n" + PROCEDURES + _RUN


def _real(x: float) -> str:
    return f"{float(x)!r}_dp"


def _constant(kind: str, name: str, values: Iterable[object]) -> list[str]:
    return _array(f"{kind}, parameter", name, values)


def _array(kind: str, name: str, values: Iterable[object]) -> list[str]:
    every, of = ", ".join(map(str, values)), kind.partition(",")[0]
    return _wrapped(f"  {kind} :: {name} = [{of} :: {every}]", "    ")


def _texts(name: str, values: Iterable[str]) -> list[str]:
    return _constant("character(64)", name, (f'"{value}"' for value in values))


def _wrapped(line: str, indent: str) -> list[str]:
    """A line in pieces that end in & between two tokens; a comment's between words.  Within a token
    longer than a line it goes on behind a second & (Fortran 2008, 3.3.2.4)."""
    comment = line.startswith("!")
    places = _SPACES if comment else _PLACES
    lines = []
    while len(line) > WIDTH:
        ends = [m.end() for m in places.finditer(line) if 40 < m.end() <= WIDTH]
        at = ends[-1] if ends else WIDTH
        lines.append(line[:at] + ("" if comment else " &" if ends else "&"))
        line = indent + (line[at:].lstrip() if ends or comment else f"&{line[at:]}")
    return [*lines, line]


def _function(
    code: Code, name: str, read: str, function: Function, sizes: Mapping[str, str]
) -> list[str]:
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
    lines += [f"    {s} = {fortran_code(part)}" for s, part in function.parts]
    for array, place, value in function.values:
        at = ", ".join(str(i + 1) for i in place)
        lines.append(f"    {array}({at}) = {fortran_code(value)}")
    return [piece for line in [*lines, "  end subroutine"] for piece in _wrapped(line, "      ")]
