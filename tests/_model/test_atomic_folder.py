"""Folders that are either whole or not there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from trueup._runtime import atomic_folder

NAMES = ("a.txt", "b.txt")


def write(path: Path, text: str = "new") -> None:
    with atomic_folder(path, NAMES) as folder:
        for name in NAMES:
            (folder / name).write_text(text)


def texts(path: Path) -> dict[str, str]:
    return {file.name: file.read_text() for file in path.iterdir()}


def test_a_folder_appears_when_all_its_files_are_there(tmp_path: Path) -> None:
    with atomic_folder(tmp_path / "x" / "y", NAMES) as folder:
        (folder / "a.txt").write_text("new")
        assert not (tmp_path / "x" / "y").exists()
    assert texts(tmp_path / "x" / "y") == {"a.txt": "new"}
    assert os.listdir(tmp_path / "x") == ["y"]


def test_an_older_one_is_replaced_as_a_whole(tmp_path: Path) -> None:
    write(tmp_path / "x", "old")
    with atomic_folder(tmp_path / "x", NAMES) as folder:
        (folder / "a.txt").write_text("new")
    assert texts(tmp_path / "x") == {"a.txt": "new"}
    assert os.listdir(tmp_path) == ["x"]


def test_an_interrupt_leaves_nothing_or_the_older_one(tmp_path: Path) -> None:
    def interrupted(path: Path) -> None:
        with atomic_folder(path, NAMES) as folder:
            (folder / "a.txt").write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        interrupted(tmp_path / "deep" / "x")
    assert os.listdir(tmp_path) == []
    write(tmp_path / "x", "old")
    with pytest.raises(KeyboardInterrupt):
        interrupted(tmp_path / "x")
    assert texts(tmp_path / "x") == dict.fromkeys(NAMES, "old")
    assert os.listdir(tmp_path) == ["x"]


def test_an_interrupt_between_the_two_renames_brings_the_older_one_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "x", "old")
    rename, calls = os.rename, []

    def stop_at_the_second(one: Path, other: Path) -> None:
        calls.append(one)
        if len(calls) == 2:
            raise KeyboardInterrupt
        rename(one, other)

    monkeypatch.setattr(os, "rename", stop_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        write(tmp_path / "x")
    assert texts(tmp_path / "x") == dict.fromkeys(NAMES, "old")
    assert os.listdir(tmp_path) == ["x"]


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "thesis.doc").write_text("mine")
    with pytest.raises(FileExistsError, match=r"other files in it \(thesis.doc\)"):
        write(tmp_path)
    assert texts(tmp_path) == {"thesis.doc": "mine"}


def test_an_empty_folder_and_a_link_to_one_are_filled(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    write(tmp_path / "link")
    assert texts(tmp_path / "real") == dict.fromkeys(NAMES, "new")
    assert (tmp_path / "link").is_symlink()


def test_a_file_in_its_place_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("a file")
    with pytest.raises(NotADirectoryError):
        write(tmp_path / "x")
    with pytest.raises(NotADirectoryError):
        write(tmp_path / "x" / "y")
