"""MCGrad on a cluster."""

from __future__ import annotations

from typing import Any

from sklearn.utils.validation import check_is_fitted

from trueup._fitting import FitOptions
from trueup.calibration import MCGrad
from trueup.distributed._cluster import connected
from trueup.distributed._fit import fit_dask_model
from trueup.distributed._score import calibrate_frame, is_dask

__all__ = ["DaskMCGrad"]


class DaskMCGrad(MCGrad):
    """`MCGrad` on a cluster of Dask workers: rows stay where they are, and trees are grown by all workers together.

    The result is an ordinary model, which needs no Dask to score. It takes the parameters of `MCGrad`; `n_jobs` is of
    no use here, for each worker uses the threads that it has.

    See Also
    --------
    trueup.MCGrad : On one machine; `MCGrad.fit_stream` for tables larger than its memory.

    Notes
    -----
    A row's side of a split is decided by a hash of `key`, so it stays on its side however the frame is partitioned.
    Derivatives are rounded to multiples of a power of two, at most 2⁻²⁰ of the largest weight, so that their sums are
    exact: the trees of a round depend neither on the number of workers nor on which of them holds a partition. If a
    worker is lost, its partitions are made again by Dask, and the round is grown again by the workers that are left.

    Workers send each other sums of derivatives over connections of LightGBM's own, at ports that are free at the time.
    These are neither encrypted nor authenticated, whatever the cluster's own are.

    Examples
    --------
    >>> from trueup.distributed import DaskMCGrad
    >>> DaskMCGrad(max_rounds=20, validation=0.1)
    DaskMCGrad(max_rounds=20, validation=0.1)
    """

    def fit(  # type: ignore[override]
        self,
        frame: Any,
        *,
        label: str,
        score: str | None = None,
        weight: str | None = None,
        key: str | None = None,
        client: Any = None,
    ) -> DaskMCGrad:
        """Learn where the scores are wrong.

        Parameters
        ----------
        frame : dask.dataframe.DataFrame
            The rows, with all columns.
        label : str
            The column of labels.
        score : str, optional
            The column of the base model's probabilities; `score_column` by default.
        weight : str, optional
            The column of weights.
        key : str, optional
            A column whose values decide by a hash which rows validate, such as a user's id. By default it is the
            partition and the place in it, so that other partitions deal rows otherwise.
        client : distributed.Client, optional
            The cluster; by default the one that was connected last.

        Returns
        -------
        DaskMCGrad
            The estimator itself.
        """
        options = FitOptions(**self.get_params(deep=False))
        with connected(client) as cluster:
            model, history = fit_dask_model(options, frame, cluster, label=label, score=score, weight=weight, key=key)
        self._set_model(model, history)
        return self

    def calibrate(self, X: Any, scores: Any = None) -> Any:
        """Calibrated probabilities of the positive class.

        Parameters
        ----------
        X : dask.dataframe.DataFrame or table
            The rows; columns are found by name.
        scores : str or array-like, optional
            Of a Dask frame, the name of the column that holds the base model's probabilities, if it is another than at
            fit; of a table, the probabilities.

        Returns
        -------
        dask.dataframe.Series or float64 array
            One probability a row, computed when it is asked for; of a table, at once.
        """
        if not is_dask(X):
            return super().calibrate(X, scores)
        check_is_fitted(self, "model_")
        return calibrate_frame(self.model_, X, scores)

    def to_local(self) -> MCGrad:
        """Return the same fitted estimator for one machine.

        Returns
        -------
        MCGrad
            Fitted, with the same parameters.
        """
        check_is_fitted(self, "model_")
        local = MCGrad(**self.get_params(deep=False))
        local._set_model(self.model_, self.history_)
        return local
