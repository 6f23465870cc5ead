import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

LOWEST_SCORE: float
HIGHEST_SCORE: float

class Forest:
    def __init__(
        self,
        *,
        categorical: npt.NDArray[np.uint8],
        round_offsets: npt.NDArray[np.int32],
        thetas: Floats,
        node_offsets: npt.NDArray[np.int32],
        split_feature: npt.NDArray[np.int32],
        threshold: Floats,
        decision_type: npt.NDArray[np.uint8],
        left_child: npt.NDArray[np.int32],
        right_child: npt.NDArray[np.int32],
        leaf_values: Floats,
        category_offsets: npt.NDArray[np.int32],
        category_words: npt.NDArray[np.uint32],
    ) -> None: ...
    @property
    def n_features(self) -> int: ...
    @property
    def n_rounds(self) -> int: ...
    @property
    def n_fast_trees(self) -> int: ...
    def advance(self, matrix: Floats, logits: Floats, first: int, last: int, n_threads: int = 1) -> Floats: ...
    def corrections(self, matrix: Floats, logits: Floats, round: int, n_threads: int = 1) -> Floats: ...
    def probability_of_one(self, row: list[float], score: float) -> float: ...

def logit(probabilities: Floats, n_threads: int = 1) -> Floats: ...
def sigmoid(logits: Floats, n_threads: int = 1) -> Floats: ...
def logistic_sums(
    logits: Floats, labels: Floats, weights: Floats | None, theta: float, limit: float, n_threads: int = 1
) -> tuple[float, float]: ...
def affine_sums(
    logits: Floats,
    labels: Floats,
    weights: Floats | None,
    theta: float,
    intercept: float,
    limit: float,
    n_threads: int = 1,
) -> tuple[float, float, float, float, float, float]: ...
def log_loss_sum(logits: Floats, labels: Floats, weights: Floats | None, n_threads: int = 1) -> float: ...
def logistic_gradients(
    scores: Floats,
    labels: npt.NDArray[np.float32],
    weights: npt.NDArray[np.float32] | None,
    soft: bool,
    gradients: npt.NDArray[np.float32],
    hessians: npt.NDArray[np.float32],
    n_threads: int = 1,
) -> None: ...

SUM_LANES: int
DRAW_LANES: int

Bytes = npt.NDArray[np.uint8]
Ints = npt.NDArray[np.int32]
Singles = npt.NDArray[np.float32]

def neighbours(values: Floats, cut: float) -> tuple[float, float]: ...
def evidence_of(range: float, variance: float, unit: float) -> float: ...

class Cells:
    def __init__(
        self,
        codes: Bytes,
        n_values: npt.NDArray[np.uint32],
        skips_zero: Bytes,
        score_ids: npt.NDArray[np.uint32],
    ) -> None: ...
    def sums(
        self, offsets: Ints, members: Ints, lanes: Floats, min_rows: int, n_threads: int = 1
    ) -> tuple[Ints, Ints, Ints, Floats, Floats]: ...
    def products(
        self,
        *,
        offsets: Ints,
        members: Ints,
        chosen_offsets: npt.NDArray[np.int64],
        cell: Ints,
        lanes: Floats,
        n_threads: int = 1,
    ) -> Floats: ...
    def drawn(
        self,
        *,
        offsets: Ints,
        members: Ints,
        chosen_offsets: npt.NDArray[np.int64],
        cell: Ints,
        variance: Floats,
        unit: Floats,
        min_variance: float,
        slot: Ints,
        n_slots: int,
        draws: Bytes,
        residual_if_zero: Singles,
        residual_if_one: Singles,
        n_threads: int = 1,
    ) -> tuple[Singles, Singles, Singles]: ...

Shorts = npt.NDArray[np.uint16]

MAX_SCORE_BINS: int
MAX_BINS_OF_COMBINATION: int

Longs = npt.NDArray[np.int64]

def sum_bins(
    *,
    codes: Bytes,
    n_values: npt.NDArray[np.uint32],
    offsets: Ints,
    members: Ints,
    slots: Shorts,
    n_bins: npt.NDArray[np.uint32],
    steps: Longs,
    lanes: Longs,
    n_threads: int = 1,
) -> tuple[Ints, Ints, Longs, Longs, Shorts, Longs, Longs]: ...
def add_bins(
    keys: Longs, rises: Longs, falls: Longs, other_keys: Longs, other_rises: Longs, other_falls: Longs
) -> tuple[Longs, Longs, Longs]: ...
def draw_groups(seed: int, replicate: int, n_groups: int) -> Shorts: ...
def draw_half(seed: int, split: int, n_groups: int) -> Bytes: ...
def resample(
    *,
    group: Ints,
    weight: Floats,
    positive: Floats,
    residual: Floats,
    ends: Bytes,
    bin: Bytes,
    group_weight: Floats,
    seed: int,
    first: int,
    last: int,
    n_threads: int = 1,
) -> Floats: ...
def halve(
    *,
    group: Ints,
    weight: Floats,
    positive: Floats,
    residual: Floats,
    ends: Bytes,
    bin: Bytes,
    group_weight: Floats,
    seed: int,
    first: int,
    last: int,
    n_threads: int = 1,
) -> Floats: ...
def halve_segments(
    *,
    group: Ints,
    weight: Floats,
    residual: Floats,
    n_groups: int,
    offsets: npt.NDArray[np.int64],
    places: Ints,
    ends: Bytes,
    path: Floats,
    mean: Floats,
    sigma: Floats,
    seed: int,
    first: int,
    last: int,
    n_threads: int = 1,
) -> Floats: ...
