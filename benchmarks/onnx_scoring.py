"""How fast onnxruntime scores an exported model, beside our own scoring in the same run, and how far they are apart.

Batches come to onnxruntime as arrays that are ready to feed, and to us as an Arrow table, whose columns are arrays too.
Needs the extra onnx.

    python benchmarks/onnx_scoring.py [--quick]
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
import onnxruntime
import pyarrow as pa

import trueup
from machine import OtherWork, describe
from scoring import interleaved, traffic

ROUNDS = 10
FIT_ROWS = 100_000
BATCHES = {1: 200, 100: 100, 10_000: 10, 100_000: 3}  # rows, and how often


def main() -> None:
    """Fit, export, and let both score the same batches in turn."""
    batches = {n: repeats for n, repeats in BATCHES.items() if n <= 10_000} if "--quick" in sys.argv else BATCHES
    X, y, scores = traffic(max(FIT_ROWS, *batches))
    fit = slice(0, FIT_ROWS)
    model = trueup.MCGrad(max_rounds=ROUNDS, validation=None, rescale="train").fit(X[fit], y[fit], scores=scores[fit])
    print(f"{describe()}, onnxruntime {onnxruntime.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        export = trueup.export_onnx(model, Path(folder) / "model.onnx")
        session = onnxruntime.InferenceSession(export.path, providers=["CPUExecutionProvider"])
        print(f"{ROUNDS} rounds, {X.shape[1]} features, {export.path.stat().st_size / 1e6:.2f} MB")
    calibrator = trueup.Calibrator(model.model_)
    with OtherWork() as others:
        for n_rows, repeats in batches.items():
            table, base = pa.Table.from_pandas(X[:n_rows], preserve_index=False), scores[:n_rows]
            feeds = export.feeds(table, base)
            contestants = {
                "trueup": lambda table=table, base=base: calibrator.calibrate(table, base),
                "onnxruntime": lambda feeds=feeds: session.run(None, feeds),
            }
            if n_rows == 1:
                row = table.to_pylist()[0]
                contestants["trueup"] = lambda row=row, base=base: calibrator.calibrate_one(row, base[0])
            apart = np.abs(session.run(None, feeds)[0] - calibrator.calibrate(table, base)).max()
            times = {name: np.median(took) for name, took in interleaved(contestants, repeats, 1.0).items()}
            rates = ", ".join(f"{name} {n_rows / took:,.0f} rows/s" for name, took in times.items())
            ratio = times["onnxruntime"] / times["trueup"]
            print(f"  {n_rows:>7,} rows: {rates}; ours is {ratio:.1f} × as fast; apart by at most {apart:.0e}")
    print(others)


if __name__ == "__main__":
    main()
