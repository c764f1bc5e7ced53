"""carom beside its peers on the double pendulum: ratios, measured in one run on one machine.

    python compare.py CAROM_BINARY [--quick] [accuracy] [single] [cold] [work] [ensemble]

Ratios above 1 mean carom is faster. carom and a peer take turns and the shortest time of each counts, so that slow
phases of the machine do not decide. Impact laws written in Python are taken out of the peers' times. Errors of
trajectories are the largest difference to the exact state. The motion amplifies rounding by 1e5 and more, so a single
start is a matter of luck: they are medians over 100 random starts (`exact.csv`), or the geometric mean over five
(`constants.py`, 20 digits) where work is held against error. A peer's bar for the single run is its fastest setting
whose median is no larger than carom's, or its most accurate one where none is; for ensembles, energy errors within a
factor of 3.
"""

import argparse
import csv
import json
import math
import random
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import diffsol_peer
import heyoka_peer
import scipy_peer
from constants import FREE, STARTS, WALL

MODELS = Path(__file__).parents[2] / "models"
WALL_MODEL = MODELS / "double_pendulum_wall.toml"
FREE_MODEL = MODELS / "double_pendulum.toml"
AS_ACCURATE = 3.0
# Largest energy error of any trajectory at round-off, in units of |T| + |V|.
WORST = 1e-12


def carom(binary, *arguments):
    """The JSON result of a carom command; exit codes other than 0 are errors here."""
    done = subprocess.run([binary, *map(str, arguments), "--json"], capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"carom {' '.join(map(str, arguments))} failed:\n{done.stderr}")
    return json.loads(done.stdout)


def run_carom(binary, model, start, tolerance, repeats):
    """(seconds, final state, impacts) of the shortest of `repeats` simulations."""
    result = carom(
        binary, "run", model, "--until", 10, "--samples", 2, "--repeat", repeats, "--tolerance", tolerance,
        "--start", f"theta1={start[0]!r},theta2={start[1]!r}",
    )  # fmt: skip
    state = [result[kind][name][-1] for kind in ("position", "velocity") for name in ("theta1", "theta2")]
    return result["audit"]["simulate_seconds"], state, len(result["impacts"])


def error(state, exact):
    return max(abs(a - b) for a, b in zip(state, exact))


def mean(errors):
    """Geometric; an exact result counts as one unit of rounding."""
    return math.exp(statistics.fmean(math.log(max(e, 1e-16)) for e in errors))


class Entry:
    """One program at one setting on all starts: shortest times, errors."""

    def __init__(self, name, run, exact):
        self.name, self.run, self.exact = name, run, exact
        self.seconds = [math.inf] * len(STARTS)
        self.errors = [0.0] * len(STARTS)
        self.impacts = "-"
        self.median = None

    def turn(self, starts=len(STARTS)):
        for i, start in enumerate(STARTS[:starts]):
            seconds, state, *impacts = self.run(start)
            self.seconds[i] = min(self.seconds[i], seconds)
            self.errors[i] = error(state, self.exact[i])
            if impacts and i == 0:
                self.impacts = impacts[0]

    @property
    def time(self):
        return statistics.fmean(t for t in self.seconds if t < math.inf)

    @property
    def error(self):
        return mean(e for e, t in zip(self.errors, self.seconds) if t < math.inf)


def verdict(what, ratio, bar):
    print(f"\n{what}: {ratio:.2f} times (bar {bar}: {'met' if ratio >= bar else 'missed'})")


def heading(title, columns):
    print(f"\n**{title}**\n")
    print("| " + " | ".join(columns) + " |")
    print("|" + "|".join(" --- " if i == 0 else " ---: " for i, _ in enumerate(columns)) + "|")


def row(*cells):
    print("| " + " | ".join(cells) + " |", flush=True)


HEYOKA_SETTINGS = (0.0, 1e-15, 1e-14, 1e-13, 1e-12)


def setting(tolerance):
    return f"heyoka, {'default' if tolerance == 0.0 else f'tolerance {tolerance:g}'}"


