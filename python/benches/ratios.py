"""What Python costs, beside the command line of the same wheel: three ratios, each the least of several measurements.

    python benches/ratios.py        run ≤ 1.15, sweep ≤ 1.05 (CPU time); 10⁷ trajectories to a folder with --memory
"""

import json
import os
import resource
import subprocess
import sys
import tempfile
import time

import carom

MODEL = "double_pendulum_wall"


def command(*words):
    done = subprocess.run([sys.executable, "-m", "carom", *words], check=True, capture_output=True, text=True)
    return json.loads(done.stdout)


def run():
    model = carom.gallery(MODEL)
    until = 200
    ask = dict(until=until, max_impacts=10**6)
    model.run(**ask)

    def ours():
        begin = time.perf_counter()
        model.run(**ask)
        return time.perf_counter() - begin

    theirs = min(command("run", MODEL, "--until", str(until), "--option", "max_impacts=1000000", "--json")["audit"]["simulate_seconds"] for _ in range(7))
    best = min(ours() for _ in range(15))
    print(f"run      {best * 1e3:9.3f} ms   command {theirs * 1e3:9.3f} ms   ratio {best / theirs:.3f}   (≤ 1.15)")


def sweep():
    model = carom.gallery(MODEL)
    ask = dict(random={"theta1'": (-1, 1)}, count=10_000, seed=1, threads=1, progress=False)

    def ours():
        begin = time.process_time()
        model.sweep(**ask)
        return time.process_time() - begin

    words = ["sweep", MODEL, "--random", "theta1'=-1..1", "--count", "10000", "--seed", "1", "--threads", "1", "--json", "-q"]
    theirs = min(command(*words)["cpu_seconds"] for _ in range(3))
    best = min(ours() for _ in range(3))
    print(f"sweep    {best:9.3f} s    command {theirs:9.3f} s    ratio {best / theirs:.3f}   (≤ 1.05)")


def processes():
    from concurrent.futures import ProcessPoolExecutor

    model = carom.gallery(MODEL)
    ask = dict(random={"theta1'": (-1, 1)}, count=20_000, until=40, seed=1, progress=False)
    seconds = {}
    for workers in (1, 2):
        with tempfile.TemporaryDirectory() as folder, ProcessPoolExecutor(workers) as pool:
            list(pool.map(abs, range(workers)))
            begin = time.perf_counter()
            model.sweep(to=folder, on=pool, **ask)
            seconds[workers] = time.perf_counter() - begin
    print(f"processes  one {seconds[1]:.1f} s, two {seconds[2]:.1f} s   ratio {seconds[1] / seconds[2]:.2f}   (≥ 1.7 on a quiet machine)")


def memory():
    model = carom.gallery("bouncing_mass")
    for count in (10**6, 10**7):
        with tempfile.TemporaryDirectory(dir=os.environ.get("TMPDIR")) as folder:
            model.sweep(random={"y": (0.5, 2)}, count=count, until=0.1, to=folder, progress=True)
        print(f"{count} trajectories to a folder: at most {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MB")


if __name__ == "__main__":
    if "--memory" in sys.argv:
        memory()
    else:
        run()
        sweep()
        processes()
