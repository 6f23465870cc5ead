"""Files that become something else while they are loaded."""

import os
import shutil
import zipfile
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

import trueup
from trueup._model import _file
from trueup.errors import ModelFileError

GOLDEN = Path(__file__).parent / "golden" / "format_1.trueup"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_that_takes_the_place_of_a_file_is_refused_and_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.trueup"
    os.mkfifo(path)
    before = os.stat(GOLDEN)
    with monkeypatch.context() as patched:
        patched.setattr(_file.os, "stat", lambda path: before)  # what it was a moment ago
        with pytest.raises(ModelFileError, match="it is not a file"):
            trueup.load(path)


def test_every_part_is_read_once_so_that_what_is_checked_is_what_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    read: Counter[str] = Counter()
    original = _file._read_part

    def counted(archive: zipfile.ZipFile, part: zipfile.ZipInfo) -> bytes:
        read[part.filename] += 1
        return original(archive, part)

    monkeypatch.setattr(_file, "_read_part", counted)
    trueup.load(GOLDEN)
    assert set(read.values()) == {1}
    assert read["manifest.json"] == 1


@pytest.mark.parametrize("kept", [0, 1000, 6000])
def test_a_file_that_is_cut_while_it_is_read_is_refused(
    kept: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "model.trueup"
    shutil.copy(GOLDEN, path)
    original: Any = _file._check_end

    def checked(file: Any, size: int) -> None:
        original(file, size)
        os.truncate(path, kept)

    monkeypatch.setattr(_file, "_check_end", checked)
    with pytest.raises(ModelFileError, match="damaged or cut off"):
        trueup.load(path)


def test_a_link_is_followed_and_names_in_the_zip_lead_nowhere(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(GOLDEN)
    assert trueup.load(tmp_path / "link").model.classes == ("no", "yes")
    with zipfile.ZipFile(GOLDEN) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    with zipfile.ZipFile(tmp_path / "climbing.trueup", "w") as archive:
        for name, content in parts.items():
            archive.writestr(f"../{name}" if name.startswith("trees") else name, content)
    before = sorted(tmp_path.iterdir())
    with pytest.raises(ModelFileError, match="its parts are not those of a model file"):
        trueup.load(tmp_path / "climbing.trueup")
    assert sorted(tmp_path.iterdir()) == before
