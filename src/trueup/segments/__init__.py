"""What a segment is: conditions on columns, the rows that meet them, and words that a person reads.

The names in ``__all__`` are for users. The others are what the rest of the package measures segments with: the
grid of all segments to a depth, their sums in one pass, and what the whole search finds if the scores are true.
"""

from trueup.segments._column_cuts import ColumnCut as ColumnCut
from trueup.segments._column_cuts import learn_cuts as learn_cuts
from trueup.segments._conditions import Condition as Condition
from trueup.segments._conditions import Interval, Missing, OneOf, Segment
from trueup.segments._enumerate import enumerate_segments
from trueup.segments._grid import SegmentGrid as SegmentGrid
from trueup.segments._grid import cross_columns as cross_columns
from trueup.segments._grid import grid_of as grid_of
from trueup.segments._groups import group_masks as group_masks
from trueup.segments._groups import group_partitions as group_partitions
from trueup.segments._measure import MIN_VARIANCE as MIN_VARIANCE
from trueup.segments._measure import SegmentSums as SegmentSums
from trueup.segments._measure import batches as batches
from trueup.segments._measure import certain_variance as certain_variance
from trueup.segments._measure import evidence as evidence
from trueup.segments._measure import measure_segments as measure_segments
from trueup.segments._measure import sum_again as sum_again
from trueup.segments._null import NullMaxima as NullMaxima
from trueup.segments._null import draw_labels as draw_labels
from trueup.segments._null import draw_null as draw_null
from trueup.segments._null import hash_of_parts as hash_of_parts
from trueup.segments._null import search_draws as search_draws
from trueup.segments._null import step_down as step_down
from trueup.segments._parse import parse_segment
from trueup.segments._partitions import Partition as Partition
from trueup.segments._partitions import between as between
from trueup.segments._rows import ScoredRows as ScoredRows
from trueup.segments._rows import sort_rows as sort_rows

__all__ = ["Interval", "Missing", "OneOf", "Segment", "enumerate_segments", "parse_segment"]
