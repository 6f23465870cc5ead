"""Small files in the formats of the data sources."""

from __future__ import annotations

import io
import zipfile
from pathlib import Path

from paper.tasks._acs import PROBLEMS

BANK_HEADER = (
    '"age";"job";"marital";"education";"default";"balance";"housing";"loan";"contact";"day";"month";"duration";'
    '"campaign";"pdays";"previous";"poutcome";"y"'
)
BANK_ROWS = [
    '58;"management";"married";"tertiary";"no";2143;"yes";"no";"unknown";5;"may";261;1;-1;0;"unknown";"no"',
    '34;"technician";"single";"secondary";"no";29;"yes";"yes";"cellular";5;"jun";151;1;-1;0;"unknown";"yes"',
    '29;"retired";"single";"primary";"yes";-2;"no";"no";"cellular";6;"may";76;2;90;3;"failure";"no"',
]


def bank_zip(path: Path, rows: list[str], *, nested: bool = True) -> Path:
    content = "\n".join([BANK_HEADER, *rows]) + "\n"
    inner = io.BytesIO()
    with zipfile.ZipFile(inner, "w") as archive:
        archive.writestr("bank-full.csv", content)
        archive.writestr("bank-names.txt", "words")
    with zipfile.ZipFile(path, "w") as archive:
        if nested:
            archive.writestr("bank.zip", inner.getvalue())
            archive.writestr("bank-additional.zip", b"another data set")
        else:
            archive.writestr("bank-full.csv", content)
    return path


ALL_COLUMNS = sorted({name for problem in PROBLEMS.values() for name in problem.columns})
PERSON = dict.fromkeys(ALL_COLUMNS, "1") | {"AGEP": "40", "PINCP": "60000", "WKHP": "40", "PWGTP": "10", "JWMNP": "30"}


def state_zip(path: Path, people: list[dict[str, str]]) -> Path:
    """A file as the Bureau publishes them, with columns that nobody asked for."""
    header = ["RT", "SERIALNO", *ALL_COLUMNS, "NAICSP"]
    lines = [",".join(header)]
    for number, person in enumerate(people):
        values = {"RT": "P", "SERIALNO": f"2018HU{number:07}", "NAICSP": "5411  "} | PERSON | person
        lines.append(",".join(values[name] for name in header))
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("psam_p01.csv", "\n".join(lines) + "\n")
        archive.writestr("ACS2018_PUMS_README.pdf", b"words")
    return path
