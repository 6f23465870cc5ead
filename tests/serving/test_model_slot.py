"""A model that is replaced while it is in use, or not, if the new file is bad."""

from __future__ import annotations

import os
import re
import threading

import pytest

from small_fits import quick
from trueup.errors import ModelFileError
from trueup.serving import ModelSlot


@pytest.fixture
def path(tmp_path, fitted):
    path = tmp_path / "model.trueup"
    path.write_bytes(fitted.path.read_bytes())
    return path


def replace(path, content: bytes) -> None:
    beside = path.with_suffix(".new")
    beside.write_bytes(content)
    os.replace(beside, path)


def test_the_same_file_is_not_loaded_again(path):
    slot = ModelSlot(path)
    before = slot.current
    assert not slot.reload()
    assert not slot.reload(force=True)  # read again, and found to be the same
    assert slot.current is before


def test_another_model_takes_its_place_and_the_old_one_goes_on_for_who_holds_it(path, fitted):
    slot = ModelSlot(path)
    held, row, score = slot.calibrator, {**fitted.rows[0], "day": None}, fitted.scores[0]
    before = held.calibrate_one(row, score)
    replace(path, fitted.other.read_bytes())
    assert slot.reload()
    assert held.calibrate_one(row, score) == before
    assert slot.calibrator.calibrate_one(row, score) != before
    assert slot.current.n_bytes == len(fitted.other.read_bytes())


@pytest.mark.parametrize("content", [b"", b"noise" * 1000, None], ids=["empty", "noise", "cut"])
def test_a_bad_file_leaves_the_model_and_says_why(path, fitted, content):
    slot = ModelSlot(path)
    before = slot.current
    replace(path, fitted.other.read_bytes()[:-50] if content is None else content)
    assert not slot.reload()
    assert slot.current is before
    assert "can't be used" in (slot.error or "")
    replace(path, fitted.other.read_bytes())
    assert slot.reload()
    assert slot.error is None


def test_a_file_that_is_gone_leaves_the_model(path):
    slot = ModelSlot(path)
    path.unlink()
    assert not slot.reload()
    assert "No such file" in (slot.error or "")


def test_a_model_may_be_refused_by_who_uses_it(path, fitted):
    def accept(calibrator):
        if len(calibrator.model.rounds) > 1:
            raise ModelFileError("too many rounds")

    with pytest.raises(ModelFileError, match="too many rounds"):
        ModelSlot(path, accept=accept)


def test_a_watched_file_is_followed(path, fitted):
    slot = ModelSlot(path)
    before = slot.current.sha256
    with slot.watch(0.01):
        replace(path, fitted.other.read_bytes())
        pause = threading.Event()
        for _ in range(3000):
            if slot.current.sha256 != before:
                break
            pause.wait(0.01)
    assert slot.current.sha256 != before


def test_threads_that_score_while_others_reload_get_one_model_or_the_other(path, fitted):
    slot = ModelSlot(path)
    row, score = {**fitted.rows[3], "day": None}, fitted.scores[3]
    right = {ModelSlot(p).calibrator.calibrate_one(row, score) for p in (fitted.path, fitted.other)}
    contents = [fitted.path.read_bytes(), fitted.other.read_bytes(), b"broken"]
    found: set[float] = set()
    done = threading.Event()

    def score_all_the_time() -> None:
        while not done.is_set():
            found.add(slot.calibrator.calibrate_one(row, score))

    threads = [threading.Thread(target=score_all_the_time) for _ in range(4)]
    for thread in threads:
        thread.start()
    for turn in range(30):
        replace(path, contents[turn % 3])
        slot.reload()
    done.set()
    for thread in threads:
        thread.join()
    assert found == right


def test_a_file_that_declares_too_much_is_refused_before_it_is_loaded(path, fitted, tmp_path):
    slot = ModelSlot(path, max_memory=2**20)
    large = tmp_path / "large.trueup"
    columns = {"x": [f"{number:06}" for number in range(4000)] * 2}
    quick().fit(columns, [number % 3 == 0 for number in range(8000)], scores=[0.2, 0.3] * 4000).save(large)
    before = slot.current
    replace(path, large.read_bytes())
    assert not slot.reload()
    assert slot.current is before
    assert re.search("could take [2-9] MiB of memory, and 1 MiB is the limit", slot.error or "")
    with pytest.raises(ModelFileError, match="Raise max_memory"):
        ModelSlot(path, max_memory=2**20)


@pytest.mark.parametrize(
    ("error", "said"),
    [(MemoryError(), "not enough memory"), (RecursionError("too deep"), "too deep"), (KeyError(), "KeyError")],
)
def test_whatever_goes_wrong_while_reloading_the_old_model_stays(path, fitted, error, said):
    def fail(calibrator):
        if refuse:
            raise error

    refuse = False
    slot = ModelSlot(path, accept=fail)
    before, refuse = slot.current, True
    replace(path, fitted.other.read_bytes())
    assert not slot.reload()
    assert slot.current is before
    assert said in (slot.error or "")
    with pytest.raises((ModelFileError, type(error))):
        ModelSlot(path, accept=fail)


def test_the_watching_thread_survives_running_out_of_memory(path, fitted):
    failed, looked = threading.Event(), threading.Event()

    def accept(calibrator):
        if started and not failed.is_set():
            failed.set()
            raise MemoryError
        looked.set()

    started = False
    slot = ModelSlot(path, accept=accept)
    looked.clear()
    started, before = True, slot.current.sha256
    with slot.watch(0.01):
        replace(path, fitted.other.read_bytes())
        assert failed.wait(30)
        os.utime(path)  # another look at the same bytes
        assert looked.wait(30)
    assert slot.current.sha256 != before
    assert slot.error is None


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs pipes with names")
def test_a_pipe_swapped_in_for_the_file_is_never_waited_for(path, fitted):
    slot = ModelSlot(path)
    good, pipe, done = fitted.path.read_bytes(), path.with_suffix(".pipe"), threading.Event()

    def swap() -> None:
        while not done.is_set():
            os.mkfifo(pipe)
            os.replace(pipe, path)
            replace(path, good)

    swapping = threading.Thread(target=swap)
    swapping.start()
    errors = set()
    for _ in range(300):
        slot.reload(force=True)
        errors.add(slot.error)
    done.set()
    swapping.join(30)
    assert not swapping.is_alive()
    assert errors <= {None, f"{str(path)!r} can't be used as a trueup model: it is not a file."}
    assert slot.calibrator.calibrate_one({**fitted.rows[0], "day": None}, 0.2) is not None
