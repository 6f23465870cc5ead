"""`trueup export`: a model in another format. LightGBM is not needed."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal

from trueup.cli._errors import after_writing
from trueup.cli._files import check_output, is_same_file
from trueup.cli._printing import bytes_in_words, facts, print_json, screen, shown, working_on
from trueup.errors import FileError

if TYPE_CHECKING:
    from trueup import OnnxExport

__all__ = ["export"]

_SHOWN_INPUTS = 25


def export(model: str, path: str, numbers: Literal["float64", "float32"], as_json: bool) -> None:
    """Write an ONNX file and say what goes into it."""
    from trueup import export_onnx

    check_output(path)
    if is_same_file(model, path):
        raise FileError(f"{path!r} is the model file itself. Name another file with --onnx.")
    with working_on("Writing the graph and comparing it with the model", quiet=as_json or not sys.stderr.isatty()):
        exported = export_onnx(model, path, float_type=numbers)
    with after_writing():
        if as_json:
            print_json(_description(exported))
        else:
            _print(exported)


def _description(exported: OnnxExport) -> dict[str, Any]:
    return {
        "output": str(exported.path),
        "bytes": exported.path.stat().st_size,
        "model_sha256": exported.metadata["trueup.model_sha256"],
        "inputs": [{"name": graph_input.name, "type": graph_input.element} for graph_input in exported.inputs],
        "result": exported.output,
        "missing_text": exported.missing_text,
        "rows_compared": exported.n_rows_compared,
        "largest_difference": exported.largest_difference,
    }


def _print(exported: OnnxExport) -> None:
    from rich.table import Table

    console = screen()
    size = bytes_in_words(exported.path.stat().st_size)
    console.print(f"Wrote {shown(exported.path)}, {size}.", style="bold", soft_wrap=True)
    compared = (
        f"in onnxruntime on {exported.n_rows_compared:,} rows: differs by at most {exported.largest_difference:.1e}"
    )
    missing = f"the text {exported.missing_text!r} for strings, NaN for numbers and booleans (else 0 and 1)"
    console.print(facts([("Compared", compared), ("Result", shown(exported.output)), ("Missing", shown(missing))]))
    console.print()
    table = Table(box=None, padding=(0, 2), header_style="cyan")
    table.add_column("Input", overflow="fold")
    table.add_column("Type")
    for graph_input in exported.inputs[:_SHOWN_INPUTS]:
        table.add_row(shown(graph_input.name), graph_input.element)
    if len(exported.inputs) > _SHOWN_INPUTS:
        table.add_row(f"and {len(exported.inputs) - _SHOWN_INPUTS:,} more (all with --json)", style="dim")
    console.print(table)
