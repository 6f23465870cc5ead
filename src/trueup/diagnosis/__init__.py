"""The diagnosis: what is wrong with the rows before anything is fitted on them."""

from trueup.diagnosis._diagnose import diagnose
from trueup.diagnosis._finding import Diagnosis, Finding

__all__ = ["Diagnosis", "Finding", "diagnose"]
