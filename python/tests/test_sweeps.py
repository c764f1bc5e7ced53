"""Sweeps: the same rows and bytes whatever ran where, and whatever was killed. Needs only NumPy; what needs more says so when it is
left out."""

import multiprocessing
import os
import pathlib
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import numpy as np
from support import BALL, Case, command, kill, needs

import carom
from carom import _carom, _sweep

KILLS = int(os.environ.get("CAROM_KILLS", "20"))


class Sweeps(Case):
    MODEL = "double_pendulum_wall"

    def test_rows_are_what_single_runs_end_with(self):
        model = carom.gallery(self.MODEL)
        table = model.sweep({"theta1'": [0.0, 0.5]}, g=[9.81, 1.62], until=3, progress=False)
        self.assertEqual(table["g"].tolist(), [9.81, 1.62, 9.81, 1.62])
        for row in table.rows():
            motion = model.run(until=3, parameters={"g": row["g"]}, start={"theta1'": row["theta1'"]})
            self.assertEqual(row["theta1"], motion["theta1"][-1])
            self.assertEqual(row["impacts"], len(motion.impacts))
        pairs = model.sweep({"theta1'": [0.0, 0.5]}, g=[9.81, 1.62], until=3, product=False, progress=False)
        self.assertEqual(pairs["g"].tolist(), [9.81, 1.62])

    def test_the_command_writes_the_same_numbers(self):
        model = carom.gallery(self.MODEL)
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "t.parquet")
            command("sweep", self.MODEL, "--random", "theta1'=-1..1", "--count", "40", "--seed", "7", "--until", "2", "-q", "-o", out)
            theirs = carom.Table(_carom.Table.from_parquet([pathlib.Path(out).read_bytes()]))
        for threads in (1, 2):
            ours = model.sweep(random={"theta1'": (-1, 1)}, count=40, seed=7, until=2, threads=threads, progress=False)
            self.assertEqual(ours.columns, theirs.columns)
            for name in ours.columns:
                self.assertEqual(list(map(repr, ours[name])), list(map(repr, theirs[name])), name)

    def test_a_folder_goes_on_where_it_stopped_and_has_the_same_bytes(self):
        model = carom.gallery(self.MODEL)
        ask = dict(random={"theta1'": (-1, 1)}, count=50, until=1, chunk=8, progress=False)
        with tempfile.TemporaryDirectory() as folder:
            one, two = pathlib.Path(folder) / "one", pathlib.Path(folder) / "two"
            whole = model.sweep(to=one, **ask)
            self.assertEqual((len(whole), len(whole.files)), (50, 7))
            model.sweep(to=two, threads=1, **ask)
            two.joinpath("part-000003.parquet").unlink()
            stamp = two.joinpath("part-000004.parquet").stat().st_mtime_ns
            again = model.sweep(to=two, threads=2, **ask)
            self.assertEqual(two.joinpath("part-000004.parquet").stat().st_mtime_ns, stamp)
            for a, b in zip(whole.files, again.files):
                self.assertEqual(a.read_bytes(), b.read_bytes())
            memory = model.sweep(random={"theta1'": (-1, 1)}, count=50, until=1, progress=False)
            self.assertEqual(memory["theta1"].tolist(), again.to_table()["theta1"].tolist())
            with self.assertRaises(carom.ModelError) as caught:
                model.sweep(to=two, **{**ask, "until": 2})
            self.assertIn("another sweep", str(caught.exception))

    def test_processes_killed_at_random_moments_lose_nothing_that_was_written(self):
        from concurrent.futures import ProcessPoolExecutor
        from concurrent.futures.process import BrokenProcessPool

        model = carom.gallery(self.MODEL)
        ask = dict(random={"theta1'": (-1, 1)}, until=20, progress=False)
        # Half a second of work per kill for each of the two, in chunks of a fiftieth of that.
        begin = time.perf_counter()
        model.sweep(count=64, threads=1, **ask)
        rate = 64 / (time.perf_counter() - begin)
        ask.update(count=int(rate * KILLS), chunk=max(1, int(rate / 100)))
        # A process that waits is forked: another one costs next to nothing.
        context = multiprocessing.get_context("forkserver")
        context.set_forkserver_preload(["carom"])
        generator = np.random.default_rng(1)
        with tempfile.TemporaryDirectory() as folder:
            target = pathlib.Path(folder) / "killed"
            kills, killed = 0, None
            while killed is None:
                with ProcessPoolExecutor(2, mp_context=context) as pool:
                    list(pool.map(abs, range(2)))
                    if kills < KILLS:
                        timer = threading.Timer(float(generator.uniform(0, 0.4)), kill, (int(generator.choice(list(pool._processes))),))
                        timer.start()
                    try:
                        killed = model.sweep(to=target, on=pool, **ask)
                    except carom.SweepError as error:
                        self.assertEqual({type(c.error) for c in error.failed}, {BrokenProcessPool})
                        kills += 1
                        self.assertLessEqual(kills, KILLS, "nobody was killed, and a process died")
            self.assertEqual(kills, KILLS)
            whole = model.sweep(to=pathlib.Path(folder) / "whole", **ask)
            self.assertEqual([f.name for f in whole.files], [f.name for f in killed.files])
            for a, b in zip(whole.files, killed.files):
                self.assertEqual(a.read_bytes(), b.read_bytes())

    @needs("distributed")
    def test_workers_of_dask_killed_at_random_moments_change_no_byte(self):
        import distributed

        model = carom.gallery(self.MODEL)
        ask = dict(random={"theta1'": (-1, 1)}, count=400, until=20, chunk=4, progress=False)
        generator = np.random.default_rng(2)
        with tempfile.TemporaryDirectory() as folder:
            whole = model.sweep(to=pathlib.Path(folder) / "whole", **ask)
            with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster:
                with distributed.Client(cluster) as client:
                    over, done = threading.Event(), []

                    def assassin():
                        while len(done) < KILLS and not over.wait(float(generator.uniform(0.05, 0.5))):
                            pids = [w.pid for w in cluster.workers.values() if w.pid]
                            if pids and kill(int(generator.choice(pids))):
                                done.append(1)

                    thread = threading.Thread(target=assassin)
                    thread.start()
                    killed = model.sweep(to=pathlib.Path(folder) / "killed", on=client, **ask)
                    while len(done) < KILLS:
                        # It was done before all moments had come: half of it once more.
                        for file in killed.files[::2]:
                            file.unlink()
                        killed = model.sweep(to=pathlib.Path(folder) / "killed", on=client, **ask)
                    over.set()
                    thread.join()
            self.assertEqual(len(done), KILLS)
            for a, b in zip(whole.files, killed.files):
                self.assertEqual(a.read_bytes(), b.read_bytes())

    def test_a_folder_begun_by_the_command_is_finished_here_to_the_same_bytes(self):
        model = carom.gallery(self.MODEL)
        cases = (
            (["--random", "theta1'=-1..1", "--count", "40", "--seed", "7"], dict(random={"theta1'": (-1, 1)}, count=40, seed=7)),
            (["--vary", "theta1'=0,0.5", "--vary", "g=9.81,1.62"], dict(g=[9.81, 1.62], values={"theta1'": [0, 0.5]})),
        )
        for words, ask in cases:
            ask = dict(ask)
            values = ask.pop("values", None)
            more = dict(until=2, parameters={"m": 2.0} if "m" in model.parameters else {}, columns=["energy"], progress=False, **ask)
            changed = [f"--set={k}=2" for k in more["parameters"]]
            with tempfile.TemporaryDirectory() as folder:
                one, two = pathlib.Path(folder) / "one", pathlib.Path(folder) / "two"
                command("sweep", self.MODEL, *words, *changed, "--until", "2", "--columns", "energy", "--chunk", "3", "-q", "-o", f"{one}/")
                one.joinpath("part-000001.parquet").unlink()
                finished = model.sweep(values, to=one, **more)
                own = model.sweep(values, to=two, chunk=3, **more)
                self.assertEqual([f.name for f in finished.files], [f.name for f in own.files])
                for a, b in zip(finished.files, own.files):
                    self.assertEqual(a.read_bytes(), b.read_bytes(), a.name)
                # And the other way round.
                two.joinpath("part-000000.parquet").unlink()
                command("sweep", self.MODEL, *words, *changed, "--until", "2", "--columns", "energy", "--resume", "-q", "-o", f"{two}/")
                self.assertEqual(own.files[0].read_bytes(), finished.files[0].read_bytes())

    def _one_in_the_way(self, engine):
        """Something else has the name of chunk 2: it fails, whoever makes it, and the others go on."""
        model = carom.gallery(self.MODEL)
        with tempfile.TemporaryDirectory() as folder:
            for size, first in ((4, 8), (1, 2)):
                target = pathlib.Path(folder) / str(size)
                ask = dict(random={"theta1'": (-1, 1)}, count=5 * size, until=1, chunk=size, progress=False, to=target, on=engine)
                (target / "part-000002.parquet").mkdir(parents=True)
                with self.assertRaises(carom.SweepError) as caught:
                    model.sweep(**ask)
                (failed,) = pickle.loads(pickle.dumps(caught.exception)).failed
                self.assertEqual((failed.chunk, failed.first, failed.last), (2, first, first + size))
                self.assertIn("is a folder", str(caught.exception))
                there = sorted(p.name for p in target.glob("part-*") if p.is_file())
                self.assertEqual(there, [f"part-{i:06}.parquet" for i in (0, 1, 3, 4)])
                (target / "part-000002.parquet").rmdir()
                whole = model.sweep(**ask).to_table()
                if size == 1:
                    self.assertEqual(failed.start, {"theta1'": whole["theta1'"][2]})
                    self.assertIn(f"(theta1' = {list(failed.start.values())[0]!r})", str(caught.exception))
                else:
                    self.assertIsNone(failed.start)
                    self.assertIn("trajectories 8 to 11", str(caught.exception))

    def test_a_chunk_that_fails_is_named_without_an_engine_and_with_threads(self):

        self._one_in_the_way(None)
        with ThreadPoolExecutor(2) as pool:
            self._one_in_the_way(pool)

    def test_what_workers_write_where_nobody_sees_it_is_made_again(self):

        model = carom.gallery(self.MODEL)
        ask = dict(random={"theta1'": (-1, 1)}, count=20, until=1, chunk=4, progress=False)
        real = _sweep.chunk

        def blind(question, key, folder, index, *rest):
            # A worker whose folder of that name is another one, and already has the chunk.
            return (index, None, None) if folder and index % 2 else real(question, key, folder, index, *rest)

        def liar(question, key, folder, index, *rest):
            return (index, None, None) if index == 3 else real(question, key, folder, index, *rest)

        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
            whole = model.sweep(to=os.path.join(folder, "whole"), **ask)
            with mock.patch.object(_sweep, "chunk", blind):
                seen = model.sweep(to=os.path.join(folder, "seen"), on=pool, **ask)
            for a, b in zip(whole.files, seen.files):
                self.assertEqual(a.read_bytes(), b.read_bytes())
            with mock.patch.object(_sweep, "chunk", liar), self.assertRaises(carom.SweepError) as caught:
                model.sweep(to=os.path.join(folder, "lied"), on=pool, **ask)
            self.assertEqual([c.chunk for c in caught.exception.failed], [3])

    def test_a_worker_begins_no_sweep_and_spoils_no_other(self):
        model = carom.gallery(self.MODEL)

        def asked(until):
            return _sweep.Question.of(model, None, {}, True, {"theta1'": (-1, 1)}, 8, 0, until, None, None, None, False, None, None)

        question, key = asked(1), asked(1).ensemble().key
        with tempfile.TemporaryDirectory() as folder:
            empty, other = os.path.join(folder, "empty"), os.path.join(folder, "other")
            os.mkdir(empty)
            _, data, error = _sweep.chunk(question, key, empty, 0, 0, 4, 1)
            self.assertIsNone(error)
            self.assertTrue(data.startswith(b"PAR1"))
            self.assertEqual(os.listdir(empty), [])
            with self.assertRaises(OSError):
                question.ensemble().write(empty, 0, data)
            model.sweep(random={"theta1'": (-1, 1)}, count=8, until=2, chunk=8, to=other, progress=False)
            before = {p.name: p.read_bytes() for p in pathlib.Path(other).iterdir()}
            self.assertEqual(_sweep.chunk(question, key, other, 0, 0, 4, 1), (0, data, None))
            with self.assertRaises(carom.ModelError):
                question.ensemble().write(other, 0, data)
            self.assertEqual({p.name: p.read_bytes() for p in pathlib.Path(other).iterdir()}, before)

    def test_all_workers_of_an_executor_work(self):
        from concurrent.futures import Executor, Future

        class Cluster(Executor):
            """Answers when it has all of its tasks: it has as many workers."""

            def __init__(self, workers, said):
                self.waiting, self.workers = [], workers
                if said:
                    self._max_workers = workers

            def submit(self, task, *args):
                future = Future()
                self.waiting.append((future, task, args))
                if len(self.waiting) == self.workers:
                    for each, work, given in self.waiting:
                        each.set_result(work(*given))
                return future

        model = carom.gallery("bouncing_mass")
        for said in (False, True):
            with ThreadPoolExecutor(1) as alone:
                ask = lambda: model.sweep(y=np.linspace(1, 2, 64), until=0.1, chunk=1, on=Cluster(64, said), progress=False)
                self.assertEqual(len(alone.submit(ask).result(timeout=120)), 64)

    def test_files_of_a_folder_have_the_rights_of_other_files_and_nothing_is_left_behind(self):
        model = carom.gallery("bouncing_mass")
        with tempfile.TemporaryDirectory() as folder:
            made = model.sweep(y=[1.0, 2.0, 3.0], until=0.1, chunk=1, to=folder, progress=False)
            plain = pathlib.Path(folder) / "plain"
            plain.write_bytes(b"")
            for file in [*made.files, made.folder / "manifest.json"]:
                self.assertEqual(file.stat().st_mode, plain.stat().st_mode, file.name)
            plain.unlink()
            # What processes leave that are killed while they write: of a chunk that is there, and of one that will be.
            made.files[1].unlink()
            for left in (".part-000000-abc", ".part-000001-abc"):
                (pathlib.Path(folder) / left).write_bytes(b"PAR1")
            model.sweep(y=[1.0, 2.0, 3.0], until=0.1, to=folder, progress=False)
            self.assertEqual(sorted(os.listdir(folder)), ["manifest.json", *(f"part-{i:06}.parquet" for i in range(3))])
            # A file that someone cut off is named, and made again when it is gone.
            made.files[1].write_bytes(made.files[1].read_bytes()[:100])
            with self.assertRaises(carom.ModelError) as caught:
                made.to_table()
            self.assertIn("part-000001.parquet is damaged", str(caught.exception))
            made.files[1].unlink()
            self.assertEqual(model.sweep(y=[1.0, 2.0, 3.0], until=0.1, to=folder, progress=False).to_table()["y"].tolist(), [1.0, 2.0, 3.0])

    def test_numbers_are_the_same_in_all_rows(self):
        table = carom.Model(**BALL).sweep({"y'": [0.0, 1.0, 2.0]}, y=[1.0, 2.0, 3.0], g=1.62, product=False, progress=False)
        self.assertEqual((table["g"].tolist(), table["y"].tolist()), ([1.62] * 3, [1.0, 2.0, 3.0]))
        with self.assertRaises(carom.ModelError):
            carom.Model(**BALL).sweep(y=[1.0, 2.0, 3.0], g=[1.62], product=False, progress=False)

    def test_measuring_the_size_of_a_chunk_can_be_interrupted(self):
        model = carom.gallery(self.MODEL)
        timer = threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT))
        with tempfile.TemporaryDirectory() as folder:
            timer.start()
            with self.assertRaises(carom.Interrupted):
                model.sweep({"theta1'": [0.0, 0.5]}, until=1e7, to=folder, progress=False)
            self.assertEqual(os.listdir(folder), [])

    def test_array_jobs_as_the_book_has_them_make_the_table_of_one_sweep(self):
        book = pathlib.Path(__file__).resolve().parents[2] / "docs" / "book" / "src" / "sweeps.md"
        script = next(block for block in book.read_text().split("```") if "#SBATCH" in block).split("\n", 1)[1]
        of = script.split("--array=1-")[1].split()[0]
        self.assertIn(f"$SLURM_ARRAY_TASK_ID/{of} ", script)
        # The same script with less to do; Slurm says which job it is, the rest is plain processes.
        jobs = 12
        script = script.replace("--count 10000000", "--count 300").replace(f"1-{of}", f"1-{jobs}").replace(f"/{of} ", f"/{jobs} ")
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "ball.toml").write_text(carom.Model(**BALL).text)
            pathlib.Path(folder, "job.sh").write_text(f'carom() {{ "{sys.executable}" -m carom "$@"; }}\n' + script)
            for first in range(1, jobs + 1, 4):
                running = [
                    subprocess.Popen(["bash", "-e", "job.sh"], cwd=folder, env={**os.environ, "SLURM_ARRAY_TASK_ID": str(i)}, stderr=subprocess.PIPE)
                    for i in range(first, min(first + 4, jobs + 1))
                ]
                for job in running:
                    self.assertEqual((job.communicate()[1], job.returncode)[1], 0)
            command("merge", "runs", "-q", "-o", "all.parquet", cwd=folder)
            command("sweep", "ball.toml", "--random", "y=0.5..2", "--count", "300", "-q", "-o", "one.parquet", cwd=folder)
            self.assertEqual(pathlib.Path(folder, "all.parquet").read_bytes(), pathlib.Path(folder, "one.parquet").read_bytes())

    def test_a_chunk_that_fails_is_named_and_the_others_go_on(self):
        real = _sweep.chunk

        def failing(question, key, folder, index, *rest):
            if index == 2:
                return index, None, MemoryError("no room for these")
            return real(question, key, folder, index, *rest)

        model = carom.gallery(self.MODEL)
        ask = dict(random={"theta1'": (-1, 1)}, count=20, until=1, chunk=4, progress=False)
        with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
            with mock.patch.object(_sweep, "chunk", failing), self.assertRaises(carom.SweepError) as caught:
                model.sweep(to=folder, on=pool, **ask)
            self.assertIn("trajectories 8 to 11: MemoryError: no room for these", str(caught.exception))
            self.assertEqual([c.chunk for c in pickle.loads(pickle.dumps(caught.exception)).failed], [2])
            there = sorted(p.name for p in pathlib.Path(folder).glob("part-*"))
            self.assertEqual(there, [f"part-{i:06}.parquet" for i in (0, 1, 3, 4)])
            self.assertEqual(len(model.sweep(to=folder, on=pool, **ask).to_table()), 20)

    def test_a_full_disk_loses_nothing_that_was_written(self):
        # A file system of 300 kB in a name space of our own; where the system allows none, a limit on the size of files.
        script = (
            "import carom, os, pathlib, sys\n"
            "to = pathlib.Path(sys.argv[1])\n"
            f"model = carom.gallery({self.MODEL!r})\n"
            "try:\n"
            "    model.sweep(random={\"theta1'\": (-1, 1)}, count=20000, until=0.01, chunk=500, to=to, progress=False)\n"
            "except OSError as error:\n"
            "    print(str(error))\n"
            "    whole = sorted(to.glob('part-*.parquet'))\n"
            "    out = pathlib.Path(sys.argv[2])\n"
            "    for part in [to / 'manifest.json', *whole]:\n"
            "        (out / part.name).write_bytes(part.read_bytes())\n"
            "else:\n"
            "    sys.exit('there was room')\n"
        )
        model = carom.gallery(self.MODEL)
        with tempfile.TemporaryDirectory() as folder:
            small, kept = pathlib.Path(folder) / "small", pathlib.Path(folder) / "kept"
            small.mkdir()
            kept.mkdir()
            run = f'mount -t tmpfs -o size=300k none "{small}" && exec "{sys.executable}" -c "$1" "{small}/runs" "{kept}"'
            alone = ["unshare", "--mount"] if os.geteuid() == 0 else ["unshare", "--user", "--map-root-user", "--mount"]
            try:
                done = subprocess.run([*alone, "sh", "-c", run, "sh", script], capture_output=True, text=True)
            except FileNotFoundError:
                self.skipTest("there is no unshare here")
            if "mount" in done.stderr or "unshare" in done.stderr:
                self.skipTest(f"no small file system here: {done.stderr.strip()}")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("no space left", done.stdout)
            self.assertIn("hint: make room", done.stdout)
            written = sorted(p.name for p in kept.glob("part-*"))
            self.assertGreater(len(written), 1)
            stamps = {p: p.stat().st_mtime_ns for p in kept.iterdir()}
            # With room again the same call goes on after what was written, to the bytes of an undisturbed sweep.
            ask = dict(random={"theta1'": (-1, 1)}, count=20000, until=0.01, progress=False)
            resumed = model.sweep(to=kept, **ask)
            self.assertEqual({p: p.stat().st_mtime_ns for p in stamps}, stamps)
            whole = model.sweep(to=pathlib.Path(folder) / "whole", chunk=500, **ask)
            for a, b in zip(whole.files, resumed.files):
                self.assertEqual(a.read_bytes(), b.read_bytes())

    def test_without_a_folder_an_executor_gives_the_table_of_one_process(self):

        model = carom.gallery(self.MODEL)
        alone = model.sweep({"theta1'": np.linspace(-1, 1, 20)}, until=1, progress=False)
        with ThreadPoolExecutor(2) as pool:
            table = model.sweep({"theta1'": np.linspace(-1, 1, 20)}, until=1, on=pool, chunk=3, progress=False)
        self.assertEqual(table, alone)

    def test_an_interrupt_ends_a_sweep(self):
        model = carom.gallery(self.MODEL)
        timer = threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(carom.Interrupted) as caught:
            model.sweep(random={"theta1'": (-1, 1)}, count=10**6, progress=False)
        # What was computed: the first rows, without a gap.
        rows = caught.exception.table
        self.assertGreater(len(rows), 0)
        few = min(len(rows), 50)
        first = model.sweep(random={"theta1'": (-1, 1)}, count=few, progress=False)
        self.assertEqual(first["theta1"].tolist(), rows["theta1"][:few].tolist())

    def test_a_trajectory_that_cannot_be_is_a_row_that_says_why(self):
        table = carom.Model(**BALL).sweep(y=[1.0, -1.0, 2.0], progress=False)
        self.assertEqual(table["stop"], ["reached", "invalid", "reached"])
        self.assertTrue(table["error"][1])

    @needs("joblib")
    def test_joblib_gives_the_same_table(self):
        import joblib

        parallel = joblib.Parallel(n_jobs=2)
        self._engine(parallel)
        self._one_in_the_way(parallel)
        self.assertEqual(parallel.return_as, "list")
        # After an interrupt it does what it is asked next, and nothing else.
        for wait in (1.0, 1.2, 1.4):
            with tempfile.TemporaryDirectory() as folder:
                threading.Timer(wait, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
                with self.assertRaises(carom.Interrupted):
                    carom.gallery(self.MODEL).sweep(random={"theta1'": (-1, 1)}, count=10**5, until=40, chunk=5, to=folder, on=parallel, progress=False)
                self.assertEqual(parallel(joblib.delayed(abs)(-i) for i in range(3)), [0, 1, 2])

    @needs("ray")
    def test_ray_gives_the_same_table(self):
        import ray

        ray.init(num_cpus=2, include_dashboard=False, logging_level="error", log_to_driver=False)
        try:
            self._engine(ray)
            self._one_in_the_way(ray)
        finally:
            ray.shutdown()

    @needs("distributed")
    def test_dask_gives_the_same_table(self):
        import distributed

        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            with distributed.Client(cluster) as client:
                self._engine(client)
                self._one_in_the_way(client)

    def _engine(self, engine):
        model = carom.gallery(self.MODEL)
        ask = dict(random={"theta1'": (-1, 1)}, count=20, until=1, chunk=4, progress=False)
        with tempfile.TemporaryDirectory() as folder:
            here = model.sweep(to=os.path.join(folder, "here"), **ask)
            there = model.sweep(to=os.path.join(folder, "there"), on=engine, **ask)
            for a, b in zip(here.files, there.files):
                self.assertEqual(a.read_bytes(), b.read_bytes())


if __name__ == "__main__":
    unittest.main()
