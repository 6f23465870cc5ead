"""The options of `trueup export`."""

from __future__ import annotations

import enum
from functools import partial
from typing import Annotated

import typer

from trueup.cli._export import export
from trueup.cli._options import AsJson, Work

__all__ = ["export_command"]


class Numbers(str, enum.Enum):
    """The type of the graph's inputs that hold numbers."""

    FLOAT64 = "float64"
    FLOAT32 = "float32"


def export_command(
    model: Annotated[str, typer.Argument(help="The model file.")],
    *,
    onnx: Annotated[str, typer.Option("--onnx", help="The ONNX file to write, e.g. model.onnx.")],
    numbers: Annotated[
        Numbers,
        typer.Option("--numbers", help="The type of inputs that hold numbers; the arithmetic is in float64 anyway."),
    ] = Numbers.FLOAT64,
    as_json: AsJson = False,
) -> Work:
    """Write a model as one ONNX graph: raw features and the base score in, calibrated probability out.

    The file is kept only if it gives the model's answers in onnxruntime. Needs the extra onnx.
    """
    return partial(export, model, onnx, numbers.value, as_json)
