"""A file is written whole or not at all, whatever happens on the way."""

import os
import stat
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NoReturn

import pytest

import trueup
from trueup._runtime import atomic_path

GOLDEN = Path(__file__).parent / "golden" / "format_1.trueup"

# Drops all rounds but one of the golden model, and stops where it is told to while saving it over the old.
WRITER = """
import dataclasses, os, sys, zipfile
import trueup

owner, name, calls, source, target = sys.argv[1:]
owner, calls = {"os": os, "ZipFile": zipfile.ZipFile}[owner], int(calls)
original = getattr(owner, name)

def stop_at_last(*args, **kwargs):
    global calls
    calls -= 1
    if calls == 0:
        print("ready", flush=True)
        sys.stdin.read()  # until the end comes
    return original(*args, **kwargs)

model = trueup.load(source).model
setattr(owner, name, stop_at_last)
trueup.Calibrator(dataclasses.replace(model, rounds=model.rounds[:1])).save(target)
"""


def kill_while_saving(target: Path, owner: str, name: str, calls: int) -> None:
    """Save another model in another process, and kill it where it calls a function for the nth time."""
    arguments = [owner, name, str(calls), str(GOLDEN), str(target)]
    with subprocess.Popen(
        [sys.executable, "-c", WRITER, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
        writer.kill()
    assert writer.returncode != 0


def score_of_nothing(calibrator: trueup.Calibrator) -> float:
    """The calibrated score of a row whose features are all missing."""
    return calibrator.calibrate_one(dict.fromkeys(calibrator.model.features.names), 0.5)


@pytest.mark.parametrize(
    ("owner", "name", "calls"),
    [
        ("ZipFile", "writestr", 1),  # nothing is written yet
        ("ZipFile", "writestr", 6),  # half of the parts are
        ("ZipFile", "close", 1),  # all are, but not the list of them
        ("os", "fsync", 1),
        ("os", "replace", 1),
    ],
)
def test_a_kill_in_the_middle_of_a_save_leaves_the_old_file_whole(
    owner: str, name: str, calls: int, tmp_path: Path
) -> None:
    target = tmp_path / "model.trueup"
    target.write_bytes(GOLDEN.read_bytes())
    kill_while_saving(target, owner, name, calls)
    assert target.read_bytes() == GOLDEN.read_bytes()
    loaded = trueup.load(target)
    assert score_of_nothing(loaded) == score_of_nothing(trueup.load(GOLDEN))
    loaded.save(target)  # what the dead left behind is in nobody's way
    assert target.read_bytes() == GOLDEN.read_bytes()


def test_a_kill_after_the_renaming_leaves_the_new_file_whole(tmp_path: Path) -> None:
    target = tmp_path / "model.trueup"
    target.write_bytes(GOLDEN.read_bytes())
    kill_while_saving(target, "os", "fsync", 2)  # of the folder
    loaded = trueup.load(target)
    assert len(loaded.model.rounds) == 1
    assert score_of_nothing(loaded) != score_of_nothing(trueup.load(GOLDEN))
    assert os.listdir(tmp_path) == ["model.trueup"]


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt, MemoryError, SystemExit, OSError])
@pytest.mark.parametrize(
    ("owner", "name"), [(zipfile.ZipFile, "writestr"), (os, "chmod"), (os, "fsync"), (os, "replace")]
)
def test_an_exception_in_the_middle_of_a_save_leaves_no_trace(
    owner: Any, name: str, error: type[BaseException], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "model.trueup"
    target.write_bytes(GOLDEN.read_bytes())
    calibrator = trueup.load(target)

    def fail(*_arguments: Any, **_options: Any) -> NoReturn:
        raise error("half-way")

    with monkeypatch.context() as patched:
        patched.setattr(owner, name, fail)
        with pytest.raises(error, match="half-way"):
            calibrator.save(target)
    assert target.read_bytes() == GOLDEN.read_bytes()
    assert os.listdir(tmp_path) == ["model.trueup"]


def test_a_block_that_raises_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(ZeroDivisionError), atomic_path(tmp_path / "new") as temporary:
        temporary.write_text(f"half {1 / 0}")
    assert os.listdir(tmp_path) == []


def test_the_new_text_takes_the_place_of_the_old_when_the_block_ends(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    with atomic_path(tmp_path / "file") as temporary:
        temporary.write_text("new")
        assert (tmp_path / "file").read_text() == "old"
        assert temporary.parent == tmp_path  # on the same disk, or it could not be renamed
    assert (tmp_path / "file").read_text() == "new"


def test_a_link_goes_on_pointing_at_the_file_that_was_saved(tmp_path: Path) -> None:
    (tmp_path / "releases").mkdir()
    (tmp_path / "releases" / "v1").write_text("old")
    (tmp_path / "current").symlink_to(Path("releases") / "v1")
    with atomic_path(tmp_path / "current") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "current").is_symlink()
    assert (tmp_path / "releases" / "v1").read_text() == "new"


def test_a_link_to_nothing_gets_a_file_to_point_at(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "file")
    with atomic_path(tmp_path / "link") as temporary:
        temporary.write_text("new")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "file").read_text() == "new"


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_a_file_keeps_its_permissions_and_is_never_more_open_on_the_way(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "file").chmod(0o640)
    with atomic_path(tmp_path / "file") as temporary:
        temporary.write_text("new")
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640


