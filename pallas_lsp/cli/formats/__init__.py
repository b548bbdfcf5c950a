"""The output formats of `check`: a module each, with ``render(report) -> str``, imported when it is asked for."""

from __future__ import annotations

from importlib import import_module

from ..report import Report

NAMES = ("full", "concise", "json", "github", "gitlab", "junit", "sarif")


def render(report: Report, name: str) -> str:
    """The report in the format ``name`` (one of `NAMES`), ending in a newline unless it is empty."""
    text: str = import_module(f".{name}", __name__).render(report)
    return text