def exact_ends(wall, until):
    """(starts, exact final states) of the random starts, from `exact.csv` (cargo bench -p carom-jet --bench accuracy -- exact)."""
    with open(Path(__file__).parent / "exact.csv", newline="") as file:
        rows = [r for r in csv.DictReader(file) if int(r["wall"]) == wall and float(r["time"]) == until]
    starts = np.array([[float(r["theta1"]), float(r["theta2"]), 0.0, 0.0] for r in rows])
    ends = np.array([[float(r[c]) for c in ("end1", "end2", "rate1", "rate2")] for r in rows])
    return starts, ends


def carom_ends(binary, model, starts, until, tolerance):
    """Final states from these starts; the bits of single runs."""
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "starts.csv", Path(folder) / "out.csv"
        write_starts(table, starts)
        carom(
            binary, "sweep", model, "--table", table, "--until", until, "--tolerance", tolerance,
            "--threads", 1, "-o", out,
        )  # fmt: skip
        return final_states(out)


def medians(wall, until, run):
    """(median trajectory error, median energy error) of `run(starts)` over the random starts."""
    starts, exact = exact_ends(wall, until)
    ends = run(starts)
    return float(np.median(np.abs(ends - exact).max(axis=1))), float(np.median(energy_error(starts, ends)))


def heyoka_ends(integrator, starts, until):
    return np.array([integrator.run(start, until, 1)[1] for start in starts])


def accuracy(binary, _quick):
    for wall, model in ((0, FREE_MODEL), (1, WALL_MODEL)):
        what = "against the wall" if wall else "free"
        heading(
            f"Median errors over 100 random starts, {what}",
            ["program", "trajectory, t = 5", "energy, t = 5", "trajectory, t = 10", "energy, t = 10"],
        )
        found = {}

        def line(name, run):
            found[name] = [medians(wall, t, lambda starts, t=t: run(starts, t)) for t in (5.0, 10.0)]
            row(name, *(f"{e:.1e}" for pair in found[name] for e in pair))

        for tolerance in (1e-15, 1e-13, 1e-12, 1e-9):
            line(f"carom, {tolerance:g}", lambda s, t, tol=tolerance: carom_ends(binary, model, s, t, tol))
        for tolerance in (*HEYOKA_SETTINGS, 1e-9):
            integrator = heyoka_peer.Single(tolerance, bool(wall))
            line(setting(tolerance), lambda s, t, i=integrator: heyoka_ends(i, s, t))
        for i, t in enumerate((5, 10)):
            verdict(
                f"default tolerances, {what}, t = {t}: heyoka's median trajectory error over carom's",
                found[setting(0.0)][i][0] / found["carom, 1e-15"][i][0],
                1.0,
            )


def single(binary, quick):
    repeats, rounds = (20, 2) if quick else (40, 8)
    exact = [state for state, _ in WALL]
    mine = Entry("carom", lambda s: run_carom(binary, WALL_MODEL, s, 1e-15, repeats), exact)
    peers = []
    mine.median, _ = medians(1, 10.0, lambda starts: carom_ends(binary, WALL_MODEL, starts, 10.0, 1e-15))
    for tolerance in HEYOKA_SETTINGS:
        integrator = heyoka_peer.Single(tolerance, True)
        peers.append(Entry(setting(tolerance), lambda s, i=integrator: i.run(s, 10.0, repeats), exact))
        peers[-1].median, _ = medians(1, 10.0, lambda starts, i=integrator: heyoka_ends(i, starts, 10.0))
    for _ in range(rounds):
        for entry in [mine, *peers]:
            entry.turn()
    others = [
        Entry(f"SciPy {method}, {tolerance:g}", lambda s, m=method, t=tolerance: scipy_peer.run(m, t, True, s, 10.0), exact)
        for method, tolerance in (("DOP853", 1e-13), ("LSODA", 1e-12))
    ]
    if not diffsol_peer.unavailable():
        solver = diffsol_peer.Solver(True)
        others.append(Entry("diffsol tsit45, 1e-12", lambda s: solver.run(1e-12, s, 10.0, 1), exact))
    for entry in others:
        # One start is enough: these are far behind, and diffsol creeps for seconds when a reset leaves it at the wall.
        entry.turn(1)
    heading(
        "One run against the wall to t = 10, round-off",
        ["program", "µs", "impacts", "error", "median error of 100 starts", "times carom's"],
    )
    for e in [mine, *peers, *others]:
        median = f"{e.median:.1e}" if e.median else "-"
        row(e.name, f"{e.time * 1e6:.1f}", str(e.impacts), f"{e.error:.1e}", median, f"{e.time / mine.time:.2f}")
    equal = [p for p in peers if p.median <= mine.median] or [min(peers, key=lambda p: p.median)]
    best = min(equal, key=lambda p: p.time)
    verdict(f"single run against {best.name}", best.time / mine.time, 2.0)


