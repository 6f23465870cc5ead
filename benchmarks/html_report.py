"""What a report of many rows and segments weighs, and how long it takes to make and to open.

    python benchmarks/html_report.py [--quick] [--compare]

Needs playwright and a chromium. Ends with exit code 1 if a page is not below 5 MB, or the
median of its openings not below 3 s.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import trueup
from machine import describe
from scoring import traffic

ROWS, FEWER_ROWS = 1_000_000, 100_000
OPENINGS = 5
MOST_BYTES, MOST_SECONDS = 5_000_000, 3.0


def opening_seconds(page: Path) -> list[float]:
    """From asking for the page until its table and its first charts are drawn, each time in a new window."""
    from playwright.sync_api import sync_playwright

    seconds = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        for _ in range(OPENINGS):
            window = browser.new_context().new_page()
            started = time.perf_counter()
            window.goto(page.as_uri())
            window.wait_for_selector("tr.detail .curves[data-drawn]")
            window.wait_for_selector("#overall-curves[data-drawn]")
            seconds.append(time.perf_counter() - started)
            window.context.close()
        browser.close()
    return seconds


def measured(what: str, made: Callable[[Path], object], folder: Path) -> bool:
    """Make a page, open it, say what came out, and whether that is within the limits."""
    page = folder / "page.html"
    started = time.perf_counter()
    made(page)
    making, size, opening = time.perf_counter() - started, page.stat().st_size, opening_seconds(page)
    print(f"{what}: made in {making:.1f} s, {size / 1e6:.2f} MB, opened in {median(opening):.2f} s", flush=True)
    print(f"  openings: {', '.join(f'{one:.2f}' for one in opening)} s", flush=True)
    return size < MOST_BYTES and median(opening) < MOST_SECONDS


def main() -> None:
    """Audit simulated traffic, and with --compare a better model beside it."""
    print(describe())
    n_rows = FEWER_ROWS if "--quick" in sys.argv else ROWS
    X, y, scores = traffic(n_rows)
    fine = True
    with tempfile.TemporaryDirectory() as folder:
        # Draws of noise take most of an audit's time, and nothing of the page's.
        audit = trueup.audit(X, y, scores, null_samples=0)
        started = time.perf_counter()
        audit.segments  # noqa: B018, which also tells the patterns, whether a page is wanted or not
        print(f"segments listed in {time.perf_counter() - started:.1f} s")
        fine &= measured(f"audit, {n_rows:,} rows, {audit.n_segments:,} segments", audit.to_html, Path(folder))
        if "--compare" in sys.argv:
            model = trueup.MCGrad(max_rounds=2).fit(X, y, scores=scores)
            both = trueup.compare(X, y, scores, model.calibrate(X, scores), null_samples=0, n_bootstrap=50)
            fine &= measured(f"comparison, {n_rows:,} rows, {both.n_segments:,} segments", both.to_html, Path(folder))
    sys.exit(0 if fine else f"not below {MOST_BYTES / 1e6:g} MB, or not open in {MOST_SECONDS:g} s")


if __name__ == "__main__":
    main()
