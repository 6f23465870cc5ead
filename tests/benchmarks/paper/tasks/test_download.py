"""Files from the sources: fetched once, checked always, and asked for in words where they can't be had."""

from __future__ import annotations

import hashlib
import json
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from paper.tasks import _download, fetch_files
from paper.tasks._catalog import TASK_SOURCES
from paper.tasks._download import HASHES_FILE, RemoteFile, fetch
from trueup._runtime import cache_folder
from trueup.errors import DataFileError

FILE = RemoteFile("numbers.csv", "https://example.org/numbers.csv")


class FakePooch(types.ModuleType):
    """A pooch that writes what it is told to instead of downloading."""

    def __init__(self, content: bytes | Exception) -> None:
        super().__init__("pooch")
        self.content, self.asked = content, []

    def HTTPDownloader(self, **options: Any) -> dict[str, Any]:  # noqa: N802 its name
        return options

    def create(self, path: Path, **options: Any) -> Any:
        def download(name: str, downloader: Any) -> None:
            self.asked.append((options["urls"][name], options["registry"][name], options["retry_if_failed"]))
            if isinstance(self.content, Exception):
                raise self.content
            (Path(path) / name).write_bytes(self.content)

        return types.SimpleNamespace(fetch=download)


@pytest.fixture
def source(monkeypatch: pytest.MonkeyPatch) -> FakePooch:
    fake = FakePooch(b"1,2,3\n")
    monkeypatch.setitem(sys.modules, "pooch", fake)
    monkeypatch.setattr(_download, "_check_reachable", lambda url: None)
    return fake


def test_without_a_network_the_file_is_named_before_pooch_tries_and_waits(
    tmp_path: Path, source: FakePooch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.setitem(sys.modules, "pooch", source)
    asked = []

    def unreachable(address: tuple[str, int], timeout: float) -> None:
        asked.append((address, timeout <= 5))
        raise OSError("Network is unreachable")

    monkeypatch.setattr(_download, "getproxies", dict)
    monkeypatch.setattr("socket.create_connection", unreachable)
    with pytest.raises(DataFileError, match=r"Network is unreachable. Wanted: numbers.csv, from https://example.org"):
        fetch(FILE, tmp_path)
    assert asked == [(("example.org", 443), True)]
    assert source.asked == []


def test_a_file_is_downloaded_once(tmp_path: Path, source: FakePooch) -> None:
    assert fetch(FILE, tmp_path).read_bytes() == b"1,2,3\n"
    assert fetch(FILE, tmp_path) == tmp_path / "numbers.csv"
    assert source.asked == [("https://example.org/numbers.csv", None, 2)]


def test_the_first_download_s_hash_is_kept(tmp_path: Path, source: FakePooch) -> None:
    fetch(FILE, tmp_path)
    kept = json.loads((tmp_path / HASHES_FILE).read_text())
    assert kept == {"numbers.csv": hashlib.sha256(b"1,2,3\n").hexdigest()}


def test_a_file_that_changed_since_is_refused(tmp_path: Path, source: FakePooch) -> None:
    fetch(FILE, tmp_path).write_bytes(b"4,5,6\n")
    with pytest.raises(DataFileError, match=r"numbers.csv is not the file that it was.*on record in .*Delete it"):
        fetch(FILE, tmp_path)


def test_a_later_download_that_differs_is_refused(tmp_path: Path, source: FakePooch) -> None:
    fetch(FILE, tmp_path).unlink()
    source.content = b"another publication"
    with pytest.raises(DataFileError, match=r"if the source has changed it for good, delete its line"):
        fetch(FILE, tmp_path)


def test_a_published_checksum_counts_more_than_the_record(tmp_path: Path, source: FakePooch) -> None:
    published = RemoteFile(FILE.name, FILE.url, sha256=hashlib.sha256(b"other").hexdigest())
    with pytest.raises(DataFileError, match=r"is published"):
        fetch(published, tmp_path)


def test_a_failed_download_says_what_is_wanted_from_where_and_where_to_put_it(
    tmp_path: Path, source: FakePooch
) -> None:
    source.content = ConnectionError("no route to host")
    with pytest.raises(DataFileError) as caught:
        fetch(FILE, tmp_path)
    told = str(caught.value)
    assert "no route to host" in told
    assert "numbers.csv, from https://example.org/numbers.csv" in told
    assert f"put it at {tmp_path / 'numbers.csv'}" in told
    assert "TRUEUP_DATA" in told


def test_without_pooch_the_package_to_install_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(DataFileError, match=r"pip install pooch.*Wanted: numbers.csv, from https://example.org"):
        fetch(FILE, tmp_path)


def test_a_file_that_is_there_needs_no_pooch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pooch", None)
    (tmp_path / "numbers.csv").write_text("1\n")
    assert fetch(FILE, tmp_path).read_text() == "1\n"


def test_a_record_that_can_t_be_read_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "numbers.csv").write_text("1\n")
    (tmp_path / HASHES_FILE).write_text("[1, 2")
    with pytest.raises(DataFileError, match=r"known-hashes.json can't be read"):
        fetch(FILE, tmp_path)


def test_the_cache_is_where_the_environment_says(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("TRUEUP_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path


def test_the_real_pooch_downloads_and_tells_its_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Through the library itself, with its downloader replaced by one that copies: its interface is as we use it."""
    pooch = pytest.importorskip("pooch")

    def copies(progressbar: Any, timeout: float) -> Any:
        def copy(url: str, output_file: str, shelf: Any, check_only: bool = False) -> None:
            assert url == FILE.url
            Path(output_file).write_bytes(b"1,2,3\n")

        return copy

    monkeypatch.setattr(pooch, "HTTPDownloader", copies)
    monkeypatch.setattr(_download, "_check_reachable", lambda url: None)
    pooch.get_logger().setLevel("ERROR")
    assert fetch(FILE, tmp_path).read_bytes() == b"1,2,3\n"


def test_all_states_are_asked_for_by_the_census_bureau_s_names() -> None:
    files = TASK_SOURCES["ACSIncome"].remote
    assert len(files) == 50
    assert files[4].url == "https://www2.census.gov/programs-surveys/acs/data/pums/2018/1-Year/csv_pca.zip"
    assert TASK_SOURCES["ACSIncomeCA"].remote == (files[4],)


def test_a_task_s_files_are_fetched_without_being_read(
    tmp_path: Path, source: FakePooch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TRUEUP_CACHE", str(tmp_path))
    monkeypatch.delenv("TRUEUP_DATA", raising=False)
    fetch_files("MEPS")
    assert len(list((tmp_path / "downloads").glob("meps*"))) == 4
    asked = len(source.asked)
    fetch_files("HMDA", folder=tmp_path)
    assert len(source.asked) == asked
