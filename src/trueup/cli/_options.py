"""The options, each declared once; commands take them as ``opt.Label``. Parsing loads nothing but typer."""

from __future__ import annotations

import enum
from typing import Annotated, Any

import typer

from trueup.cli._errors import WrongUsageError
from trueup.cli._files import Format

COLUMNS, SEGMENTS, TESTS, INPUT, OUTPUT = "Columns", "Segments", "Tests", "Input", "Output"
MODEL, SCRIPTS = "Model", "For scripts"
INPUT_FILES = ".parquet, .csv, .tsv (also .gz, .bz2, .zst), .arrow, .feather, .ipc, or - for stdin."


def option(name: str, help_: str, panel: str | None = None, metavar: str | None = None, **more: Any) -> Any:
    """An option with a value."""
    return typer.Option(*name.split(), help=help_, rich_help_panel=panel, metavar=metavar, **more)


def column(name: str, help_: str, metavar: str = "COLUMN", **more: Any) -> Any:
    """An option that names a column."""
    return option(name, help_, COLUMNS, metavar, **more)


def flag(name: str, help_: str, panel: str | None = None) -> Any:
    """An option without a value, whose help page shows no type either."""
    return option(name, help_, panel, metavar="", show_default=False)


Table = Annotated[str, typer.Argument(help=f"Scored rows: {INPUT_FILES}", show_default=False)]
Tables = Annotated[
    list[str],
    typer.Argument(
        help=f"Scored rows: files, folders or patterns such as 'days/*.parquet'. {INPUT_FILES}", metavar="TABLE"
    ),
]
ModelFile = Annotated[str, typer.Argument(help="The model file.", metavar="MODEL")]

# Which column is what.
Label = Annotated[str, column("--label", "The column of labels: two classes of any type.", show_default=False)]
Score = Annotated[str | None, column("--score", "The column of the model's probabilities.")]
Candidate = Annotated[str, column("--candidate", "The column of the candidate's probabilities.")]
Weight = Annotated[str | None, column("--weight", "The column of sample weights.")]
Positive = Annotated[
    str | None,
    option(
        "--positive",
        "The label that the scores are probabilities of. By default the one that sorts last, such as 1 of 0 and 1.",
        COLUMNS,
        "LABEL",
    ),
]
Group = Annotated[
    str | None,
    column(
        "--group",
        "A column such as a user's id. Rows with the same value belong together: splits and resampling never separate "
        "them, and their errors may depend on each other. It is not a feature.",
    ),
]
Time = Annotated[
    str | None,
    column(
        "--time",
        "Train on the earlier rows and test on the later ones, by this column of years, numbers or dates. It is not a "
        "feature.",
    ),
]
Features = Annotated[
    list[str] | None,
    column("--features", "The columns that segments are made of. By default all other columns.", "A,B"),
]
Drop = Annotated[list[str] | None, column("--drop", "Columns to leave out.", "A,B")]
Categorical = Annotated[
    list[str] | None,
    column(
        "--categorical",
        "Columns of numbers or dates that are categories. Strings and booleans are categories anyway.",
        "A,B",
    ),
]

# Which segments.
By = Annotated[
    list[str] | None,
    option("--by", "Audit your own segments: all values of these columns and their combinations.", SEGMENTS, "A,B"),
]
Where = Annotated[
    list[str] | None,
    option(
        "--where",
        'Audit a segment of your own, such as "country = NO and age < 25". Repeat the option for more.',
        SEGMENTS,
        "CONDITION",
    ),
]
Discover = Annotated[
    bool,
    flag(
        "--discover",
        "Let trees search for segments beyond the usual ones. They search one half of the rows, and the other half "
        "tests what they found.",
        SEGMENTS,
    ),
]
MaxDepth = Annotated[
    int | None,
    option("--max-depth", "How many columns a segment combines at most: 3 by default.", SEGMENTS, "N", min=0),
]
MaxValues = Annotated[
    int | None,
    option(
        "--max-values",
        "How many values a column is divided into: its most frequent categories and the rest, or quantiles. 3 by "
        "default; with --by, as many as there are.",
        SEGMENTS,
        "N",
        min=2,
    ),
]
MinRows = Annotated[int, option("--min-rows", "How many rows a segment needs to be tested.", SEGMENTS, "N", min=1)]
MaxSegments = Annotated[
    int | None, option("--max-segments", "Test only the first N segments; by default all.", SEGMENTS, "N", min=1)
]

# How they are tested.
Significance = Annotated[
    float,
    option(
        "--significance",
        "The error rate of the tests, between 0 and 1. At 0.05, one run in twenty finds something where nothing is.",
        TESTS,
        "SHARE",
    ),
]
NullSamples = Annotated[
    int | None,
    option(
        "--null-samples",
        "How often the search is repeated on data without any real effect, to learn what noise alone shows: 200 by "
        "default.",
        TESTS,
        "N",
        min=0,
    ),
]
Bootstrap = Annotated[
    int, option("--bootstrap", "How often the rows are resampled for the intervals.", TESTS, "N", min=0)
]
Seed = Annotated[
    int, option("--seed", "The seed of everything random. The same seed gives the same result.", TESTS, "N", min=0)
]


class PrimaryMetric(str, enum.Enum):
    """What can be primary: `trueup.metrics.METRICS` without the MCE, written out so that parsing loads nothing else."""

    LOG_LOSS = "log_loss"
    BRIER = "brier"
    PRAUC = "prauc"
    AUROC = "auroc"
    ECCE = "ecce"
    ECE = "ece"


