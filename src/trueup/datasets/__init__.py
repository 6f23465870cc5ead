"""Data to try things on: simulated, so that the truth is known, and real flights."""

from trueup._runtime import pin_to
from trueup.datasets._flights import Flights, flight_scores, load_flights
from trueup.datasets._traffic import Traffic, make_traffic

__all__ = ["Flights", "Traffic", "flight_scores", "load_flights", "make_traffic"]

pin_to(__name__, __all__, globals())
