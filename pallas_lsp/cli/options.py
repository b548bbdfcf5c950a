"""Reading the options that commands share."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from ..config import jax_version, rule_set, target
from ..errors import CannotRun, did_you_mean
from ..settings import TARGETS, Settings


class Parser(argparse.ArgumentParser):
    """argparse with our manners: one line for a wrong option, with the nearest right one, and no abbreviations."""

    def __init__(self, command: str, description: str, epilog: str | None = None) -> None:
        super().__init__(prog=f"pallas-lsp {command}", description=description, epilog=epilog, allow_abbrev=False)

    def read(self, arguments: Sequence[str]) -> argparse.Namespace:
        """The options in ``arguments``; raises `CannotRun` where there is something wrong with them."""
        options, unknown = self.parse_known_args(arguments)
        if unknown:
            option = unknown[0].partition("=")[0]
            self.error(f"there is no option {option}{did_you_mean(option, self._option_string_actions)}")
        return options

    def error(self, message: str) -> NoReturn:
        raise CannotRun(f"{message} (see {self.prog} --help)")


@dataclass(frozen=True, slots=True)
class Choices:
    """What the command line says of the settings; None where it says nothing."""

    select: frozenset[str] | None
    ignore: frozenset[str]
    jax_version: str | None
    target: str | None

    def over(self, settings: Settings) -> Settings:
        """``settings`` of a configuration with these choices before them: a rule selected here is reported although ignored there."""
        return replace(
            settings,
            select=settings.select if self.select is None else self.select,
            ignore=(settings.ignore - (self.select or frozenset())) | self.ignore,
            jax_version=self.jax_version or settings.jax_version,
            target=self.target or settings.target,
        )


def add_choices(parser: Parser) -> None:
    """Add the options of `read_choices`."""
    parser.add_argument("--jax-version", metavar="X", help="the JAX whose rules hold (default: the project's, else the environment's)")
    parser.add_argument("--target", metavar="CHIP", help=f"the TPU the kernels are for: {', '.join(TARGETS)} (default: all of them)")
    parser.add_argument("--select", metavar="RULE,...", action="append", help="report these rules only")
    parser.add_argument("--ignore", metavar="RULE,...", action="append", help="never report these rules")


def read_choices(options: argparse.Namespace) -> Choices:
    """The choices among the parsed options; raises `CannotRun` for a rule, version or target that does not exist."""
    return Choices(
        select=None if options.select is None else rule_set(_names(options.select)),
        ignore=rule_set(_names(options.ignore or ())),
        jax_version=None if options.jax_version is None else jax_version(options.jax_version),
        target=None if options.target is None else target(options.target),
    )


def _names(values: Sequence[str]) -> list[str]:
    """The names in ``a,b`` given any number of times."""
    return [name.strip() for value in values for name in value.split(",") if name.strip()]
