"""Statistics of repeated measurements, as Graph500's reference code computes them."""

from __future__ import annotations

from collections.abc import Sequence
from math import nan, sqrt
from statistics import fmean, stdev
from typing import NamedTuple

import numpy as np


class Statistics(NamedTuple):
    """Order statistics, mean, and standard deviation of a sample (NaN for a single value).

    Graph500's reference code 3.0, `get_statistics`: a quartile is the mean of the two values that enclose it.
    """

    min: float
    firstquartile: float
    median: float
    thirdquartile: float
    max: float
    mean: float
    stddev: float

    @classmethod
    def of(cls, values: Sequence[float]) -> Statistics:
        """The summary of at least one value."""
        quartiles = np.quantile(values, np.arange(5) / 4, method="averaged_inverted_cdf").tolist()
        return cls._make([*quartiles, fmean(values), stdev(values) if len(values) > 1 else nan])


class HarmonicSummary(NamedTuple):
    """Statistics of rates: the mean is the harmonic mean, and the deviation is its standard error.

    N. Norris, The standard errors of the geometric and harmonic means and their application to index numbers, Annals
    of Mathematical Statistics 11(4), 1940, as the specification asks.
    """

    min: float
    firstquartile: float
    median: float
    thirdquartile: float
    max: float
    harmonic_mean: float
    harmonic_stddev: float

    @classmethod
    def of(cls, amounts: Sequence[float], times: Sequence[float]) -> HarmonicSummary:
        """The summary of the rates ``amounts[i] / times[i]``, from the times for one unit."""
        each = Statistics.of([time / amount for amount, time in zip(amounts, times, strict=True)])
        n = len(times)
        deviation = each.stddev / (each.mean**2 * sqrt(n - 1)) if n > 1 else nan
        rates = [1 / time for time in reversed(each[:5])]  # the longest time is the lowest rate
        return cls._make([*rates, 1 / each.mean, deviation])
