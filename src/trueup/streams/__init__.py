"""Tables that come batch by batch and can be read again: files, folders, datasets and queries larger than memory."""

from trueup.streams._batch import Batch, naming
from trueup.streams._formats import Format, format_of_ending, known_ending
from trueup.streams._kinds import KindWatch
from trueup.streams._open import open_stream
from trueup.streams._paths import find_files, is_pattern, would_read
from trueup.streams._progress import shown_rows
from trueup.streams._sample import sample_of
from trueup.streams._stream import BATCH_ROWS, Stream

__all__ = [
    "BATCH_ROWS",
    "Batch",
    "Format",
    "KindWatch",
    "Stream",
    "find_files",
    "format_of_ending",
    "is_pattern",
    "known_ending",
    "naming",
    "open_stream",
    "sample_of",
    "shown_rows",
    "would_read",
]
