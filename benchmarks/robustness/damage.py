"""Ways to damage the text of a model file: slips of a hand, of an editor, of a bad intention.

Each is a function of the text and a random generator.  `damaged` draws one of them, and mostly
a text that still is TOML: the mistakes behind a broken one would never be met.
"""

from __future__ import annotations

import random
import re
import tomllib

_TOKEN = re.compile(r"\w+|\s+|.", re.DOTALL)
_ENTRY = re.compile(r"^(?P<key>[\w.\"-]+)(?P<is> *= *)(?P<value>.+)$", re.MULTILINE)
_HEAD = re.compile(r"^\[(\w+)\.([\w-]+)(?:\.[\w-]+)?\]$", re.MULTILINE)
_NUMBER = re.compile(r"(?<![\w.])\d+(?:\.\d+)?(?:[eE][-+]?\d+)?(?![\w.])")
_QUOTED = re.compile(r'"([^"\n]*)"')

STRANGE = (
    *("0", "-1", "1e308", "-1e-300", "nan", "inf", "2**70", "1/0", "[]", "{}", '""', "true"),
    *("=", '"', "[[", "]", "'''", "\x00", "\x1b[2J", "\u202e", "é", "t", "sqrt(-1)", "a.b.c"),
    *("ground", "1979-05-27"),
)
"""Tokens in a wrong place."""

VALUES = (
    *("0", "-0.0", "1", "-1", "3", "1e308", "-1e308", "5e-324", "1e-30", "1e30", "1e400", "nan"),
    *("-inf", "2147483648", "9223372036854775808", "9" * 400, "0x10", "true", "false", '""'),
    *('" "', '"é"', r'"\u0000"', r'"a\nb"', r'"\u202e\u001b[2J"', '"."', '"a."', '".a"', '"*"'),
    *('"ground"', '"gnd"', '"tank"', '"ground.ground"', '"t"', '"1/t"', '"sqrt(t - 1)"'),
    *('"abs(sin(1000*t))"', '"sign(t - 0.001)"', '"10**10**10"', '"2**70"', '"-1 kg"', '"0 m"'),
    *('"3 parsec"', '"1 m m"', '"5 %"', '"1 deg/s"', '"300 bar"', '"20 degC"', '"if(t > 0, 1)"'),
    *("[]", "[[]]", "[1]", "[0, 0]", "[0, 0, 0]", "[1, 2, 3, 4]", "[nan, 0, 1]", "[1e200, 0, 0]"),
    *('["a", "b", "c"]', '["t", 0, 1]', '["ground", "ground"]', "[[1, 2], [3, 4]]", "[true]"),
    *("[[0, 0], [0, 1]]", "[{}]", "{}", "{ a = 1 }", "{ value = 1 }", "{ value = {}, unit = [] }"),
    *('{ value = 1, unit = "m" }', '{ value = "t", unit = "" }', "{ kind = 1 }", "1979-05-27"),
    *('"t > 0.001"', '"1 < 2"', '"t"', '"mass"', '"missing.npy"', '"profile.csv"', '"../leg.toml"'),
    *('{ file = "profile.csv" }', '{ file = "profile.csv", columns = ["time", "level"] }'),
    *('{ file = "/etc/passwd", columns = [0, 1] }', "{ coulomb = 5, static = 6 }", '"equilibrium"'),
    *("{ lower = -1, upper = 1, k = 1e6 }", '{ x = "m", y = 1 }', '{ balance = ["a"] }', '"rest"'),
    *("{ position = 1, speed = nan }", '{ angle = "1 rad", speed = "1e9 rad/s" }', "07:32:00"),
    *(f'"{"(" * 400}1{")" * 400}"', f'"{"-" * 3000}1"', f'"{"1+" * 5000}1"', f'"{"x" * 20_000}"'),
    *("[" * 200 + "]" * 200, "[" * 5000 + "]" * 5000, f"[{'0,' * 50_000}]", '"' + "9" * 5000 + '"'),
)
"""Values of a key: of every type, of every size, of the wrong shape, of no meaning."""

