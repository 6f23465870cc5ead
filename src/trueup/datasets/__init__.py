"""Data to try things on: simulated, so that the truth is known."""

from trueup.datasets._traffic import Traffic, make_traffic

__all__ = ["Traffic", "make_traffic"]
