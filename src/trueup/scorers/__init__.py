"""Scoring inside engines that hand out Arrow batches, on as many processes and machines as they like."""

from trueup.scorers._scorer import BatchScorer

__all__ = ["BatchScorer"]