Primary = Annotated[
    PrimaryMetric,
    option(
        "--primary",
        "The metric that must improve: log_loss, brier, prauc, auroc, ecce or ece.",
        TESTS,
        "METRIC",
        case_sensitive=False,
    ),
]
Guardrails = Annotated[
    list[str] | None,
    option(
        "--guardrail",
        "A metric that must not get worse by more than a margin: auroc, or auroc=0.002 to set the margin. Repeat the "
        "option for more, or say none. By default prauc, auroc and ecce; mce works too, in sigmas.",
        TESTS,
        "METRIC[=MARGIN]",
    ),
]

# How tables are read.
InputFormat = Annotated[
    Format | None,
    option(
        "--input-format",
        "parquet, csv or arrow. By default the first bytes or the name of the file tell; stdin is CSV.",
        INPUT,
        "FORMAT",
    ),
]
Delimiter = Annotated[
    str | None,
    option(
        "--delimiter",
        "What separates the columns of a CSV file, such as ; or tab. By default the first lines tell.",
        INPUT,
        "CHARACTER",
    ),
]
Stream = Annotated[
    bool,
    flag(
        "--stream",
        "Read a file batch by batch, in memory that doesn't grow with it; folders, patterns and several files are "
        "always read so. Each calibration error (ECCE) is then known only as a range.",
        INPUT,
    ),
]
Sketches = Annotated[
    bool,
    flag("--sketches", "The tables are sketches that --save-sketch wrote, of different rows: audit them all.", INPUT),
]
SaveSketch = Annotated[
    str | None, option("--save-sketch", "Keep all that an audit needs of the rows in this small file.", OUTPUT, "FILE")
]

# The model.
Model = Annotated[str, option("--model -m", "The model file.", metavar="FILE")]
MaxRounds = Annotated[int, option("--max-rounds", "How many rounds to fit at most.", MODEL, "N", min=0)]
Manifest = Annotated[
    str | None,
    option(
        "--manifest",
        "A list of models to evaluate, .json, .toml or .csv, with the name, table, label, score, weight, time, group, "
        "... of each. These options say what it leaves open.",
        INPUT,
        "FILE",
    ),
]

# What comes out.
Top = Annotated[int, option("--top", "How many segments to show.", OUTPUT, "N", min=0)]
SegmentTable = Annotated[
    str | None,
    option(
        "--output -o",
        "Write all segments to this table: .csv, .parquet, .arrow, or - for CSV on stdout and no text.",
        OUTPUT,
        "FILE",
    ),
]
OutputFolder = Annotated[
    str, option("--output -o", "The folder for the report, the model and the held-out rows.", OUTPUT, "FOLDER")
]
Column = Annotated[str, option("--column", "The name of the new column.", COLUMNS, "NAME")]
Html = Annotated[
    str | None, option("--html", "Write a report: one HTML page that opens in any browser.", OUTPUT, "FILE")
]
AsJson = Annotated[bool, flag("--json", "Print one JSON object instead of text.", OUTPUT)]
Quiet = Annotated[bool, flag("--quiet -q", "Show neither progress nor results, only problems.", OUTPUT)]
Force = Annotated[bool, flag("--force", "Replace what the output would overwrite.", OUTPUT)]
Jobs = Annotated[
    int | None, option("--jobs", "How many threads to use: by default all cores that the process may use.", None, "N")
]


class FailOn(str, enum.Enum):
    """Verdicts that a script must not go on with."""

    KEEP = "keep"
    INCONCLUSIVE = "inconclusive"
    NOT_SHIP = "not-ship"

    def is_met(self, verdict: str) -> bool:
        """Whether a verdict is one of these."""
        return verdict != "ship" if self is FailOn.NOT_SHIP else verdict == self.value


FailOnVerdict = Annotated[
    FailOn | None,
    option("--fail-on", "End with exit code 5 if the verdict is this one; not-ship stands for both.", SCRIPTS),
]
FailAbove = Annotated[
    float | None,
    option(
        "--fail-above",
        "End with exit code 5 if the MCE, the worst segment's calibration error, is above so many sigmas.",
        SCRIPTS,
        "SIGMAS",
        min=0.0,
    ),
]
FailOnSignificant = Annotated[
    bool, flag("--fail-on-significant", "End with exit code 5 if any segment is significantly wrong.", SCRIPTS)
]
Strict = Annotated[
    bool, flag("--strict", "End with exit code 5 if the diagnosis of the data has a warning or an error.", SCRIPTS)
]


def refuse_both(**options: object) -> None:
    """Refuse options that exclude each other if more than one is given; names are as in Python."""
    given = [f"--{name.replace('_', '-')}" for name, value in options.items() if value]
    if len(given) > 1:
        everything = "both" if len(given) == 2 else "all of them"
        raise WrongUsageError(f"{given[-1]}: use {' or '.join(given)}, not {everything}.")


def rules_of(primary: PrimaryMetric, guardrails: list[str] | None) -> dict[str, Any]:
    """The parameters of `trueup.compare` that --primary and --guardrail mean."""
    if guardrails is None:
        return {"primary": primary.value}
    if guardrails == ["none"]:
        return {"primary": primary.value, "guardrails": ()}
    known = [*(metric.value for metric in PrimaryMetric), "mce"]
    margins: dict[str, float] = {}
    for text in guardrails:
        name, equals, margin = text.partition("=")
        if name not in known:
            raise WrongUsageError(f"--guardrail: {name!r} is none of {', '.join(known)}.")
        if equals:
            try:
                margins[name] = float(margin)
            except ValueError:
                raise WrongUsageError(f"--guardrail: {margin!r} is not a number.") from None
    names = tuple(text.partition("=")[0] for text in guardrails)
    return {"primary": primary.value, "guardrails": names, "margins": margins}
