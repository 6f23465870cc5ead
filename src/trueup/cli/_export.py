"""`trueup export`: a model in another format. LightGBM is not needed."""

from __future__ import annotations

import enum
import sys
from typing import TYPE_CHECKING, Annotated, Any

from trueup.cli import _options as opt
from trueup.cli._answer import Answer, answer
from trueup.cli._files import is_same_file
from trueup.cli._printing import bytes_in_words, facts, plain_table, screen, shown, working_on
from trueup.cli._writing import check_output
from trueup.errors import FileError

if TYPE_CHECKING:
    from trueup import OnnxExport

__all__ = ["export"]

_SHOWN_INPUTS = 25


class Numbers(str, enum.Enum):
    """The type of the graph's inputs that hold numbers."""

    FLOAT64 = "float64"
    FLOAT32 = "float32"


def export(
    model: opt.ModelFile,
    *,
    onnx: Annotated[str, opt.option("--onnx", "The ONNX file to write, such as model.onnx.", opt.OUTPUT, "FILE")],
    numbers: Annotated[
        Numbers, opt.option("--numbers", "The type of inputs that hold numbers. The arithmetic is float64 either way.")
    ] = Numbers.FLOAT64,
    as_json: opt.AsJson = False,
    quiet: opt.Quiet = False,
) -> int | None:
    """Write a model as one ONNX graph: raw features and the base score in, calibrated probability out.

    The file is kept only if it gives the model's answers in onnxruntime. Needs the extra onnx.
    """
    from trueup import export_onnx

    check_output(onnx)
    if is_same_file(model, onnx):
        raise FileError(f"{onnx!r} is the model file itself. Name another file with --onnx.")

    def compute() -> OnnxExport:
        """Write the graph and compare it with the model."""
        silent = quiet or as_json or not sys.stderr.isatty()
        with working_on("writing the graph and comparing it with the model", silent):
            return export_onnx(model, onnx, float_type=numbers.value)

    return answer(
        compute,
        Answer(as_json, quiet),
        describe=lambda exported, _: _description(exported),
        draw=lambda exported, _: _print(exported),
    )


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
    console = screen()
    size = bytes_in_words(exported.path.stat().st_size)
    console.print(f"Wrote {shown(exported.path)}, {size}.", style="bold", soft_wrap=True)
    compared = (
        f"in onnxruntime on {exported.n_rows_compared:,} rows: differs by at most {exported.largest_difference:.1e}"
    )
    missing = f"the text {exported.missing_text!r} for strings, NaN for numbers and booleans (else 0 and 1)"
    console.print(facts([("Compared", compared), ("Result", shown(exported.output)), ("Missing", shown(missing))]))
    console.print()
    table = plain_table("Input", "Type", indented=True)
    for graph_input in exported.inputs[:_SHOWN_INPUTS]:
        table.add_row(shown(graph_input.name), graph_input.element)
    if len(exported.inputs) > _SHOWN_INPUTS:
        table.add_row(f"and {len(exported.inputs) - _SHOWN_INPUTS:,} more (all with --json)", style="dim")
    console.print(table)
