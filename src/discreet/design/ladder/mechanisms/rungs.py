"""The rungs from below: weighted sums with noise, then programs on small summaries."""

from __future__ import annotations

from math import inf

from discreet.certify.value.laws import Identical, Overdispersed, law_of
from discreet.design.ladder.mechanisms.counts import counted_readings, why_not_counted
from discreet.design.ladder.mechanisms.lines import line_reading
from discreet.design.ladder.mechanisms.pairs import box_of, pairs_of
from discreet.design.ladder.mechanisms.programs import Read, read, read_sum
from discreet.design.ladder.mechanisms.readings import Reader, Reading
from discreet.design.ladder.mechanisms.weights import clipped_candidates, clipped_sum, search_weights
from discreet.design.ladder.rung import Found, Height, Rung
from discreet.design.schedule import SHORTEST_RUNG, Until, time_left
from discreet.errors import TooLarge
from discreet.model.neighbours import ReplaceOne
from discreet.model.problem import Problem
from discreet.model.summary import LinearSummary
from discreet.model.universe import Universe


class LineReading(Rung):
    """Rung 0 where the law of a sum is dear: a weighted sum with geometric noise, read along a line, by two moments."""

    name = "reading along a line"

    def climb(self, height: Height, seconds: float) -> Found | None:
        found = line_reading(height.reader)
        if found is None:
            counted = height.reader.counted()
            return None if counted is None else _noisy("one count", counted)
        weights = ", ".join(map(str, found.summary.weights))
        return Found(found.loss, found.summary, found.kernel, f"{self.name}: weights {weights} with {found.kernel.family} noise")


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
        watch, line, first = height.watch, height.mechanism.summary, None
        if reader.population.drawn and isinstance(line, LinearSummary):
            watch, first = Until.after(seconds / 4, watch), line.weights if reader.population.counts.fits(line.weights) else None
        found = clipped_sum(reader.population, watch, first)
        return _noisy(self.name, reader.read(found, max(seconds / 8, 1.0)))


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


class ProgramOnSumAndCount(Rung):
    """Rung 3: the best kernel on a sum of near types and a count of far ones."""

    name = "program on a sum and a count"
    least_seconds = SHORTEST_RUNG

    def why_not(self, problem: Problem) -> str | None:
        if not isinstance(problem.neighbours, ReplaceOne) or not isinstance(problem.universe, Universe):
            return "respondents are added or removed, or have no types"
        if problem.universe.smallest < problem.universe.largest or not isinstance(law_of(problem), (Identical, Overdispersed)):
            return "respondents are neither a fixed number alike nor drawn from a Dirichlet"
        return None

    def climb(self, height: Height, seconds: float) -> Found | None:
        until, best = Until.after(seconds, height.watch), Found(loss=inf)
        for near, far in pairs_of(height.reader, height.weights):
            box = box_of(height.reader, (near, far), until.left)
            if box is None or box.size <= height.tried.get((near, far), 0):
                continue
            found = read(height.reader, box, Until.after(2 * until.left, height.watch), height.loss)
            height.tried[near, far] = box.size
            if found is not None and best.loss is not None and found.loss < best.loss:
                beside = ", ".join(str(height.reader.kept[t]) for t in far)
                best = _table(found, f"program on the sum of {', '.join(map(str, near))} and the count of type {beside}")
            if until.cancelled():
                break
        return None if best.kernel is None else best


class NoiseByCount(Rung):
    """Beside rung 1: the statistic at face value, with noise that follows how many have the highest values, and the next."""

    name = "noise that follows a count"
    needs_weights = False

    def why_not(self, problem: Problem) -> str | None:
        return why_not_counted(problem)

    def climb(self, height: Height, seconds: float) -> Found | None:
        if height.counted:
            return None
        height.counted, until = True, Until.after(seconds, height.watch)
        found = Found(loss=inf)
        for tables in counted_readings(height.problem, height.loss, lambda: until.left):
            if found.loss is not None and tables.loss < found.loss:
                words = f"{self.name} of values from {' and of others from '.join(f'{start:g}' for start in tables.starts)}"
                found = Found(tables.loss, tables.summary, tables.kernel, words)
            if until.cancelled():
                break
        return None if found.kernel is None else found


def _noisy(rung: str, read: Reading) -> Found:
    words = f"{rung}: weights {', '.join(map(str, read.summary.weights))} with {read.kernel.family} noise"
    return Found(read.loss, read.summary, read.kernel, words, read.found)


def _table(read: Read, words: str) -> Found:
    return Found(read.loss, read.summary, read.kernel, words)
