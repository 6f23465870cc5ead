"""What a hostile file is, and the parts that it is made of."""

import io
import json
import zipfile
from collections.abc import Callable
from hashlib import sha256
from typing import Any, NamedTuple

import numpy as np

Entries = dict[str, bytes]


class HostileFile(NamedTuple):
    """A file, and whether its checksums are right, so that it may describe another valid model."""

    name: str
    content: bytes
    recomputed: bool = False


def zip_of(entries: Entries, edit: Callable[[zipfile.ZipInfo], None] = lambda info: None) -> bytes:
    """A zip as `write_model` makes them."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in entries.items():
            info = zipfile.ZipInfo(name)
            edit(info)
            archive.writestr(info, content)
    return buffer.getvalue()


def with_checksums(entries: Entries) -> Entries:
    sums = {name: sha256(content).hexdigest() for name, content in entries.items() if name != "checksums.json"}
    return {**entries, "checksums.json": json.dumps(sums).encode()}


def npy(array: Any) -> bytes:
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, array, version=(1, 0), allow_pickle=False)
    return buffer.getvalue()
