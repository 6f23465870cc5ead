"""Loading a model file runs nothing, and opens nothing but the file."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

GOLDEN = sorted((Path(__file__).parent / "golden").glob("*.trueup"))

# Python tells an audit hook of every file that is opened, every import, and whatever could run code. A hook can't be
# removed, hence a process of its own; the first load is for what is imported once.
PROGRAM = """
import json, shutil, sys
import trueup

golden, copy = sys.argv[1:]
trueup.load(golden)
shutil.copy(golden, copy)
events = []
watching = [False]
quiet = {"object.__getattr__", "sys._getframe", "code.__new__", "gc.get_objects"}

def hook(event, arguments):
    if watching[0] and event not in quiet:
        events.append([event, str(arguments[0]) if arguments else ""])

sys.addaudithook(hook)
watching[0] = True
trueup.load(copy)
watching[0] = False
print(json.dumps(events))
"""


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_loading_opens_the_file_and_does_nothing_else_that_python_can_tell_of(path: Path, tmp_path: Path) -> None:
    copy = tmp_path / "model.trueup"
    command = [sys.executable, "-c", PROGRAM, str(path), str(copy)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=100, check=True)
    events = json.loads(done.stdout)
    assert ["open", str(copy)] in events
    others = [event for event in events if event != ["open", str(copy)]]
    assert others == []
