"""The commands and their help pages. Parsing only collects options: `trueup.cli._run` does the work."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial, wraps
from typing import Annotated, Any

import typer

from trueup.cli._apply import apply
from trueup.cli._audit import audit
from trueup.cli._compare import compare
from trueup.cli._demo import demo
from trueup.cli._diagnose import diagnose
from trueup.cli._errors import EXIT_CODE_MEANINGS
from trueup.cli._evaluate import evaluate
from trueup.cli._export import export
from trueup.cli._fit import fit
from trueup.cli._inspect import inspect
from trueup.cli._serve import serve

__all__ = ["EXAMPLES", "app"]

_EXIT_CODES = "Exit codes: " + "; ".join(f"{int(code)} {meaning}" for code, meaning in EXIT_CODE_MEANINGS.items()) + "."

# By command, in the order of the list of commands: from a first look to a service.
EXAMPLES: dict[Callable[..., int | None], str] = {
    demo: "trueup demo",
    diagnose: "trueup diagnose scored.csv --label clicked --score p",
    audit: "trueup audit scored.csv --label clicked --score p --html audit.html",
    evaluate: "trueup evaluate scored.csv --label clicked --score p -o results",
    fit: "trueup fit scored.csv --label clicked --score p -o model.trueup",
    apply: "trueup apply new.csv --model model.trueup -o calibrated.csv",
    compare: "trueup compare scored.csv --label y --base p_old --candidate p_new",
    inspect: "trueup inspect model.trueup",
    export: "trueup export model.trueup --onnx model.onnx",
    serve: "trueup serve model.trueup --port 8000",
}

app = typer.Typer(
    help="Make a classifier's probabilities right in every segment of its traffic, without listing the segments.",
    epilog=f"Start with: trueup demo\n\n{_EXIT_CODES}",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        import trueup

        print(f"trueup {trueup.__version__}")
        raise typer.Exit


@app.callback()
def _trueup(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, metavar="", help="Print the version and stop."
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", metavar="", help="Show a traceback with an error, as TRUEUP_DEBUG=1 does.")
    ] = False,
) -> None:
    if debug:
        context.obj["debug"] = True


def _add(work: Callable[..., int | None], example: str) -> None:
    @wraps(work)
    def parsed(**options: Any) -> Callable[[], int | None]:
        """The work, which begins when parsing is over."""
        return partial(work, **options)

    app.command(work.__name__, epilog=f"Example: {example}\n\n{_EXIT_CODES}")(parsed)


for _work, _example in EXAMPLES.items():
    _add(_work, _example)
