"""What users call is documented in full: every parameter, what comes back, and an example that runs."""

from __future__ import annotations

import doctest
import inspect
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import trueup

validate = pytest.importorskip("numpydoc.validate").validate

WHOLE = {"GL08", "SS03", "PR01", "PR02", "PR03", "PR07", "RT01", "RT03", "YD01"}


def public_things() -> dict[str, Any]:
    things: dict[str, Any] = {}
    for name in trueup.__all__:
        thing = getattr(trueup, name)
        if isinstance(thing, ModuleType):
            own = {f"trueup.{name}.{inner}": getattr(thing, inner) for inner in thing.__all__}
            things |= {inner: value for inner, value in own.items() if not isinstance(value, tuple)}
        elif not isinstance(thing, str):
            things[f"trueup.{name}"] = thing
    return things


def methods() -> list[str]:
    own = []
    for name, thing in public_things().items():
        if inspect.isclass(thing):
            parts = {part: value for part, value in vars(thing).items() if not part.startswith("_")}
            own += [f"{name}.{part}" for part, value in parts.items() if not is_default(value)]
    return own


def is_default(value: Any) -> bool:
    """Whether a class attribute is a field's default, which the class's own docstring tells of."""
    return value is None or isinstance(value, (bool, int, float, str))


def is_callable_code(thing: Any) -> bool:
    return inspect.isfunction(thing) or (inspect.isclass(thing) and not issubclass(thing, BaseException))


@pytest.mark.parametrize("name", [*public_things(), *methods()])
def test_every_public_thing_is_documented_in_full(name: str) -> None:
    lacking = [(code, text) for code, text in validate(name)["errors"] if code in WHOLE]
    # A generator says what it yields instead of what it returns, a data class what it holds instead of what it takes.
    said = inspect.getdoc(eval(name, {"trueup": trueup})) or ""
    instead = {"RT01": "Yields\n------", "PR01": "Attributes\n----------"}
    assert [error for error in lacking if instead.get(error[0], "nothing instead") not in said] == []


@pytest.mark.parametrize("name", [name for name, thing in public_things().items() if is_callable_code(thing)])
def test_every_public_thing_has_an_example(name: str) -> None:
    assert ">>> " in (inspect.getdoc(public_things()[name]) or "")


@pytest.mark.parametrize("name", [name for name, thing in public_things().items() if inspect.isclass(thing)])
def test_the_examples_of_methods_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # doctest looks for methods where a class says that it is from, and public classes name their package instead.
    monkeypatch.chdir(tmp_path)
    for found in doctest.DocTestFinder(exclude_empty=True).find(public_things()[name], name, module=False):
        assert doctest.DocTestRunner().run(found).failed == 0, found.name
