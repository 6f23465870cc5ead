"""What a segment is: conditions on columns, the rows that meet them, and words that a person reads.

The names in ``__all__`` are for users. The others are what the rest of the package measures segments with: the
grid of all segments to a depth, their sums in one pass, and what the whole search finds if the scores are true.
"""

from trueup._runtime import pin_to
from trueup.segments._column_cuts import ColumnCut, learn_cuts
from trueup.segments._conditions import Condition, Interval, Missing, OneOf, Segment
from trueup.segments._given import chosen_cuts, enumerate_segments, segment_masks, segment_partitions
from trueup.segments._grid import SegmentGrid, cross_columns, grid_of, n_passes, tell_cost
from trueup.segments._measure import (
    MIN_VARIANCE,
    ScoredRows,
    SegmentSums,
    batches,
    certain_variance,
    evidence,
    grouped,
    measure_segments,
    sort_rows,
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

__all__ = ["Interval", "Missing", "OneOf", "Segment", "enumerate_segments", "parse_segment"]

pin_to(__name__, __all__, globals())
