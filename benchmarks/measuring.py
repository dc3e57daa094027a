"""Repetitions, interleaved: whatever slows the machine down for a while slows everybody alike."""

from __future__ import annotations

import gc
import statistics
import time
from dataclasses import dataclass
from typing import Callable, Dict, Mapping

Figure = Callable[[], float]
Work = Callable[[], object]


@dataclass
class Effort:
    """How much is measured. `quick` only finds out whether everything runs."""

    quick: bool = False

    def times(self, repetitions: int) -> int:
        """How many repetitions."""
        return 1 if self.quick else repetitions

    def size(self, full: int, quick: int) -> int:
        """How large the work is."""
        return quick if self.quick else full


def medians(contenders: Mapping[str, Figure], repetitions: int) -> Dict[str, float]:
    """The median figure of each contender, measured in turns after one turn to warm up."""
    for figure in contenders.values():
        figure()
    # What the libraries themselves hold would be looked through again and again by everybody's
    # garbage collections, and one of them holds far more than the others.
    gc.collect()
    gc.freeze()
    found: Dict[str, list[float]] = {name: [] for name in contenders}
    for _ in range(repetitions):
        for name, figure in contenders.items():
            found[name].append(figure())
    return {name: statistics.median(figures) for name, figures in found.items()}


def cpu(work: Work) -> float:
    """Seconds of processor time that `work` takes in this process, the kernel's part included."""
    began = time.process_time()
    work()
    return time.process_time() - began


def wall(work: Work) -> float:
    """Seconds that `work` takes."""
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