@pytest.mark.skipif(os.name != "posix", reason="permissions as POSIX has them")
def test_a_new_file_has_the_permissions_that_any_new_file_has(tmp_path: Path) -> None:
    (tmp_path / "plain").write_text("")
    with atomic_path(tmp_path / "file"):
        pass
    assert (tmp_path / "file").stat().st_mode == (tmp_path / "plain").stat().st_mode


def test_a_folder_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(IsADirectoryError, match="folder"), atomic_path(tmp_path / "folder"):
        pass
    assert os.listdir(tmp_path) == ["folder"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_not_replaced(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with (
        pytest.raises(OSError, match=r"Not a file that can be replaced.*pipe"),
        atomic_path(tmp_path / "pipe"),
    ):
        pass
    assert (tmp_path / "pipe").is_fifo()


def test_a_folder_that_is_not_there_is_named_in_the_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError) as error, atomic_path(tmp_path / "nowhere" / "model.trueup"):
        pass
    assert error.value.filename == str(tmp_path / "nowhere" / "model.trueup")


def test_a_long_name_of_many_bytes_is_no_obstacle(tmp_path: Path) -> None:
    name = "中" * 84  # 252 bytes, and 255 are allowed
    with atomic_path(tmp_path / name) as temporary:
        temporary.write_text("new")
    assert os.listdir(tmp_path) == [name]


@pytest.fixture
def ordinary_folder() -> Iterator[Path]:
    """A folder, and a user who may not do everything: root may, so root becomes nobody for a while."""
    if not hasattr(os, "seteuid"):
        pytest.skip("needs users")
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o777)
        user = os.geteuid()
        if user == 0:
            os.seteuid(65534)
        try:
            yield Path(name)
        finally:
            os.seteuid(user)
            os.chmod(name, 0o777)


def test_a_folder_that_may_not_be_written_to_is_an_error_about_the_file(ordinary_folder: Path) -> None:
    inner = ordinary_folder / "inner"
    inner.mkdir()
    inner.chmod(0o555)
    with pytest.raises(PermissionError) as error, atomic_path(inner / "model.trueup"):
        pass
    assert error.value.filename == str(inner / "model.trueup")


def test_a_file_that_may_not_be_written_to_is_kept(ordinary_folder: Path) -> None:
    (ordinary_folder / "file").write_text("old")
    (ordinary_folder / "file").chmod(0o444)
    with (
        pytest.raises(PermissionError, match=r"The file may not be written to.*file"),
        atomic_path(ordinary_folder / "file") as temporary,
    ):
        temporary.write_text("new")
    assert (ordinary_folder / "file").read_text() == "old"
    assert os.listdir(ordinary_folder) == ["file"]
