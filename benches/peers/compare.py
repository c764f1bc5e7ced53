"""carom beside its peers on the double pendulum: one table of ratios, measured in one run on one machine.

    python compare.py CAROM_BINARY [--count 10000] [--repeats 200]

1. one run against the wall to t = 10 at round-off; 2. from process start to result; 3. work against error without
the wall; 4. an ensemble of random starts. Ratios above 1 mean carom is faster. Peers' event callbacks written in
Python are taken out of their times.
"""

import argparse
import csv
import json
import math
import random
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import heyoka_peer
import scipy_peer

MODELS = Path(__file__).parents[2] / "models"
WALL = MODELS / "double_pendulum_wall.toml"
FREE = MODELS / "double_pendulum.toml"


def carom(binary, *arguments):
    """The JSON result of a carom command; exit codes other than 0 are errors here."""
    done = subprocess.run([binary, *map(str, arguments), "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"carom {' '.join(map(str, arguments))} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def run_carom(binary, model, until, repeats, tolerance=None):
    """(seconds, final state, impacts) of the shortest of `repeats` simulations."""
    options = ["--until", until, "--samples", 2, "--repeat", repeats]
    if tolerance is not None:
        options += ["--tolerance", tolerance]
    result = carom(binary, "run", model, *options)
    state = [result[kind][name][-1] for kind in ("position", "velocity") for name in ("theta1", "theta2")]
    return result["audit"]["simulate_seconds"], state, len(result["impacts"])


def reference(until):
    """The free double pendulum in extended precision, by heyoka in long double."""
    import heyoka as hy

    system, _ = heyoka_peer.equations()
    start = np.array(heyoka_peer.START, dtype=np.longdouble)
    start[0], start[1] = 3 * np.longdouble(np.pi) / 7, 3 * np.longdouble(np.pi) / 4
    ta = hy.taylor_adaptive(system, start, fp_type=np.longdouble)
    ta.propagate_until(np.longdouble(until))
    return [float(x) for x in ta.state]


def error(state, exact):
    return max(abs(a - b) for a, b in zip(state, exact))


def time_at(curve, target):
    """Seconds needed for an error of `target`: the lower envelope of (error, seconds), log-log interpolated."""
    points = sorted(curve)
    best = math.inf
    for (e0, t0), (e1, t1) in zip(points, points[1:]):
        if e0 <= target <= e1:
            f = (math.log(target) - math.log(e0)) / (math.log(e1) - math.log(e0))
            best = min(best, math.exp(math.log(t0) + f * (math.log(t1) - math.log(t0))))
    return best


def random_starts(count):
    """Starts at rest on the free side of the wall; the same ones every time."""
    source = random.Random(7)
    rows = []
    while len(rows) < count:
        a, b = source.uniform(-3, 3), source.uniform(-3, 3)
        if math.sin(a) + math.sin(b) + 0.5 > 0.01:
            rows.append((a, b, 0.0, 0.0))
    return np.array(rows)


def single(binary, repeats):
    print("\none run against the wall to t = 10, round-off          µs    impacts   ratio")
    mine, state, impacts = run_carom(binary, WALL, 10, repeats)
    print(f"  carom                                          {mine * 1e6:10.1f} {impacts:8d}")
    for tolerance, label in ((0.0, "default"), (1e-14, "1e-14")):
        seconds, _, other, count = [heyoka_peer.time_single(tolerance, True, 10.0, repeats)[i] for i in (0, 1, 2, 3)]
        print(f"  heyoka, tolerance {label:8s}                     {seconds * 1e6:10.1f} {count:8d} {seconds / mine:8.2f}   "
              f"states differ by {error(state, other):.1e}")
    seconds, count = scipy_peer.time_wall(10.0)
    print(f"  SciPy DOP853, rtol 1e-13, events               {seconds * 1e6:10.1f} {count:8d} {seconds / mine:8.0f}")


def cold(binary):
    print("\nfrom process start to result                           ms                  ratio")

    def best(command):
        times = []
        for _ in range(5):
            begin = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            times.append(time.perf_counter() - begin)
        return min(times)

    mine = best([binary, "run", WALL, "--until", "10", "--json"])
    script = "import heyoka_peer; t, _ = heyoka_peer.single(1e-14, True); t.propagate_until(10.0)"
    other = best([sys.executable, "-c", f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); {script}"])
    print(f"  carom                                          {mine * 1e3:10.1f}\n"
          f"  heyoka                                         {other * 1e3:10.1f}          {other / mine:8.1f}")


def work_error(binary, repeats):
    exact = reference(10.0)
    tolerances = [10.0**-k for k in range(4, 17)]
    mine = [(error(s, exact), t) for t, s, _ in (run_carom(binary, FREE, 10, repeats, tol) for tol in tolerances)]
    other = []
    for tol in tolerances:
        seconds, _, state, _ = heyoka_peer.time_single(tol, False, 10.0, repeats)
        other.append((error(state, exact), seconds))
    print("\nfree double pendulum, t = 10: error            carom µs    heyoka µs   ratio")
    for k in range(4, 11):
        a, b = time_at(mine, 10.0**-k), time_at(other, 10.0**-k)
        print(f"  1e-{k:02d}                                    {a * 1e6:12.1f} {b * 1e6:12.1f} {b / a:7.2f}")


def ensemble(binary, count):
    starts = random_starts(count)
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / "starts.csv"
        with open(table, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["theta1", "theta2", "theta1'", "theta2'"])
            writer.writerows([repr(float(x)) for x in row] for row in starts)
        print(f"\nensemble of {count} starts against the wall, t = 10   trajectories per CPU second     ratio")
        for tolerance, peers in ((1e-15, (0.0, 1e-14)), (1e-9, (1e-9,))):
            summaries = {}
            for threads in (1, 2):
                summaries[threads] = carom(binary, "sweep", WALL, "--table", table, "--until", 10, "--tolerance", tolerance,
                                           "--threads", threads, "-o", Path(folder) / f"out{threads}.csv")
            rate = count / summaries[1]["cpu_seconds"]
            print(f"  carom, tolerance {tolerance:g}                             {rate:10.0f}"
                  f"        two threads {summaries[1]['seconds'] / summaries[2]['seconds']:.2f} times faster")
            for peer in peers:
                for lanes in (4, 8):
                    seconds, _, _ = heyoka_peer.time_batch(peer, lanes, starts, 10.0)
                    print(f"  heyoka, tolerance {peer:g}, {lanes} lanes                  {count / seconds:10.0f} {rate * seconds / count:20.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--repeats", type=int, default=200)
    options = parser.parse_args()
    single(options.binary, options.repeats)
    cold(options.binary)
    work_error(options.binary, options.repeats)
    ensemble(options.binary, options.count)
