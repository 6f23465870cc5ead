"""Models in other formats: the whole chain as one ONNX graph."""
