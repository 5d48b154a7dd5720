"""What was measured."""

import statistics
from dataclasses import asdict, dataclass


@dataclass(frozen=True, order=True)
class Key:
    """One thing that was measured, several times. For start-up, workload is empty."""

    engine: str
    workload: str
    count: int
    phase: str


class Results:
    """All samples by what they are of."""

    def __init__(self):
        self.samples = {}
        self.failures = {}

    def add(self, key, sample):
        if sample.error is None:
            self.samples.setdefault(key, []).append(sample)
        else:
            self.failures[key] = sample.error

    def fail(self, key, message):
        self.failures[key] = message

    def values(self, key, measure):
        """All known values of a measure, such as `wall`."""
        found = (getattr(sample, measure) for sample in self.samples.get(key, []))
        return [value for value in found if value is not None]

    def median(self, key, measure):
        values = self.values(key, measure)
        return statistics.median(values) if values else None

    def minimum(self, key, measure):
        return min(self.values(key, measure), default=None)

    def maximum(self, key, measure):
        return max(self.values(key, measure), default=None)

    def keys(self):
        return list(dict.fromkeys([*self.samples, *self.failures]))

    def to_json(self):
        rows = []
        for key in self.keys():
            samples = [asdict(sample) for sample in self.samples.get(key, [])]
            for sample in samples:
                del sample["error"]
            row = asdict(key) | {"runs": samples}
            if samples:
                row["wall_minimum"] = self.minimum(key, "wall")
                row["wall_median"] = self.median(key, "wall")
                row["cpu_median"] = self.median(key, "cpu")
                row["engine_memory_maximum"] = self.maximum(key, "engine_memory")
            if key in self.failures:
                row["failure"] = self.failures[key]
            rows.append(row)
        return rows
