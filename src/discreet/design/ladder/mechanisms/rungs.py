"""The rungs from below: weighted sums with noise, then programs on small summaries."""

from __future__ import annotations

from discreet.design.ladder.bounds.groupings import clipped_groups
from discreet.design.ladder.mechanisms.lines import line_reading
from discreet.design.ladder.mechanisms.programs import Read, read_pair, read_sum
from discreet.design.ladder.mechanisms.readings import Reader, Reading
from discreet.design.ladder.mechanisms.weights import clipped_candidates, clipped_sum, search_weights
from discreet.design.ladder.rung import Found, Height, Rung
from discreet.design.schedule import SHORTEST_RUNG, Until, time_left
from discreet.errors import TooLarge
from discreet.model.iid_sum import why_not_iid_sum
from discreet.model.problem import Problem


class LineReading(Rung):
    """Rung 0 where the law of a sum is dear: a weighted sum with geometric noise, read along a line, by two moments."""

    name = "reading along a line"

    def climb(self, height: Height, seconds: float) -> Found | None:
        found = line_reading(height.reader)
        if found is None:
            counted = height.reader.counted()
            return None if counted is None else _noisy("one count", counted)
        weights = ", ".join(map(str, found.summary.weights))
        return Found(found.loss, found.summary, found.kernel, f"{self.name}: weights {weights} with geometric noise")


class ClippedSum(Rung):
    """Rung 0: values clipped, S = Σ_i w(θ_i) in its likely window, staircase or geometric noise, best actions."""

    name = "clipped sum"

    def climb(self, height: Height, seconds: float) -> Found | None:
        reader = height.reader
        if height.mechanism.kernel is None:
            return self._read(reader, height, seconds)
        try:
            quickest = min(map(reader.population.seconds, clipped_candidates(reader.population)))
            return None if quickest > time_left(height.watch) else self._read(reader, height, seconds)
        except TooLarge:
            return None

    def _read(self, reader: Reader, height: Height, seconds: float) -> Found:
        return _noisy(self.name, reader.read(clipped_sum(reader.population, height.watch), max(seconds / 8, 1.0)))


class WeightsBySearch(Rung):
    """Rung 1: integer weights w(type) by local search."""

    name = "weights by search"

    def climb(self, height: Height, seconds: float) -> Found | None:
        reader = height.reader
        searched = search_weights(reader.population, height.weights, seconds, height.watch)
        return None if searched.weights == height.weights else _noisy(self.name, reader.read(searched, max(seconds, 1.0)))


class ProgramOnTheSum(Rung):
    """Rung 2: the best kernel on the likely window of the best weighted sum."""

    name = "program on the sum"
    least_seconds = SHORTEST_RUNG

    def climb(self, height: Height, seconds: float) -> Found | None:
        found = read_sum(height.reader, height.weights, seconds, Until.after(2 * seconds, height.watch))
        if found is None:
            return None
        return _table(found, f"program on the weighted sum with weights {', '.join(map(str, found.summary.weights))}")


class ProgramOnTwoCounts(Rung):
    """Rung 3: the best kernel on two counts, of a near and a far group of types."""

    name = "program on two counts"
    least_seconds = SHORTEST_RUNG

    def why_not(self, problem: Problem) -> str | None:
        return why_not_iid_sum(problem)

    def climb(self, height: Height, seconds: float) -> Found | None:
        groups = clipped_groups(height.reader, height.weights)
        found = None if groups is None else read_pair(height.reader, groups, seconds, Until.after(2 * seconds, height.watch))
        if found is None or groups is None:
            return None
        near, far = (", ".join(str(height.reader.law.types[t]) for t in group) for group in groups)
        return _table(found, f"program on two counts, of respondents of type {near} and of type {far}")


def _noisy(rung: str, read: Reading) -> Found:
    words = f"{rung}: weights {', '.join(map(str, read.summary.weights))} with {read.kernel.family} noise"
    return Found(read.loss, read.summary, read.kernel, words, read.found)


def _table(read: Read, words: str) -> Found:
    return Found(read.loss, read.summary, read.kernel, words)
