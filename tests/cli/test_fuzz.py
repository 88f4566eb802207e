"""Whatever is written or typed, the answer is a result or a message, never a traceback."""

from __future__ import annotations

import copy
import io
import json
import shlex
import signal
import tomllib
from contextlib import contextmanager, redirect_stdout
from types import SimpleNamespace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import vbg
from vbg.cli.main import main
from vbg.errors import VbgError
from vbg.io.templates import templates
from vbg.model import catalogue
from vbg.model.samples import machine

DOCUMENTS = {name: tomllib.loads(file.read_text("utf-8")) for name, file in templates().items()}
SAMPLES = {
    f"{table}.{kind}": tomllib.loads(machine(table, kind))
    for table, kinds in catalogue().items()
    for kind in kinds
}
FILE = str(templates()["pendulum"])
# values that a slip or a misunderstanding may put anywhere
TEXTS = (
    "",
    "x",
    "1/0",
    "t",
    "sqrt(-t)",
    "3 kg",
    "-5 mm",
    "ground",
    "gnd",
    "é",
    "2*",
    "((",
    "abs(t)",
)
NUMBERS = (0, -1, 1e-300, 1e300, float("inf"), float("nan"), 10**30, True)
LISTS = ([], [1], [1, 2, 3], [0, 0, 0], [[1, 2], [3, 4]], ["ground", "ground"], {}, {"a": 1})
ODD = st.sampled_from([*TEXTS, *NUMBERS, *LISTS])
KEYS = st.sampled_from(["kind", "nodes", "on", "between", "zzz", "initial", "drive", "stop"])
SECONDS = 5  # absurd values may make a model as slow as it likes; Ctrl-C is for that


def paths(value, here=()):
    """Every path in nested tables and lists."""
    entries = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in entries:
        yield (*here, key)
        if isinstance(inner, (dict, list)):
            yield from paths(inner, (*here, key))


def at(document, path):
    for step in path:
        document = document[step]
    return document


def changed(draw, document):
    """The document after one or two slips: an entry gone, odd, added or in another place."""
    document = copy.deepcopy(document)
    for _ in range(draw(st.integers(1, 2))):
        everywhere = list(paths(document))
        path = draw(st.sampled_from(everywhere))
        parent, key = at(document, path[:-1]), path[-1]
        match draw(st.integers(0, 3)):
            case 0:
                del parent[key]
            case 1:
                parent[key] = copy.deepcopy(draw(ODD))
            case 2:
                other = draw(st.sampled_from(everywhere))
                parent[key] = copy.deepcopy(at(document, other))
            case _:
                target = parent if isinstance(parent, dict) else document
                target[draw(KEYS)] = copy.deepcopy(draw(ODD))
    return document


class TooLong(Exception):
    pass


@contextmanager
def time_limit():
    def ring(*_):
        raise TooLong

    before = signal.signal(signal.SIGALRM, ring)
    signal.alarm(SECONDS)
    try:
        yield
    except TooLong:
        pass
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def run_through(document):
    """Read, check, assemble and run it a little; errors of vbg are answers."""
    try:
        model = vbg.Model.from_document(document, "machine.toml")
        if any(problem.severity == "error" for problem in vbg.check(model)):
            return
        solution = vbg.simulate(vbg.assemble(model), t_end=0.002, output_step=0.001)
    except VbgError as error:
        assert str(error).strip()
        assert all(problem.what for problem in error.problems)
        return
    assert solution.status.code in ("finished", "failed") and solution.status.sentence


@pytest.fixture(scope="module", autouse=True)
def compiled():
    """Whatever is loaded or compiled once must not fall into a time limit."""
    assert main(["validate", FILE, "--t-end", "0.002", "--output-step", "0.001", "-q"]) == 0
    for view in ("modes", "matrices", "equations", "transfer", "structure"):
        main(["show", view, FILE])


RELAXED = [HealthCheck.too_slow, HealthCheck.data_too_large]


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("kind", ["examples", "samples"])
@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=RELAXED)
@given(data=st.data())
def test_slips_in_any_model_end_in_a_message(kind, data):
    documents = DOCUMENTS if kind == "examples" else SAMPLES
    name = data.draw(st.sampled_from(sorted(documents)))
    document = changed(data.draw, documents[name])
    with time_limit():
        run_through(document)


VERBS = """\
run FILE
check FILE
validate FILE
show graph FILE
show causal FILE
show modes FILE
show matrices FILE
show structure FILE
show transfer FILE
show equations FILE
show
structure FILE
sweep FILE
optimise FILE
plot FILE
animate FILE
import FILE
parts
new
completion
run none
run -
tui --keys
zzz""".splitlines()
WORDS = shlex.split(
    "--json --set L=2 'L=2 kg' L= L=1e9 --t-end 0.01 '1 ms' -1 nan --all --signals '*' '[' "
    "--solver mstmm --method rk4 xx --rtol 1e-6 --level word --why hinge --example revolute "
    "--vary L=1:2:2 L=a:b --measure 'final(hinge.angle)' 'max(' --exclude 0:1 a:b none.h5 --quick "
    "-q --output-step 0.005 bash --about start -o none/x.csv x.h5 x.json --samples lhs:2 lhs:x "
    "--query --transform --allow A --form --also dt --tolerance --library 1R3D ground spring "
    "--force pendulum"
)


def lines(count):
    """Command lines that begin with a verb and go on with anything."""
    further = st.lists(st.sampled_from(WORDS), max_size=count)
    return st.builds(
        lambda verb, words: [FILE if w == "FILE" else w for w in (*verb.split(), *words)],
        st.sampled_from(VERBS),
        further,
    )


def answer(words, folder):
    """Exit code of one command in an empty folder, its standard input closed, and what it
    printed; None where it took too long."""
    printed = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(printed), time_limit():
        patch.chdir(folder)
        patch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO()))
        try:
            return main(words), printed.getvalue()
        except SystemExit as stopped:
            return stopped.code, printed.getvalue()
    return None, ""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=RELAXED)
@given(words=lines(5))
def test_any_words_on_the_command_line_end_in_an_answer(words, tmp_path_factory):
    code, printed = answer(words, tmp_path_factory.mktemp("words"))
    assert code in (None, 0, 1, 2)
    if code == 2 and "--json" in words:
        assert json.loads(printed)["error"] == "UsageError"
