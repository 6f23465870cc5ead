import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

SCORE_CLIP: float

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
) -> tuple[float, float, float]: ...
def log_loss_sum(logits: Floats, labels: Floats, weights: Floats | None, n_threads: int = 1) -> float: ...
