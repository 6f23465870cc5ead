"""The parts of an ONNX graph, collected one after the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from trueup.errors import ExportError

ML_DOMAIN = "ai.onnx.ml"

# TreeEnsemble, whose thresholds, leaves and sums may be doubles, is new in version 5 of the second.
_OPSETS = {"": 18, ML_DOMAIN: 5}
# onnxruntime 1.21 to 1.23 have TreeEnsemble, and leave out trees when there is more than one. They don't read files of
# this version: an error there is better than wrong probabilities.
_IR_VERSION = 12
_MAX_BYTES = 2**31 - 2**24  # a protobuf message holds 2 GiB, and there is more in it than constants
_ROWS = "rows"  # the one dimension that all inputs and the output share


class GraphBuilder:
    """Collects inputs, constants and nodes, and names what lies between them.

    Parameters
    ----------
    taken : iterable of str
        The names of inputs and outputs, which nothing else may have.
    """

    def __init__(self, taken: Iterable[str]) -> None:
        self._prefix = "trueup"
        names = list(taken)
        while any(name.startswith(self._prefix) for name in names):
            self._prefix += "_"
        self._inputs: list[Any] = []
        self._nodes: list[Any] = []
        self._constants: list[Any] = []
        self._scalars: dict[float, str] = {}
        self._axis: str | None = None
        self._n_bytes = 0

    def add_input(self, name: str, element_type: int) -> str:
        """An input of one value per row."""
        from onnx import helper

        self._inputs.append(helper.make_tensor_value_info(name, element_type, [_ROWS]))
        return name

    def constant(self, values: npt.NDArray[Any]) -> str:
        """The name of a constant tensor."""
        from onnx import numpy_helper

        self._n_bytes += values.nbytes
        if self._n_bytes > _MAX_BYTES:
            raise ExportError(
                f"The graph would be larger than the {_MAX_BYTES:,} bytes that an ONNX file can hold: a table of the "
                "categories that each split sends left has a row per category. Fit with fewer categories."
            )
        name = f"{self._prefix}/constant_{len(self._constants)}"
        self._constants.append(numpy_helper.from_array(np.asarray(values, order="C"), name))
        return name

    def number(self, value: float) -> str:
        """The name of a constant double, which broadcasts to any shape."""
        if value not in self._scalars:  # NaN never is, and gets a constant each time
            self._scalars[value] = self.constant(np.array(value, dtype=np.float64))
        return self._scalars[value]

    def node(self, operator: str, *inputs: str, domain: str = "", **attributes: Any) -> str:
        """The name of the one output of a new node."""
        output = f"{self._prefix}/{operator}_{len(self._nodes)}"
        self._add(operator, inputs, output, domain, attributes)
        return output

    def doubles(self, name: str) -> str:
        """The values as doubles."""
        from onnx import TensorProto

        return self.node("Cast", name, to=TensorProto.DOUBLE)

    def column(self, name: str) -> str:
        """One value per row as a matrix of one column."""
        return self.node("Unsqueeze", name, self._last_axis())

    def beside(self, matrices: list[str]) -> str:
        """Matrices of the same rows as one."""
        return matrices[0] if len(matrices) == 1 else self.node("Concat", *matrices, axis=1)

    def clamp(self, name: str, low: float, high: float) -> str:
        """The values kept between two bounds. NaN stays NaN, which `Clip` doesn't promise."""
        bottom, top = self.number(low), self.number(high)
        raised = self.node("Where", self.node("Less", name, bottom), bottom, name)
        return self.node("Where", self.node("Greater", raised, top), top, raised)

    def model(self, column: str, output: str) -> Any:
        """The model whose output is a matrix of one column, as one double per row."""
        from onnx import TensorProto, helper

        self._add("Squeeze", (column, self._last_axis()), output, "", {})
        graph = helper.make_graph(
            self._nodes,
            "trueup",
            self._inputs,
            [helper.make_tensor_value_info(output, TensorProto.DOUBLE, [_ROWS])],
            initializer=self._constants,
        )
        opsets = [helper.make_opsetid(domain, version) for domain, version in _OPSETS.items()]
        return helper.make_model(graph, opset_imports=opsets, ir_version=_IR_VERSION, producer_name="trueup")

    def _last_axis(self) -> str:
        if self._axis is None:
            self._axis = self.constant(np.array([1], dtype=np.int64))
        return self._axis

    def _add(self, operator: str, inputs: Iterable[str], output: str, domain: str, attributes: dict[str, Any]) -> None:
        from onnx import helper

        name = f"{self._prefix}/{operator}_{len(self._nodes)}"
        self._nodes.append(helper.make_node(operator, list(inputs), [output], name, domain=domain, **attributes))
