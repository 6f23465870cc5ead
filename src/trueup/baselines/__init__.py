"""Other calibrations to compare with: fitted, applied and saved as `trueup.MCGrad` is.

`IsotonicCalibrator`, `PlattCalibrator` and `TemperatureCalibrator` look at the score alone; `trueup.load` reads their
files.
`HKRR`, `DFMC` and `SegmentMCGrad` calibrate segments that you name, `LSBoost` the level sets of the score.
"""

from trueup._runtime import pin_to
from trueup.baselines._hkrr import HKRR
from trueup.baselines._lsboost import LSBoost
from trueup.baselines._of_scores import IsotonicCalibrator, PlattCalibrator, TemperatureCalibrator
from trueup.baselines._on_segments import DFMC, SegmentMCGrad

__all__ = [
    "DFMC",
    "HKRR",
    "IsotonicCalibrator",
    "LSBoost",
    "PlattCalibrator",
    "SegmentMCGrad",
    "TemperatureCalibrator",
]

pin_to(__name__, __all__, globals())
