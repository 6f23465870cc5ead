"""Models in other formats: the whole chain as one ONNX graph."""

from trueup.exporting._export import OnnxExport, export_onnx
from trueup.exporting._signature import GraphInput

__all__ = ["GraphInput", "OnnxExport", "export_onnx"]
