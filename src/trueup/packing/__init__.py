"""From tables in pieces to what a fit works on: what all pieces hold is learned first, then each is packed."""

from trueup.packing._facts import SAMPLE_ROWS, TableFacts
from trueup.packing._pieces import naming_roles as naming_roles
from trueup.packing._pieces import piece_scores as piece_scores
from trueup.packing._pieces import piece_weights as piece_weights
from trueup.packing._plan import PackedRows, PackedStore, PackingPlan
from trueup.packing._roles import StreamRoles
from trueup.packing._sample import RowSample, row_hashes
from trueup.packing._sides import Sides, sides_for

__all__ = [
    "SAMPLE_ROWS",
    "PackedRows",
    "PackedStore",
    "PackingPlan",
    "RowSample",
    "Sides",
    "StreamRoles",
    "TableFacts",
    "row_hashes",
    "sides_for",
]