KEYS = (
    *("release", "engage", "open", "friction", "axes", "rotation", "modes", "frequency", "damping"),
    *("start", "outside", "interpolation", "elements", "section", "arguments", "input", "period"),
    *(
        "start_speed",
        "parameters",
        "flexible",
        "method",
        "formulation",
        "ends",
        "columns",
        "length",
    ),
    *("kind", "nodes", "on", "between", "drive", "stop", "initial", "law", "points", "mass"),
    *("shape", "unit", "value", "file", "axis", "position", "a.b.c", '"é"', '""', "é"),
)
WRAPS = (
    "1/({})",
    "sqrt({})",
    "-({})",
    "({})*t",
    "{0} + {0}",
    "{}.x",
    "{}[0]",
    "max({}, t)",
    "{} m",
)


def by_token(text: str, rng: random.Random) -> str:
    """One to four tokens replaced, doubled, moved or cut out."""
    tokens = _TOKEN.findall(text)
    for _ in range(rng.randint(1, 4)):
        tokens = tokens or ["\n"]  # of blanks alone, or all cut out
        at = rng.randrange(len(tokens))
        kind = rng.randrange(5)
        if kind == 0:
            tokens[at] = rng.choice(STRANGE)
        elif kind == 1:
            tokens[at] = rng.choice(tokens)
        elif kind == 2:
            tokens[at : at + rng.randint(1, 5)] = [""]
        elif kind == 3:
            tokens.insert(at, rng.choice(tokens))
        else:
            lines = "".join(tokens).split("\n")
            lines.insert(rng.randrange(len(lines)), lines[rng.randrange(len(lines))])
            tokens = _TOKEN.findall("\n".join(lines))
    return "".join(tokens)


def by_value(text: str, rng: random.Random) -> str:
    """A key that holds something of another type, size or meaning, or what another key holds."""
    at = rng.choice(list(_ENTRY.finditer(text)))
    others = [match["value"] for match in _ENTRY.finditer(text)]
    value = rng.choice(others if rng.random() < 0.25 else VALUES)
    return text[: at.start("value")] + value + text[at.end("value") :]


def by_key(text: str, rng: random.Random) -> str:
    """A key with the name of another one, or with no name that there is."""
    at = rng.choice(list(_ENTRY.finditer(text)))
    others = [match["key"] for match in _ENTRY.finditer(text)]
    key = rng.choice(others if rng.random() < 0.5 else KEYS)
    return text[: at.start("key")] + key + text[at.end("key") :]


def by_more(text: str, rng: random.Random) -> str:
    """A key more in a table, of what it may have or never has."""
    at = rng.choice(list(_HEAD.finditer(text)))
    keys = [match["key"] for match in _ENTRY.finditer(text)]
    others = [match["value"] for match in _ENTRY.finditer(text)]
    key = rng.choice(keys if rng.random() < 0.3 else KEYS)
    value = rng.choice(others if rng.random() < 0.5 else VALUES)
    return f"{text[: at.end()]}\n{key} = {value}{text[at.end() :]}"


def by_number(text: str, rng: random.Random) -> str:
    """A number that is by far too large, too small, or of the other sign."""
    at = rng.choice(list(_NUMBER.finditer(text)))
    factor = rng.choice((-1.0, 0.0, 1e3, 1e-3, 1e9, 1e-9, 1e60, 1e-60, 1e200, 1e-200))
    return text[: at.start()] + repr(float(at[0]) * factor) + text[at.end() :]


def by_list(text: str, rng: random.Random) -> str:
    """A list that is longer, shorter, or one of lists."""
    at = rng.choice(list(re.finditer(r"\[([^\[\]\n]*,[^\[\]\n]*)\]", text)))
    entries = at[1].split(",")
    changes = (entries[:-1], [*entries, entries[0]], [f"[{at[1]}]"], entries[::-1], entries * 300)
    return f"{text[: at.start()]}[{','.join(rng.choice(changes))}]{text[at.end() :]}"


