"""Vega, Vega-Lite and Vega-Embed as one script, to be part of the page."""

from __future__ import annotations

import base64
import contextlib
import functools
import hashlib
from importlib.metadata import version

from trueup._runtime import atomic_path, cache_folder

__all__ = ["content_hash", "vega_bundle"]

_SNIPPET = "window.vegaEmbed = vegaEmbed;"


@functools.lru_cache(maxsize=1)
def vega_bundle() -> str:
    """The script that draws the charts, as vl-convert bundles it.

    Bundling takes seconds and gives the same text each time, so it is kept in the user's cache, one file for each
    version of vl-convert. Where the cache can't be written, the page is made all the same.
    """
    import vl_convert

    kept = cache_folder() / f"vega-by-vl-convert-{version('vl-convert-python')}.js"
    with contextlib.suppress(OSError, UnicodeDecodeError):
        return kept.read_text("utf-8")
    bundle = str(vl_convert.javascript_bundle(_SNIPPET)).replace("\r\n", "\n").replace("</script", "<\\/script")
    with contextlib.suppress(OSError):
        kept.parent.mkdir(parents=True, exist_ok=True)
        with atomic_path(kept) as temporary:
            temporary.write_bytes(bundle.encode("utf-8"))
    return bundle


def content_hash(script: str) -> str:
    """What a Content-Security-Policy names a script by, so that no other one runs."""
    digest = hashlib.sha256(script.encode("utf-8")).digest()
    return f"'sha256-{base64.b64encode(digest).decode('ascii')}'"
