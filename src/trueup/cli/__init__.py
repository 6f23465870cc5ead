"""The command line; `trueup.cli._app` lists its commands.

Parsing needs nothing but typer; each command imports what it works with when it runs, so that ``trueup
--help`` is quick and ``trueup apply`` never loads LightGBM.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import NoReturn

__all__ = ["main"]


def main(argv: Sequence[str] | None = None) -> NoReturn:
    """Run the command line and leave the process with its exit code.

    Parameters
    ----------
    argv : sequence of str, optional
        The arguments without the program's name; those of the process by default.

    Raises
    ------
    SystemExit
        Always; ``trueup --help`` lists the codes.
    """
    try:
        # Inside, so that Ctrl-C while modules are being loaded is no traceback either.
        from trueup.cli._run import run
    except KeyboardInterrupt:
        print("Stopped. Nothing was written.", file=sys.stderr)
        sys.exit(130)
    sys.exit(run(sys.argv[1:] if argv is None else argv))
