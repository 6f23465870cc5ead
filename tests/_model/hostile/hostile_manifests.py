"""Manifests with fields that are not what they should be, with checksums that are right."""

import copy
import json
import random
from collections.abc import Callable, Iterator
from typing import Any

from hostile_file import Entries, HostileFile, with_checksums, zip_of

# JSON text, since some of it is no JSON.
ODD_JSON = [
    "null", "true", "0", "1", "2", "-1", "3", "0.5", "-0.0", "1e-320", "1e15", "1e300", "-1e300", "1e999",
    "-1e999", "NaN", "Infinity", "-Infinity", str(2**31), str(2**63), str(10**30), str(10**400), "9" * 5000,
    "-" + "9" * 5000, '""', '"x"', '"NUMBER"', '"MIXED"', '"EMPTY"', '"__class__"', '"\\ud800"', '"\\u0000"',
    "[]", "{}", "[null]", "[[]]", "[1, 1]", '["a", "a"]', '{"a": 1}', '{"float": "nan"}', '{"float": "inf"}',
    '{"float": []}', '{"datetime": "2020-01-01"}', '{"datetime": "2020-01-01T00:00:00+01:00"}',
    '{"date": "0001-01-01"}', '{"timedelta": 1e30}', '{"timedelta": 99999999999999999999999}',
    '{"timedelta": "x"}', '{"decimal": "sNaN"}', '{"decimal": "1e999999999"}', '{"decimal": [1, [2], 3]}',
    '{"bytes": "é"}', '{"bytes": 5}', '{"opaque": "ab"}', '{"opaque": [[], {}]}', '{"opaque": ["a", "b"]}',
    '{"unknown": 1}', '{"date": "2020-W01-1"}', '{"time": "25:00"}', '{"datetime": 5}', '{"date": {}}',
    '{"time": null}',
]  # fmt: skip
LONG_JSON = [
    "[" * 50_000,
    '{"a":' * 50_000,
    "[" * 400 + "]" * 400,
    "[" + "0," * 100_000 + "0]",
    "[" + "[]," * 50_000 + "[]]",
    '"' + "x" * 300_000 + '"',
]
PLACEHOLDER = '"0d1f3a"'


def json_paths(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """The ways to every value; of a long list, to the first two and the last."""
    if path:
        yield path
    if isinstance(value, dict):
        for name in value:
            yield from json_paths(value[name], (*path, name))
    elif isinstance(value, list):
        for i in sorted({0, 1, len(value) - 1} & set(range(len(value)))):
            yield from json_paths(value[i], (*path, i))


def edited(manifest: Any, path: tuple[Any, ...], edit: Callable[[Any, Any], None]) -> Any:
    changed = copy.deepcopy(manifest)
    parent = changed
    for step in path[:-1]:
        parent = parent[step]
    edit(parent, path[-1])
    return changed


def wrong_manifests(entries: Entries, rng: random.Random) -> Iterator[HostileFile]:
    """Every field of the manifest removed, doubled, and replaced by what it should not be."""
    manifest = json.loads(entries["manifest.json"])

    def file(name: str, text: str) -> HostileFile:
        changed = with_checksums({**entries, "manifest.json": text.encode("utf-8")})
        return HostileFile(name, zip_of(changed), recomputed=True)

    for path in json_paths(manifest):
        where = "/".join(map(str, path))
        with_hole = json.dumps(
            edited(manifest, path, lambda parent, key: parent.__setitem__(key, json.loads(PLACEHOLDER)))
        )
        for text in rng.sample(ODD_JSON, 10) if len(path) > 2 else ODD_JSON:
            yield file(f"{where} is {text[:40]}", with_hole.replace(PLACEHOLDER, text))
        for text in LONG_JSON if len(path) < 2 else [rng.choice(LONG_JSON)] * (rng.random() < 0.4):
            yield file(f"{where} is {len(text)} characters of {text[:6]}", with_hole.replace(PLACEHOLDER, text))
        yield file(f"{where} is removed", json.dumps(edited(manifest, path, lambda parent, key: parent.pop(key))))
        if isinstance(path[-1], str):
            again = f"{json.dumps(path[-1])}: {PLACEHOLDER}, {json.dumps(path[-1])}: 1"
            yield file(f"{where} is there twice", with_hole.replace(f"{json.dumps(path[-1])}: {PLACEHOLDER}", again))
            added = edited(manifest, path, lambda parent, key: parent.__setitem__(f"{key}_", 1))
            yield file(f"{where} has a neighbour", json.dumps(added))
        else:
            more = edited(manifest, path, lambda parent, key: parent.append(parent[key]))
            yield file(f"{where} is there once more", json.dumps(more))
            swapped = edited(manifest, path, lambda parent, key: parent.__setitem__(slice(None), parent[::-1]))
            yield file(f"{where} is in reverse", json.dumps(swapped))
    for text in (*ODD_JSON, *LONG_JSON, "", " ", "\ufeff{}", "{", "[1,", '{"a"}', "\x00"):
        yield file(f"the manifest is {text[:40]}", text)
        sums = {**entries, "checksums.json": text.encode("utf-8")}
        yield HostileFile(f"the checksums are {text[:40]}", zip_of(sums))
