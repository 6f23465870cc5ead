"""Pages that commands write with --html."""

from __future__ import annotations

import os
from typing import Protocol

from trueup.cli._files import STANDARD_STREAM, check_output, is_same_file
from trueup.cli._printing import working_on
from trueup.cli._typed import named_in_reports
from trueup.errors import FileError, ParameterError

__all__ = ["check_page", "file_in_title", "write_html"]


class HasPage(Protocol):
    """A result that can say itself as a page."""

    def to_html(self, path: str | os.PathLike[str] | None = None, *, title: str) -> str | None:
        """Write the page."""


def check_page(path: str | None, *others: str | None) -> None:
    """Refuse a page that can't be written, before the work and not after it."""
    if path is None:
        return
    if path == STANDARD_STREAM:
        raise ParameterError("--html needs a file: a page is for a browser, not for stdout.")
    check_output(path)
    for other in others:
        if other is not None and other != STANDARD_STREAM and _is_one_file(path, other):
            raise ParameterError(f"--html names {path!r}, which another option names too. Name a file of its own.")


def write_html(result: HasPage, path: str | None, title: str, quiet: bool) -> None:
    """Write a result's page, if one is asked for."""
    if path is None:
        return
    with working_on("making the report", quiet), named_in_reports():
        try:
            result.to_html(path, title=title)
        except OSError as error:
            raise FileError(f"{path!r} can't be written: {error.strerror or error}") from error


def file_in_title(table: str) -> str:
    """A table's name as a page's title says it."""
    return "stdin" if table == STANDARD_STREAM else os.path.basename(table)


def _is_one_file(one: str, other: str) -> bool:
    return os.path.realpath(one) == os.path.realpath(other) or is_same_file(one, other)