def cold(binary, quick):
    script = "import heyoka_peer; heyoka_peer.Single(1e-14, True).run(heyoka_peer.START, 10.0, 1)"
    commands = [
        # Both end with the final state; neither writes a table.
        [binary, "run", WALL_MODEL, "--until", "10", "--samples", "2", "--json"],
        [sys.executable, "-c", f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); {script}"],
    ]
    best = [math.inf, math.inf]
    for _ in range(3 if quick else 10):
        for i, command in enumerate(commands):
            begin = time.perf_counter()
            subprocess.run(command, check=True, capture_output=True)
            best[i] = min(best[i], time.perf_counter() - begin)
    heading("From process start to result", ["program", "ms"])
    row("carom", f"{best[0] * 1e3:.1f}")
    row("heyoka (Python's start included)", f"{best[1] * 1e3:.0f}")
    verdict("process start to result", best[1] / best[0], 40)


def work(binary, quick):
    repeats, rounds = (10, 1) if quick else (20, 4)
    steps = range(4, 17) if quick else [k / 2 for k in range(4, 33)]
    tolerances = [10.0**-k for k in steps]
    mine = [
        Entry(f"{t:.0e}", lambda s, t=t: run_carom(binary, FREE_MODEL, s, t, repeats), FREE)
        for t in tolerances
        if t >= 1e-16
    ]
    other = []
    for t in tolerances:
        integrator = heyoka_peer.Single(t, False)
        other.append(Entry(f"{t:.0e}", lambda s, i=integrator: i.run(s, 10.0, repeats), FREE))
    for _ in range(rounds):
        for a, b in zip(mine, other):
            a.turn()
            b.turn()
    more = []
    if not diffsol_peer.unavailable():
        solver = diffsol_peer.Solver(False)
        for k in range(6, 15):
            more.append(Entry(f"1e-{k}", lambda s, k=k: solver.run(10.0**-k, s, 10.0, 3), FREE))
            more[-1].turn()

    def at(entries, target):
        """The fastest setting with at most this error."""
        return min((e for e in entries if e.error <= target), key=lambda e: e.time, default=None)

    def cell(entry):
        return f"{entry.time * 1e6:.0f} ({entry.name})" if entry else "-"

    heading(
        "Work against error: free double pendulum to t = 10, µs (tolerance)",
        ["error", "carom", "heyoka", "diffsol tsit45", "heyoka / carom"],
    )
    worst = math.inf
    for k in range(4, 11):
        a, b, c = (at(entries, 10.0**-k) for entries in (mine, other, more))
        # An error that carom cannot reach is a ratio of 0.
        ratio = b.time / a.time if a and b else math.inf if a else 0.0
        worst = min(worst, ratio)
        row(f"1e-{k}", cell(a), cell(b), cell(c), f"{ratio:.2f}")
    finest = [min(entries, key=lambda e: e.error) for entries in (mine, other)]
    print(f"\nsmallest errors: carom {finest[0].error:.1e}, heyoka {finest[1].error:.1e}")
    verdict("work against error, worst ratio", worst, 1.3)
    if diffsol_peer.unavailable():
        print(f"diffsol is not available here: {diffsol_peer.unavailable()}")


def random_starts(count):
    """Starts at rest on the free side of the wall; the same ones every time."""
    source = random.Random(7)
    rows = []
    while len(rows) < count:
        a, b = source.uniform(-3, 3), source.uniform(-3, 3)
        if math.sin(a) + math.sin(b) + 0.5 > 0.01:
            rows.append((a, b, 0.0, 0.0))
    return np.array(rows)


