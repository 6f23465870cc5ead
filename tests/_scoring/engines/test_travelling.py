"""A scorer arrives in other processes and threads small, and loads its model there once."""

from __future__ import annotations

import multiprocessing
import pickle
import shutil
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

from trueup import BatchScorer
from trueup._scoring import _load
from trueup.errors import ModelFileError


@pytest.fixture
def loads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the models that are loaded, in a process that has none yet."""
    loaded: list[str] = []
    original = _load.load_bytes

    def counted(content: bytes, name: str, **options: Any) -> Any:
        loaded.append(name)
        return original(content, name, **options)

    monkeypatch.setattr(_load, "load_bytes", counted)
    monkeypatch.setattr(_load, "_loaded", type(_load._loaded)())
    return loaded


def arrived(scorer: BatchScorer) -> BatchScorer:
    return pickle.loads(pickle.dumps(scorer))  # type: ignore[no-any-return]


def score_elsewhere(pickled: bytes, table: pa.Table) -> pa.Table:
    return pickle.loads(pickled)(table)


@pytest.mark.parametrize("ship", ["bytes", "path"])
def test_a_spawned_process_gives_the_same_probabilities(ship, model_file, table):
    scorer = BatchScorer(model_file, score="p", ship=ship)
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(1, mp_context=context) as pool:
        found = pool.submit(score_elsewhere, pickle.dumps(scorer), table).result()
    assert found.equals(scorer(table))


def test_the_bytes_need_no_file_where_they_arrive(model_file, table, tmp_path, loads):
    shutil.copy(model_file, tmp_path / "model.trueup")
    scorer = BatchScorer(tmp_path / "model.trueup", score="p")
    pickled, expected = pickle.dumps(scorer), scorer(table)
    (tmp_path / "model.trueup").unlink()
    _load._loaded.clear()
    assert pickle.loads(pickled)(table).equals(expected)
    assert len(loads) == 2


def test_what_is_pickled_is_the_file_or_its_path_and_little_else(model_file, table):
    size = model_file.stat().st_size
    scorers = [BatchScorer(model_file, score="p", ship=ship) for ship in ("bytes", "path")]
    for scorer in scorers:
        scorer(table)
    with_bytes, with_path = (len(pickle.dumps(scorer)) for scorer in scorers)
    assert size < with_bytes < size + 1000
    assert with_path < 1000


def test_a_process_loads_a_model_once_for_all_scorers_and_batches(model_file, table, loads):
    scorer = BatchScorer(model_file, score="p")
    for other in (scorer, arrived(scorer), BatchScorer(model_file.read_bytes(), score="p", column="q")):
        list(other.map(table.to_batches(max_chunksize=500)))
    assert loads == [str(model_file)]


def test_nothing_is_loaded_before_the_first_batch_arrives(model_file, table, loads):
    scorer = BatchScorer(model_file, score="p")
    _load._loaded.clear()
    there = arrived(scorer)
    assert len(loads) == 1
    assert there.output_schema(table.schema).names[-1] == "calibrated"
    assert len(loads) == 1
    there(table)
    assert len(loads) == 2


def test_many_threads_load_a_model_once_and_score_alike(model_file, table, loads):
    scorer = BatchScorer(model_file, score="p")
    expected = scorer(table)["calibrated"]
    _load._loaded.clear()
    loads.clear()
    together = threading.Barrier(8)

    def score(there: BatchScorer) -> Any:
        together.wait()
        return there(table)["calibrated"]

    shared = arrived(scorer)
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(score, [shared] * 4 + [arrived(scorer) for _ in range(4)]))
    assert len(loads) == 1
    assert all(column.equals(expected) for column in found)


def test_a_file_that_is_replaced_is_another_model_to_the_next_scorer_alone(model_file, table, tmp_path):
    from trueup.baselines import PlattCalibrator

    path = tmp_path / "model.trueup"
    shutil.copy(model_file, path)
    before = BatchScorer(path, score="p")
    expected = before(table)["calibrated"]
    PlattCalibrator().fit({"x": [0, 0, 0, 0]}, [0, 1, 0, 1], scores=[0.1, 0.3, 0.3, 0.5]).save(path)
    assert before(table)["calibrated"].equals(expected)
    assert arrived(before)(table)["calibrated"].equals(expected)
    after = BatchScorer(path, score="p")
    assert np.abs(after(table)["calibrated"].to_numpy() - expected.to_numpy()).max() > 0.01


def test_another_model_at_the_same_path_is_refused(model_file, table, tmp_path, loads):
    path = tmp_path / "model.trueup"
    shutil.copy(model_file, path)
    there = arrived(BatchScorer(path, score="p", ship="path"))
    path.write_bytes(path.read_bytes() + b" ")
    _load._loaded.clear()
    with pytest.raises(ModelFileError, match=r"is not the file that it was.*ship=\"bytes\""):
        there(table)


def test_a_process_keeps_the_few_models_that_it_used_last(model_file, table, loads):
    for n_jobs in (1, 2, 3, 4, 1, 5):  # each is a calibrator of its own
        BatchScorer(model_file, score="p", n_jobs=n_jobs)
    assert len(loads) == 5
    assert [n_jobs for _, n_jobs in _load._loaded] == [3, 4, 1, 5]


def test_the_words_for_it_name_the_file_and_the_column(model_file: Path) -> None:
    assert repr(BatchScorer(model_file, score="p")).startswith(f"<BatchScorer: {str(model_file)!r}, sha256 ")
