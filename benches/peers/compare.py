"""carom beside its peers on the double pendulum: ratios, measured in one run on one machine.

    python compare.py CAROM_BINARY [--quick] [accuracy] [single] [cold] [work] [ensemble] [levels] [chains]

Ratios above 1 mean carom is faster. carom and a peer take turns and the shortest time of each counts, so that slow
phases of the machine do not decide; ensembles are measured slice by slice for the same reason. Impact laws written in
Python are taken out of the peers' times. Errors of
trajectories are the largest difference to the exact state. The motion amplifies rounding by 1e5 and more, so a single
start is a matter of luck: they are medians over 100 random starts (`exact.csv`), or the geometric mean over five
(`constants.py`, 20 digits) where work is held against error. A peer's bar for the single run is its fastest setting
whose median is no larger than carom's, or its most accurate one where none is; for ensembles, energy errors within a
factor of 3. Batches are measured with every instruction set the processor has, forced where it is not the best; `levels` holds
batches against single runs and the interpreter against machine code, `chains` fits how a step grows with the number of links.
The last table repeats every bar.
"""

import argparse
import csv
import itertools
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


def run_carom(binary, model, start, tolerance, repeats, options=()):
    """(seconds, final state, impacts) of the shortest of `repeats` simulations."""
    result = carom(
        binary, "run", model, "--until", 10, "--samples", 2, "--repeat", repeats, "--tolerance", tolerance,
        "--start", f"theta1={start[0]!r},theta2={start[1]!r}", *forced(options),
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


# (what, number, bar, met), in the order they were found.
VERDICTS = []


def verdict(what, ratio, bar, most=False):
    """`most`: the bar is an upper bound."""
    met = ratio <= bar if most else ratio >= bar
    VERDICTS.append((what, ratio, bar, most, met))
    print(f"\n{what}: {ratio:.2f} (bar {'at most ' if most else ''}{bar}: {'met' if met else 'missed'})", flush=True)


def summary():
    heading("All bars", ["what", "measured", "bar", ""])
    for what, ratio, bar, most, met in VERDICTS:
        row(what, f"{ratio:.2f}", f"{'≤' if most else '≥'} {bar}", "met" if met else "MISSED")
    print(f"\n{sum(met for *_, met in VERDICTS)} of {len(VERDICTS)} met")
    return all(met for *_, met in VERDICTS)


# Machine code, by the name `--option level=` takes.
LEVELS = ("avx512", "avx2")


def forced(options):
    return [word for option in options for word in ("--option", option)]


def available(binary):
    """The levels of machine code this processor has; the others are named."""
    found = []
    for level in LEVELS:
        command = [binary, "run", FREE_MODEL, "--until", "0.1", "--samples", "2", "--json", *forced([f"level={level}"])]
        if subprocess.run(command, capture_output=True).returncode == 0:
            found.append(level)
        else:
            print(f"\nnot executed here: {level}")
    return found


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
    repeats, rounds = (20, 2) if quick else (200, 8)
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
    repeats, rounds = (10, 1) if quick else (150, 4)
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


class Shortest:
    """The sum over slices of the shortest time of each: a slow phase of the machine spoils a slice of one round, not a whole round."""

    def __init__(self, slices):
        self.seconds = [math.inf] * slices

    def see(self, i, seconds):
        self.seconds[i] = min(self.seconds[i], seconds)

    @property
    def total(self):
        return sum(self.seconds)


# Trajectories of a slice: long enough that filling and emptying lanes does not count, short beside slow phases.
SLICE = 1_000
# Two threads are held against one in sweeps so many times as long as the ensemble: a second processor may come to help only
# after tens of milliseconds, which says nothing about the threads.
LONGER = 8


def ensemble(binary, quick):
    count, rounds = (2_000, 1) if quick else (6_000, 5)
    starts = random_starts(count)
    slices = [starts[i : i + SLICE] for i in range(0, count, SLICE)]
    levels = available(binary)
    with tempfile.TemporaryDirectory() as folder:
        tables = [Path(folder) / f"starts{i}.csv" for i in range(len(slices))]
        outs = [Path(folder) / f"out{i}.csv" for i in range(len(slices))]
        for table, rows in zip(tables, slices):
            write_starts(table, rows)
        # All of them several times, as the last one.
        tables.append(Path(folder) / "starts.csv")
        outs.append(Path(folder) / "out.csv")
        write_starts(tables[-1], np.tile(starts, (LONGER, 1)))

        def sweep(i, tolerance, threads, level):
            return carom(
                binary, "sweep", WALL_MODEL, "--table", tables[i], "--until", 10, "--tolerance", tolerance,
                "--threads", threads, "-o", outs[i], *forced([f"level={level}"]),
            )  # fmt: skip

        for tolerance, settings, bar in ((1e-15, (0.0, 1e-14, 1e-13), 1.9), (1e-9, (1e-9,), 1.5)):
            peers = [(t, lanes, heyoka_peer.Batch(t, lanes)) for t in settings for lanes in (8, 4)]
            spent = [Shortest(len(slices)) for _ in peers]
            ends = [np.empty_like(starts) for _ in peers]
            of_level = {level: Shortest(len(slices)) for level in levels}
            clock = {threads: math.inf for threads in (1, 2)}
            for _, i in itertools.product(range(rounds), range(len(slices))):
                for level in levels:
                    done = sweep(i, tolerance, 1, level)
                    of_level[level].see(i, done["cpu_seconds"])
                for (_, _, batch), times, states in zip(peers, spent, ends):
                    seconds, states[i * SLICE : (i + 1) * SLICE] = batch.run(slices[i], 10.0)
                    times.see(i, seconds)
            for _, threads in itertools.product(range(1 if quick else 4), clock):
                clock[threads] = min(clock[threads], sweep(-1, tolerance, threads, levels[0])["seconds"])
            busy = {level: times.total for level, times in of_level.items()}
            used, errors = [times.total for times in spent], [energy_error(starts, states) for states in ends]
            mine = energy_error(starts, np.vstack([final_states(out) for out in outs[:-1]]))
            heading(
                f"Ensemble of {count} starts against the wall, t = 10, {tolerance:g}",
                ["program", "trajectories per CPU second", "median energy error", "largest", f"carom ({levels[0]}) / it"],
            )
            rate = count / busy[levels[0]]
            for level in levels:
                mine_at = count / busy[level]
                row(f"carom, {level}", f"{mine_at:.0f}", f"{np.median(mine):.1e}", f"{mine.max():.1e}", f"{rate / mine_at:.2f}")
            for (t, lanes, _), seconds, e in zip(peers, used, errors):
                name = f"heyoka, {'default' if t == 0.0 else f'{t:g}'}, {lanes} lanes"
                row(name, f"{count / seconds:.0f}", f"{np.median(e):.1e}", f"{e.max():.1e}", f"{rate * seconds / count:.2f}")
            # As accurate in the middle, and no trajectory worse than round-off allows.
            limit, worst = AS_ACCURATE * max(np.median(mine), 1e-16), max(WORST, AS_ACCURATE * mine.max())
            alike = [i for i, e in enumerate(errors) if np.median(e) <= limit and e.max() <= worst] or list(range(len(used)))
            for level in levels:
                # On AVX2 forced on a processor that has more, the peer's eight lanes would be AVX-512: its best is that of four.
                fair = [i for i in alike if level == levels[0] or peers[i][1] == 4] or alike
                best = min(used[i] for i in fair)
                whose = "heyoka's best" if level == levels[0] else "heyoka's best with four lanes"
                verdict(f"batch on {level} at {tolerance:g} against {whose}", best / busy[level], bar)
            verdict(f"two threads against one at {tolerance:g}", clock[1] / clock[2], 1.8)


def levels(binary, quick):
    """Batches against single runs on every level, and the interpreter against machine code."""
    count, rounds, repeats = (500, 1, 3) if quick else (2_000, 5, 20)
    starts = random_starts(count)
    alone = starts[: 20 if quick else 60]
    best = available(binary)
    with tempfile.TemporaryDirectory() as folder:
        table, out = Path(folder) / "starts.csv", Path(folder) / "out.csv"
        write_starts(table, starts)
        heading(
            "Trajectories per CPU second against the wall, in a batch and one by one",
            ["level", "tolerance", "in a batch", "one by one", "ratio"],
        )
        ratios = []
        for level in (*best, "interpreter"):
            for tolerance in (1e-15, 1e-9):
                seconds, single = math.inf, [math.inf] * len(alone)
                for _ in range(rounds):
                    done = carom(
                        binary, "sweep", WALL_MODEL, "--table", table, "--until", 10, "--tolerance", tolerance,
                        "--threads", 1, "-o", out, *forced([f"level={level}"]),
                    )  # fmt: skip
                    seconds = min(seconds, done["cpu_seconds"])
                    for i, start in enumerate(alone):
                        took, *_ = run_carom(binary, WALL_MODEL, [float(x) for x in start], tolerance, repeats, [f"level={level}"])
                        single[i] = min(single[i], took)
                rate, slow = count / seconds, 1.0 / statistics.fmean(single)
                row(level, f"{tolerance:g}", f"{rate:.0f}", f"{slow:.0f}", f"{rate / slow:.2f}")
                ratios.append((f"batch against single runs, {level}, {tolerance:g}", rate / slow))
    for what, ratio in ratios:
        verdict(what, ratio, 1.5)
    heading("Free double pendulum to t = 10, µs", ["level", *(f"{t:g}" for t in (1e-15, 1e-9))])
    settings = [(level, [f"level={level}"]) for level in (*best, "interpreter")]
    settings.append(("interpreter, plain", ["level=interpreter", "arithmetic=plain"]))
    times = {}
    for _ in range(2 if quick else 5):
        for name, options in settings:
            for t in (1e-15, 1e-9):
                took, *_ = run_carom(binary, FREE_MODEL, STARTS[0], t, 200, options)
                times[name, t] = min(times.get((name, t), math.inf), took)
    for name, _ in settings:
        row(name, *(f"{times[name, t] * 1e6:.0f}" for t in (1e-15, 1e-9)))
    for name in ("interpreter", "interpreter, plain"):
        worst = max(times[name, t] / min(times[level, t] for level in best) for t in (1e-15, 1e-9))
        verdict(f"{name}: times machine code", worst, 3.5, most=True)


def chain(links):
    """A hanging chain by the places of its masses, the rods as constraints."""
    names = [f"{c}{i}" for i in range(1, links + 1) for c in "xy"]
    lines = [f"coordinates = [{', '.join(f'{n!r}' for n in names)}]", "gravity = [0.0, -9.81]"]
    lines += [f"[body.b{i}]\nmass = 1.0\nat = ['x{i}', 'y{i}']" for i in range(1, links + 1)]
    lines.append("[holonomic]")
    for i in range(1, links + 1):
        x, y = ("x1", "y1") if i == 1 else (f"(x{i} - x{i - 1})", f"(y{i} - y{i - 1})")
        lines.append(f"rod{i} = '{x}^2 + {y}^2 - 1'")
    x = y = 0.0
    places = []
    for i in range(1, links + 1):
        angle = 1.3 + 0.1 * (i - 1)
        x, y = x + math.sin(angle), y - math.cos(angle)
        places.append(f"x{i} = {x!r}, y{i} = {y!r}")
    lines.append(f"[start]\nposition = {{ {', '.join(places)} }}")
    return "\n".join(lines) + "\n"


def chains(binary, quick):
    """µs per step of chains in absolute coordinates: the difference of a long and a short run, so the start does not count."""
    sizes = (10, 20, 50) if quick else (10, 20, 50, 100)
    columns = available(binary)
    heading("n-link chain in places, µs per step", ["n", *columns])
    found = {level: [] for level in columns}
    with tempfile.TemporaryDirectory() as folder:
        for n in sizes:
            model = Path(folder) / f"chain{n}.toml"
            model.write_text(chain(n))

            def seconds(steps, level):
                command = [
                    binary, "run", model, "--until", "1000", "--samples", "2", "--repeat", "8", "--json",
                    *forced([f"level={level}", f"max_steps={steps}"]),
                ]  # fmt: skip
                done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
                return json.loads(done.stdout)["audit"]["simulate_seconds"]

            for level in columns:
                few, many = math.inf, math.inf
                for _ in range(2 if quick else 5):
                    few, many = min(few, seconds(5, level)), min(many, seconds(65, level))
                found[level].append((many - few) / 60 * 1e6)
            row(str(n), *(f"{found[level][-1]:.1f}" for level in columns))
    for level in columns:
        slope = np.polyfit(np.log(sizes), np.log(found[level]), 1)[0]
        verdict(f"chains in absolute coordinates on {level}: exponent", float(slope), 1.2, most=True)


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("parts", nargs="*", help="accuracy, single, cold, work, ensemble, levels, chains; all unless named")
    parser.add_argument("--quick", action="store_true", help="fewer repeats and trajectories")
    options = parser.parse_intermixed_args()
    for part in (accuracy, single, cold, work, ensemble, levels, chains):
        if not options.parts or part.__name__ in options.parts:
            part(options.binary, options.quick)
    sys.exit(0 if summary() else 1)
