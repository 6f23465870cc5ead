"""A browser that opens pages from disk and notes what they do."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

REQUIRED = os.environ.get("TRUEUP_REQUIRE_CHROMIUM") == "1"


@dataclass
class Opened:
    """A page in the browser, and what it asked for or complained of."""

    page: Any
    requests: list[str] = field(default_factory=list)
    complaints: list[str] = field(default_factory=list)

    def texts(self, selector: str) -> list[str]:
        return [" ".join(text.split()) for text in self.page.locator(selector).all_inner_texts()]

    def wait_for_charts(self, n: int) -> None:
        self.page.wait_for_function(f"document.querySelectorAll('.chart svg').length >= {n}")

    def scrolls_sideways(self) -> bool:
        return bool(self.page.evaluate("document.documentElement.scrollWidth > window.innerWidth"))


Open = Callable[..., Opened]


@pytest.fixture(scope="module")  # while it is there, its event loop runs, and other tests need their own
def browser() -> Iterator[Any]:
    """Debian's chromium; tests that need one are skipped where there is none, unless it is required."""
    path = os.environ.get("TRUEUP_CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        path = None
    if path is None:
        if REQUIRED:
            pytest.fail("TRUEUP_REQUIRE_CHROMIUM is set, and chromium or playwright is not installed")
        pytest.skip("no chromium here: apt-get install chromium, or name one with TRUEUP_CHROMIUM")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=path)
        yield chromium
        chromium.close()


@pytest.fixture
def open_html(browser: Any, tmp_path: Path) -> Iterator[Open]:
    """Open HTML from a file, in a window of a size and a colour scheme."""
    contexts: list[Any] = []

    def opened(html: str, *, width: int = 1280, height: int = 900, **options: Any) -> Opened:
        path = tmp_path / "page.html"
        path.write_bytes(html.encode("utf-8"))
        context = browser.new_context(viewport={"width": width, "height": height}, reduced_motion="reduce", **options)
        contexts.append(context)
        one = Opened(context.new_page())
        one.page.set_default_timeout(30_000)
        one.page.on("request", lambda request: one.requests.append(request.url))
        one.page.on("console", lambda said: one.complaints.append(said.text) if said.type in _BAD else None)
        one.page.on("pageerror", lambda error: one.complaints.append(str(error)))
        one.page.goto(path.as_uri())
        one.page.wait_for_function("document.documentElement.dataset.ready === 'yes'")
        return one

    yield opened
    for context in contexts:
        context.close()


_BAD = ("error", "warning", "assert")
