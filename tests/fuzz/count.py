"""Count what readers do with broken input: `python -m tests.fuzz.count [CASES] [READER]...`."""

import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path

from hypothesis import HealthCheck, Phase, given, settings

from tests.fuzz.reader import Reader, TooSlow, is_own
from tests.fuzz.readers import READERS


def count(reader: Reader, cases: int) -> tuple[Counter[str], Counter[str]]:
    """Cases by their end: result, error, other; and the places of the others."""
    ends: Counter[str] = Counter()
    places: Counter[str] = Counter()

    @settings(max_examples=cases, derandomize=True, database=None, deadline=None, phases=[Phase.generate],
              suppress_health_check=list(HealthCheck))  # fmt: skip
    @given(reader.inputs())
    def run(content: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            try:
                reader.read(content, Path(folder))
                ends["result"] += 1
            except (Exception, TooSlow) as error:  # noqa: BLE001 - which one it is, is the question
                if is_own(error):
                    ends["error"] += 1
                    return
                ends["other"] += 1
                frames = traceback.extract_tb(error.__traceback__)
                ours = [each for each in frames if "/components/gpufleet/" in each.filename] or frames
                at = f"{ours[-1].filename.rpartition('/components/gpufleet/')[2]}:{ours[-1].lineno}"
                places[f"{at} {type(error).__name__}: {str(error)[:90]}"] += 1

    run()
    return ends, places


def main() -> None:
    cases, only = int((sys.argv[1:] or ["100"])[0]), sys.argv[2:] or list(READERS)
    total: Counter[str] = Counter()
    for name in only:
        begin = time.process_time()
        ends, places = count(READERS[name], cases)
        total += ends
        took = (time.process_time() - begin) / max(1, sum(ends.values()))
        figures = f"{ends['result']:>6} results {ends['error']:>6} errors {ends['other']:>6} others"
        print(f"{name:<26} {figures}  {1000 * took:6.1f} ms", flush=True)
        for place, number in places.most_common(12):
            print(f"    {number:>5}  {place}", flush=True)
    print(dict(total))


if __name__ == "__main__":
    main()