def energy_error(starts, ends):
    """|change of E| relative to the larger |T| + |V| of both ends."""

    def parts(x):
        a, b, u, w = x.T
        kinetic = u * u + 0.5 * w * w + u * w * np.cos(a - b)
        return kinetic, -heyoka_peer.G * (2.0 * np.cos(a) + np.cos(b))

    (t0, v0), (t1, v1) = parts(starts), parts(ends)
    scale = np.maximum(np.abs(t0) + np.abs(v0), np.abs(t1) + np.abs(v1))
    return np.abs(t1 + v1 - t0 - v0) / scale


def write_starts(path, starts):
    with open(path, "w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["theta1", "theta2", "theta1'", "theta2'"])
        writer.writerows([repr(float(x)) for x in r] for r in starts)


def final_states(path):
    with open(path, newline="") as file:
        rows = csv.reader(file)
        head = next(rows)
        first = head.index("impacts") + 1
        return np.array([[float(x) for x in r[first : first + 4]] for r in rows])


def ensemble(binary, quick):
    count, rounds = (2_000, 1) if quick else (10_000, 5)
    starts = random_starts(count)
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "starts.csv", Path(folder) / "out.csv"
        write_starts(table, starts)
        for tolerance, settings, bar in ((1e-15, (0.0, 1e-14, 1e-13), 1.9), (1e-9, (1e-9,), 1.5)):
            peers = [(t, lanes, heyoka_peer.Batch(t, lanes)) for t in settings for lanes in (8, 4)]
            clock, busy, used = [math.inf] * 2, [math.inf] * 2, [math.inf] * len(peers)
            errors = [None] * len(peers)
            for _ in range(rounds):
                for threads in (1, 2):
                    done = carom(
                        binary, "sweep", WALL_MODEL, "--table", table, "--until", 10, "--tolerance", tolerance,
                        "--threads", threads, "-o", out,
                    )  # fmt: skip
                    clock[threads - 1] = min(clock[threads - 1], done["seconds"])
                    busy[threads - 1] = min(busy[threads - 1], done["cpu_seconds"])
                for i, (_, _, batch) in enumerate(peers):
                    seconds, ends = batch.run(starts, 10.0)
                    used[i] = min(used[i], seconds)
                    errors[i] = energy_error(starts, ends)
            mine = energy_error(starts, final_states(out))
            heading(
                f"Ensemble of {count} starts against the wall, t = 10, {tolerance:g}",
                ["program", "trajectories per CPU second", "median energy error", "largest", "carom / it"],
            )
            rate = count / busy[0]
            row("carom, one thread", f"{rate:.0f}", f"{np.median(mine):.1e}", f"{mine.max():.1e}", "1")
            row("carom, two threads", f"{count / busy[1]:.0f}", "", "", f"{busy[1] / busy[0]:.2f}")
            for (t, lanes, _), seconds, e in zip(peers, used, errors):
                name = f"heyoka, {'default' if t == 0.0 else f'{t:g}'}, {lanes} lanes"
                row(name, f"{count / seconds:.0f}", f"{np.median(e):.1e}", f"{e.max():.1e}", f"{rate * seconds / count:.2f}")
            # As accurate in the middle, and no trajectory worse than round-off allows.
            limit, worst = AS_ACCURATE * max(np.median(mine), 1e-16), max(WORST, AS_ACCURATE * mine.max())
            equal = [s for s, e in zip(used, errors) if np.median(e) <= limit and e.max() <= worst] or used
            verdict(f"ensemble at {tolerance:g} against heyoka's best", rate * min(equal) / count, bar)
            verdict("two threads against one", clock[0] / clock[1], 1.8)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("parts", nargs="*", help="accuracy, single, cold, work, ensemble; all unless named")
    parser.add_argument("--quick", action="store_true", help="fewer repeats and trajectories")
    options = parser.parse_intermixed_args()
    for part in (accuracy, single, cold, work, ensemble):
        if not options.parts or part.__name__ in options.parts:
            part(options.binary, options.quick)