def by_name(text: str, rng: random.Random) -> str:
    """Two objects that have exchanged their names, or one with the name of another; here only,
    or wherever they are named."""
    names = [match[2] for match in _HEAD.finditer(text)]
    one, other = rng.choice(names), rng.choice([*names, "ground", "t", "pi", "x"])
    turned = {one: other, other: one if rng.random() < 0.7 else other}
    if rng.random() < 0.5:
        return re.sub(r"\w+", lambda match: turned.get(match[0], match[0]), text)
    at = rng.choice(list(re.finditer(rf"\b{re.escape(one)}\b", text)))
    return text[: at.start()] + other + text[at.end() :]


def by_expression(text: str, rng: random.Random) -> str:
    """A text or a number turned into an expression of itself, of another one, of a signal."""
    found = [*_QUOTED.finditer(text), *_NUMBER.finditer(text)]
    at = rng.choice(found)
    held = at[0].strip('"')
    names = [match[2] for match in _HEAD.finditer(text)] or ["x"]
    key = _ENTRY.match(text, text.rfind("\n", 0, at.start()) + 1)
    inner = rng.choice((held, rng.choice(names), f"{rng.choice(names)}.position", "t"))
    inner = key["key"] if key and rng.random() < 0.2 else inner
    return f'{text[: at.start()]}"{rng.choice(WRAPS).format(inner)}"{text[at.end() :]}'


def by_table(text: str, rng: random.Random) -> str:
    """A table emptied, left out, written twice under two names, or of another sort."""
    heads = list(_HEAD.finditer(text))
    k = rng.choice(range(len(heads)))
    begin, end = heads[k].start(), heads[k + 1].start() if k + 1 < len(heads) else len(text)
    table = text[begin:end]
    sorts = sorted({match[1] for match in heads})
    changes = (
        heads[k][0] + "\n",
        "",
        table + re.sub(r"\.([\w-]+)\]", r".\1_2]", table, count=1),
        re.sub(r"\[\w+", f"[{rng.choice(sorts)}", table, count=1),
        re.sub(r"\[\w+", "[x", table, count=1),
        f"[{heads[k][0]}]\n" + table[len(heads[k][0]) :],
        table.replace(f"[{heads[k][1]}.{heads[k][2]}]", f"[{heads[k][1]}]"),
    )
    return text[:begin] + rng.choice(changes) + text[end:]


def by_byte(text: str, rng: random.Random) -> str:
    """Single characters changed, cut out or put in, another sort of line ends, a file that ends
    too early."""
    kind = rng.randrange(4)
    at = rng.choice(range(len(text)))
    if kind == 0:
        return text[:at]
    if kind == 1:
        return text.replace("\n", rng.choice(("\r\n", "\r", "\n\n", "\u2028", "\v")))
    if kind == 2:
        return rng.choice(("\ufeff", "\0", "\x1a", "\u200b", "#!")) + text
    strange = chr(rng.choice((rng.randrange(128), rng.randrange(0xD800), rng.randrange(0x10FFFF))))
    strange = "\ufffd" if "\ud800" <= strange <= "\udfff" else strange
    return text[:at] + strange + text[at + rng.randrange(2) :]


WAYS = (
    *(by_token, by_token, by_token, by_token, by_value, by_value, by_value, by_key, by_more),
    *(
        by_number,
        by_number,
        by_list,
        by_name,
        by_name,
        by_expression,
        by_expression,
        by_table,
        by_byte,
    ),
)


def damaged(text: str, rng: random.Random) -> str:
    """The text with one or two ways of damage; three of four can be read as TOML."""
    draws = 1 if rng.random() < 0.25 else 12
    found = text
    for _ in range(draws):
        found = text
        for _ in range(1 + (rng.random() < 0.3)):
            found = _changed(found, rng)
        try:
            tomllib.loads(found.replace("\r\n", "\n"))
        except (ValueError, RecursionError):
            continue
        break
    return found


def _changed(text: str, rng: random.Random) -> str:
    """The text damaged in one way; by its tokens where it has not what that way needs."""
    try:
        return rng.choice(WAYS)(text, rng)
    except IndexError:  # no list, no table, no text in quotes
        return by_token(text or "\n", rng)
