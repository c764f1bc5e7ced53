"""What Python costs beside the command line of the same wheel, and what a second process gains. One table at the end.

    python benches/ratios.py              everything (about six minutes on a quiet machine)
    python benches/ratios.py run sweep    only these: run, sweep, pointers, memory, engines
    python benches/ratios.py --small      a hundredth of the work, to see that it runs; says nothing about the bars

Durations are the shortest of several, taken in turns, so that a slow phase of the machine meets both sides. Engines that are not
installed are left out and named. Exit code 1 if a bar is missed.
"""

import importlib.util
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import carom
from carom import _carom

MODEL = "double_pendulum_wall"
TABLE = []
SMALL = 100 if "--small" in sys.argv else 1


def note(what, measured, bar, met):
    TABLE.append((what, measured, bar, "met" if met else "MISSED" if SMALL == 1 else "too small to say"))
    print("  ".join(TABLE[-1]), flush=True)


def command(*words):
    done = subprocess.run([sys.executable, "-m", "carom", *words], check=True, capture_output=True, text=True)
    return json.loads(done.stdout) if done.stdout.strip() else None


def run():
    """One run, as the model says it and twenty times as long."""
    model = carom.gallery(MODEL)
    for until, repeat in ((10, 400), (200, 20)):
        ours, theirs = [], []
        for _ in range(7):
            theirs.append(command("run", MODEL, "--until", str(until), "--repeat", str(repeat), "--json")["audit"]["simulate_seconds"])
            for _ in range(repeat):
                begin = time.perf_counter()
                model.run(until)
                ours.append(time.perf_counter() - begin)
        ratio = min(ours) / min(theirs)
        note(f"run to t = {until}", f"{min(ours) * 1e3:.3f} ms / {min(theirs) * 1e3:.3f} ms = {ratio:.3f}", "≤ 1.15", ratio <= 1.15)


def sweep():
    """Ten thousand trajectories on one thread: processor time, and every number."""
    model = carom.gallery(MODEL)
    ask = dict(random={"theta1'": (-1, 1)}, count=10_000, seed=1, threads=1, progress=False)
    words = ["sweep", MODEL, "--random", "theta1'=-1..1", "--count", "10000", "--seed", "1", "--threads", "1", "--json", "-q"]
    ours, theirs = [], []
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "t.parquet")
        for _ in range(5):
            theirs.append(command(*words, "-o", out)["cpu_seconds"])
            begin = time.process_time()
            table = model.sweep(**ask)
            ours.append(time.process_time() - begin)
        other = type(table._native).from_parquet([Path(out).read_bytes()])
    same = table.columns == other.columns and all(
        list(table[c]) == other.column(c) if isinstance(table[c], list) else np.array_equal(table[c], np.asarray(other.column(c)), equal_nan=True)
        for c in table.columns
    )
    ratio = min(ours) / min(theirs)
    note("sweep of 10,000, CPU time", f"{min(ours):.3f} s / {min(theirs):.3f} s = {ratio:.3f}", "≤ 1.05", ratio <= 1.05)
    note("its numbers", "identical" if same else "different", "identical", same)


def pointers():
    """Arrays of samples are the memory of the motion."""
    motion = carom.gallery(MODEL).run(samples=10_001)
    views = [motion[c].ctypes.data == motion._native.address(c) and not motion[c].flags.owndata for c in motion.columns]
    note("columns that are views", f"{sum(views)} of {len(views)}", "all", all(views))


FILL = """
import resource, sys, carom
carom.gallery("bouncing_mass").sweep(random={"y": (0.5, 2)}, count=int(sys.argv[1]), until=0.1, to=sys.argv[2], chunk=200_000, progress=False)
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


def memory():
    """Trajectories to a folder: the most memory a process of its own takes. Chunks are of one size, which would be measured otherwise:
    memory holds a chunk per thread."""
    most = {}
    for count in (10**6 // SMALL, 10**7 // SMALL):
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
            begin = time.perf_counter()
            done = subprocess.run([sys.executable, "-c", FILL, str(count), folder], check=True, capture_output=True, text=True)
            seconds = time.perf_counter() - begin
            size = sum(f.stat().st_size for f in Path(folder).iterdir()) / 1e6
        most[count] = float(done.stdout)
        print(f"{count} trajectories: {seconds:.0f} s, {size:.0f} MB on disk, at most {most[count]:.0f} MB of memory", flush=True)
    few, many = most.values()
    note("memory, 10⁷ / 10⁶ trajectories to a folder", f"{many:.0f} MB / {few:.0f} MB = {many / few:.2f}", "≤ 1.1 (flat)", many / few <= 1.1)


def engines():
    """A sweep of more than half a minute by one process, and by two on every engine there is."""
    model = carom.gallery(MODEL)
    ask = dict(random={"theta1'": (-1, 1)}, until=40, seed=1, progress=False)
    begin = time.perf_counter()
    model.sweep(count=1000, threads=1, **ask)
    ask["count"] = count = max(100, int(45 / SMALL * 1000 / (time.perf_counter() - begin)))

    def seconds(on):
        with tempfile.TemporaryDirectory() as folder:
            begin = time.perf_counter()
            made = model.sweep(to=folder, on=on, threads=1, **ask)
            return time.perf_counter() - begin, [f.read_bytes() for f in made.files]

    one, expected = seconds(None)
    note("engines: one process", f"{one:.1f} s for {count} trajectories in {len(expected)} chunks", "≥ 30 s", one >= 30)

    def rows(files):
        return carom.Table(_carom.Table.from_parquet(files))

    def two(name, on):
        took, files = seconds(on)
        # The size of chunks is measured anew in every folder: where it differs, rows are compared instead of bytes.
        same = files == expected or rows(files) == rows(expected)
        said = f"{one:.1f} s / {took:.1f} s = {one / took:.2f}{'' if same else ', OTHER ROWS'}"
        note(f"{name}: two processes", said, "≥ 1.7, same rows", one / took >= 1.7 and same)

    from concurrent.futures import ProcessPoolExecutor

    with ProcessPoolExecutor(2) as pool:
        two("concurrent.futures", pool)
    if there("distributed"):
        import distributed

        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster, distributed.Client(cluster) as client:
            two("Dask", client)
    if there("joblib"):
        import joblib

        two("joblib", joblib.Parallel(n_jobs=2))
    if there("ray"):
        import ray

        ray.init(num_cpus=2, include_dashboard=False, logging_level="error")
        two("Ray", ray)
        ray.shutdown()


def there(module):
    if importlib.util.find_spec(module) is None:
        print(f"not installed, not measured: {module}")
        return False
    return True


if __name__ == "__main__":
    parts = {part.__name__: part for part in (run, sweep, pointers, memory, engines)}
    for name in [word for word in sys.argv[1:] if word in parts] or parts:
        parts[name]()
    print(f"\ncarom {carom.__version__}, Python {sys.version.split()[0]}, {os.cpu_count()} processors")
    width = [max(len(row[k]) for row in TABLE) for k in range(4)]
    for row in TABLE:
        print("  ".join(cell.ljust(width[k]) for k, cell in enumerate(row)).rstrip())
    sys.exit(any(row[3] == "MISSED" for row in TABLE))
