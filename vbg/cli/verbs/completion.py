"""`vbg completion`: a script that teaches the shell the verbs, options and names."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from vbg.cli.parser import Parser, add

PLACE = 120
SHELLS = ("bash", "zsh", "fish")


def register(subparsers: Any) -> None:
    parser = add(
        subparsers,
        "completion",
        act=act,
        summary="a script that completes verbs and options in the shell",
        detail="Verbs, views, options, their choices, templates, kinds of parts, and file names.",
        examples="""vbg completion bash > ~/.local/share/bash-completion/completions/vbg
            vbg completion zsh > ~/.vbg-completion.zsh   and in .zshrc: source ~/.vbg-completion.zsh
            vbg completion fish > ~/.config/fish/completions/vbg.fish""",
    )
    parser.add_argument("shell", choices=SHELLS, help="the shell it is for")


@dataclass(frozen=True, slots=True)
class Place:
    """One verb or view, ("show", "graph"): what may follow it."""

    path: tuple[str, ...]
    words: tuple[str, ...]
    options: tuple[str, ...]
    values: tuple[tuple[tuple[str, ...], tuple[str, ...]], ...]  # names of an option, its choices


def act(arguments: argparse.Namespace) -> int:
    from vbg.cli.main import build_parser

    places = tuple(_places(build_parser(), ()))
    writer = {"bash": bash, "zsh": zsh, "fish": fish}[arguments.shell]
    print(writer(places), end="")
    return 0


def _places(parser: Parser, path: tuple[str, ...]) -> Iterator[Place]:
    words: list[str] = list(_names_after(path))
    options: list[str] = []
    values = []
    below = parser.verbs
    words += below
    implied = below[parser.implied].actions if parser.implied else ()
    for action in (*parser.actions, *implied):
        choices = tuple(str(choice) for choice in action.choices or ())
        if action.option_strings:
            options += action.option_strings
            if choices:
                values.append((tuple(action.option_strings), choices))
        elif not below:
            words += choices
    yield Place(path, tuple(words), tuple(options), tuple(values))
    for name, further in below.items():
        yield from _places(further, (*path, name))


def _names_after(path: tuple[str, ...]) -> Iterator[str]:
    """Names that a verb takes besides files: templates, kinds and topics."""
    if path == ("new",):
        from vbg.io.templates import templates

        yield from templates()
    elif path == ("parts",):
        from vbg.model import catalogue
        from vbg.model.topics import TOPICS

        kinds = {kind for table in catalogue().values() for kind in table}
        yield from sorted({*catalogue(), *kinds, *TOPICS})


def bash(places: tuple[Place, ...]) -> str:
    """Completion by a function that walks the words typed so far."""
    paths = "|".join(f'"{_joined(place.path)}"' for place in places if place.path)
    lines = ["# completion of vbg for bash; made by `vbg completion bash`", "_vbg() {"]
    lines += [
        '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}"',
        '    local path="" words="" files=yes i',
        "    for ((i = 1; i < COMP_CWORD; i++)); do",
        '        case "$path ${COMP_WORDS[i]}" in',
        f'            {paths}) path="$path ${{COMP_WORDS[i]}}" ;;',
        "        esac",
        "    done",
        '    case "$path:$before" in',
    ]
    for place in places:
        for names, choices in place.values:
            patterns = "|".join(f'"{_joined(place.path)}:{name}"' for name in names)
            lines.append(f'        {patterns}) words="{" ".join(choices)}" files= ;;')
    lines += ['        *) case "$path" in']
    for place in places:
        words = " ".join((*place.words, *place.options))
        lines.append(f'            "{_joined(place.path)}") words="{words}" ;;')
    lines += [
        "        esac ;;",
        "    esac",
        '    COMPREPLY=($(compgen -W "$words" -- "$word"))',
        '    [[ -z "$files" || "$word" == -* ]] || COMPREPLY+=($(compgen -f -- "$word"))',
        "}",
        "complete -o filenames -F _vbg vbg",
    ]
    return "\n".join(lines) + "\n"


def _joined(path: tuple[str, ...]) -> str:
    return "".join(f" {word}" for word in path)


def zsh(places: tuple[Place, ...]) -> str:
    """zsh runs completions of bash."""
    return "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n" + (
        bash(places)
    )


def fish(places: tuple[Place, ...]) -> str:
    """One line for each word; conditions on the verbs typed so far."""
    lines = ["# completion of vbg for fish; made by `vbg completion fish`"]
    for place in places:
        seen = "; and ".join(f"__fish_seen_subcommand_from {verb}" for verb in place.path)
        condition = f"-n '{seen or '__fish_use_subcommand'}'"
        if place.words:
            lines.append(f"complete -c vbg {condition} -a '{' '.join(place.words)}'")
        values = {name: choices for names, choices in place.values for name in names}
        for option in place.options:
            kind = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            choices = values.get(option)
            wanted = f" -xa '{' '.join(choices)}'" if choices else ""
            lines.append(f"complete -c vbg {condition} {kind}{wanted}")
    return "\n".join(lines) + "\n"
