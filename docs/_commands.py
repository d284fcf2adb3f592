"""The page of the command line: the help of every command, whatever the width of a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import typer

from waypost.cli._app import app

from ._markdown import code, section, sentences, table

__all__ = ["commands", "page"]

_INTRODUCTION = """
`pip install "waypost[cli]"` brings the command `waypost`.
Every command says the same with `--help`.
Exit code 2 means wrong usage, or an extra that is not installed; 130 an interrupt.
"""

# Typer brings its own click in newer versions and uses the package in older ones, hence ``Any``.
Command = Any
Parameter = Any


def page() -> str:
    """Return the page."""
    return section(
        1, "Command line", _INTRODUCTION.strip(), *(_command(*found) for found in commands())
    )


def commands() -> Iterator[tuple[str, Command]]:
    """Yield every command that is not hidden, by the words that call it, groups first."""
    return _walk("waypost", typer.main.get_command(app))


def _walk(words: str, command: Command) -> Iterator[tuple[str, Command]]:
    yield words, command
    for name, below in getattr(command, "commands", {}).items():
        if not below.hidden:
            yield from _walk(f"{words} {name}", below)


def _command(words: str, command: Command) -> str:
    parameters = [each for each in command.params if not getattr(each, "hidden", False)]
    arguments = [each for each in parameters if each.param_type_name == "argument"]
    options = [each for each in parameters if each.param_type_name == "option"]
    return section(
        2,
        code(words),
        f"```text\n{_usage(words, command, arguments, options)}\n```",
        "\n\n".join(map(sentences, _paragraphs(command.help))),
        _table("Argument", arguments),
        _table("Option", options),
        _table_of_commands(words, command),
    )


def _paragraphs(text: str | None) -> list[str]:
    return (text or "").replace("\b", "").strip().split("\n\n")


def _usage(
    words: str, command: Command, arguments: list[Parameter], options: list[Parameter]
) -> str:
    parts = [words, *(["[OPTIONS]"] if options else [])]
    parts += [name if each.required else f"[{name}]" for each in arguments for name in _names(each)]
    parts += ["COMMAND ..."] if hasattr(command, "commands") else []
    return " ".join(parts)


def _names(parameter: Parameter) -> list[str]:
    """Return an argument as the usage shows it, or the spellings of an option."""
    if parameter.param_type_name == "argument":
        return [_placeholder(parameter) + ("..." if parameter.nargs == -1 else "")]
    spellings = [*parameter.opts, *parameter.secondary_opts]
    if parameter.is_flag or parameter.count:
        return spellings
    return [f"{spelling} {_placeholder(parameter)}" for spelling in spellings]


def _placeholder(parameter: Parameter) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _table(title: str, parameters: Iterable[Parameter]) -> str:
    rows = [(", ".join(map(code, _names(each))), " ".join(_facts(each))) for each in parameters]
    return table((title, "What it does"), rows) if rows else ""


def _facts(parameter: Parameter) -> Iterator[str]:
    yield " ".join((parameter.help or "").split())
    if parameter.required and parameter.param_type_name == "option":
        yield "Required."
    if parameter.multiple:
        yield "May be given several times."
    default = parameter.default
    if parameter.show_default and not callable(default) and default not in (None, False, "", ()):
        yield f"Default: {code(getattr(default, 'value', default))}."
    if parameter.envvar:
        yield f"Environment variable: {code(parameter.envvar)}."


def _table_of_commands(words: str, command: Command) -> str:
    below = [
        (code(f"{words} {name}"), _paragraphs(each.help)[0].replace("\n", " "))
        for name, each in getattr(command, "commands", {}).items()
        if not each.hidden
    ]
    return table(("Command", "What it does"), below) if below else ""
