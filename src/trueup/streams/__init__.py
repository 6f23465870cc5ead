"""Tables that come batch by batch and can be read again: files, folders, datasets and queries larger than memory."""

from trueup.streams._batch import Batch, naming
from trueup.streams._open import open_stream
from trueup.streams._progress import shown_rows
from trueup.streams._stream import BATCH_ROWS, Stream

__all__ = ["BATCH_ROWS", "Batch", "Stream", "naming", "open_stream", "shown_rows"]
