"""A model as an ONNX graph."""

from trueup._scoring._onnx._export import OnnxExport, export_onnx

__all__ = ["OnnxExport", "export_onnx"]
