"""What a segment is: conditions on columns, the rows that meet them, and words that a person reads.

The names in ``__all__`` are for users. The others are what the rest of the package measures segments with: the
grid of all segments to a depth, their sums in one pass, and what the whole search finds if the scores are true.
"""

from trueup._runtime import pin_to
from trueup.segments._by import chosen_cuts
from trueup.segments._column_cuts import ColumnCut, learn_cuts
from trueup.segments._conditions import Condition, Interval, Missing, OneOf, Segment
from trueup.segments._cost import n_passes, tell_cost
from trueup.segments._enumerate import enumerate_segments
from trueup.segments._given import segment_masks, segment_partitions
from trueup.segments._grid import SegmentGrid, cross_columns, grid_of
from trueup.segments._measure import (
    MIN_VARIANCE,
    SegmentSums,
    batches,
    certain_variance,
    evidence,
    grouped,
    measure_segments,
    spread_by_groups,
    sum_again,
)
from trueup.segments._null import (
    NullMaxima,
    draw_group_signs,
    draw_labels,
    draw_null,
    hash_of_parts,
    holm,
    search_draws,
    step_down,
)
from trueup.segments._parse import parse_segment
from trueup.segments._partitions import Partition, between
from trueup.segments._rows import ScoredRows, sort_rows

__all__ = ["Interval", "Missing", "OneOf", "Segment", "enumerate_segments", "parse_segment"]

pin_to(__name__, __all__, globals())
