"""Other calibrations to compare with: fitted, applied and saved as `trueup.MCGrad` is.

`IsotonicCalibrator`, `PlattCalibrator` and `TemperatureCalibrator` look at the score alone. `HKRR`, `DFMC` and
`GroupMCGrad` calibrate groups that you name, `LSBoost` the level sets of the score. `trueup.load` reads their files.
"""

from trueup._runtime import pin_to
from trueup.baselines._hkrr import HKRR
from trueup.baselines._lsboost import LSBoost
from trueup.baselines._of_scores import IsotonicCalibrator, PlattCalibrator, TemperatureCalibrator
from trueup.baselines._on_groups import DFMC, GroupMCGrad

__all__ = [
    "DFMC",
    "HKRR",
    "GroupMCGrad",
    "IsotonicCalibrator",
    "LSBoost",
    "PlattCalibrator",
    "TemperatureCalibrator",
]

pin_to(__name__, __all__, globals())
