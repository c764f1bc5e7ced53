"""The package beside closed forms and the command line. Needs only NumPy; what needs more says so when it is left out."""

import copy
import doctest
import importlib
import importlib.util
import json
import math
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

import numpy as np

import carom
from carom import _carom

BALL = dict(
    coordinates=["y"],
    parameters={"m": 2.0, "g": 9.8},
    kinetic="m/2*y'^2",
    potential="m*g*y",
    walls={"floor": "y"},
    start={"y": 1.0},
    until=2.0,
)


def needs(*modules):
    missing = [m for m in modules if importlib.util.find_spec(m) is None]
    return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")


class Models(unittest.TestCase):
    def test_a_keyword_model_is_the_model_of_its_text(self):
        model = carom.Model(**BALL)
        self.assertEqual(model, carom.Model.from_text(model.text))
        self.assertEqual((model.coordinates, model.walls), (["y"], ["floor"]))
        self.assertEqual(model.parameters, {"m": 2.0, "g": 9.8})

    def test_every_gallery_model_is_there_and_survives_pickling(self):
        self.assertIn("jack_in_box", carom.gallery.names())
        for name in carom.gallery.names():
            model = carom.gallery(name)
            self.assertEqual(pickle.loads(pickle.dumps(model)), model)

    def test_a_file_is_loaded_and_a_missing_one_is_an_os_error(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "ball.toml"
            path.write_text(carom.Model(**BALL).text)
            self.assertEqual(carom.load(path).coordinates, ["y"])
            with self.assertRaises(FileNotFoundError):
                carom.load(path.with_name("nothing.toml"))

    def test_all_mistakes_are_told_at_once_with_their_places(self):
        text = 'coordinates = ["x"]\n[energy]\nkinetic = "xx\'^2"\npotential = "k*x^2"\n'
        with self.assertRaises(carom.ModelError) as caught:
            carom.Model.from_text(text)
        found = [(d["line"], d["message"]) for d in caught.exception.diagnostics]
        self.assertEqual([line for line, _ in found], [3, 4])
        self.assertIn("^", str(caught.exception))
        self.assertIn("<li>", caught.exception._repr_html_())
        again = pickle.loads(pickle.dumps(caught.exception))
        self.assertEqual(again.diagnostics, caught.exception.diagnostics)

    def test_inputs_are_formulas_or_arrays(self):
        t = np.linspace(0, 2, 50)
        model = carom.Model(
            coordinates=["x"], kinetic="x'^2/2", inputs={"u": (t, 6 * t)}, forces={"push": {"x": "u"}}, until=2
        )
        # x'' = 6 t, x = t³; a linear table is interpolated exactly up to rounding.
        motion = model.run()
        self.assertLess(abs(motion["x"][-1] - 8.0), 1e-12)
        self.assertEqual(pickle.loads(pickle.dumps(model)), model)


class Motions(unittest.TestCase):
    def test_a_ball_bounces_when_the_closed_form_says(self):
        motion = carom.Model(**BALL).run()
        fall = math.sqrt(2 / 9.8)
        times = motion.impacts["time"]
        np.testing.assert_allclose(times, [fall, 3 * fall], rtol=4e-16)
        np.testing.assert_allclose(motion.impacts["impulse.floor"], 2 * 2.0 * math.sqrt(2 * 9.8), rtol=1e-14)
        self.assertEqual(motion.stop.reason, "reached")
        self.assertEqual(motion.audit.verdict, motion.audit["verdict"])
        self.assertEqual(motion.impacts["walls"], ["floor", "floor"])

    def test_parameters_start_times_and_numpy_numbers_are_taken(self):
        model = carom.Model(**BALL)
        motion = model.run(
            until=np.float32(0.25), at=np.linspace(0, 0.25, 6), parameters={"g": np.int64(2)}, start={"y'": np.array(1.5), "y": 3}
        )
        t = motion.time
        np.testing.assert_allclose(motion["y"], 3 + 1.5 * t - t**2, rtol=1e-15)
        np.testing.assert_allclose(motion["y'"], 1.5 - 2 * t, rtol=1e-15)

    def test_arrays_are_read_only_views_of_the_motion(self):
        motion = carom.Model(**BALL).run()
        for name in motion.columns:
            array = motion[name]
            self.assertEqual(array.ctypes.data, motion._native.address(name))
            self.assertFalse(array.flags.writeable or array.flags.owndata)
            with self.assertRaises(ValueError):
                array[0] = 1.0
        kept = motion["y"]
        expected = kept.copy()
        del motion
        np.testing.assert_array_equal(kept, expected)

    def test_the_state_at_any_time_is_the_sample_at_that_time_and_jumps_have_two_sides(self):
        motion = carom.Model(**BALL).run(samples=101)
        dense = motion(motion.time)
        for name in motion.columns:
            np.testing.assert_allclose(dense[name], motion[name], rtol=1e-13, atol=1e-13)
        t = motion.impacts["time"][0]
        self.assertEqual(motion(t, side="before")["y'"], motion.impacts["y'.before"][0])
        self.assertEqual(motion(t)["y'"], motion.impacts["y'"][0])
        with self.assertRaises(carom.ModelError):
            motion(2.5)

    def test_motions_and_tables_pickle_and_copy_to_the_same_bits(self):
        motion = carom.gallery("double_pendulum_wall").run(until=3)
        for again in (pickle.loads(pickle.dumps(motion)), copy.copy(motion), copy.deepcopy(motion)):
            for name in motion.columns:
                np.testing.assert_array_equal(again[name], motion[name])
            self.assertEqual(again.impacts, motion.impacts)
        self.assertEqual(pickle.loads(pickle.dumps(motion.impacts)), motion.impacts)

    def test_two_threads_with_one_model_get_the_bits_of_one(self):
        model = carom.gallery("double_pendulum_wall")
        alone = [model.run(until=5, start={"theta1'": 0.1 * k}) for k in range(8)]
        found = {}

        def work(numbers):
            for k in numbers:
                found[k] = model.run(until=5, start={"theta1'": 0.1 * k})

        threads = [threading.Thread(target=work, args=(range(i, 8, 2),)) for i in range(2)]
        [t.start() for t in threads]
        [t.join() for t in threads]
        for k, expected in enumerate(alone):
            for name in expected.columns:
                np.testing.assert_array_equal(found[k][name], expected[name])

    def test_the_lock_is_released_while_it_simulates(self):
        model = carom.gallery("double_pendulum")
        model.run(until=1)
        ticks = []
        running = threading.Event()

        def work():
            running.set()
            model.run(until=3000)
            running.clear()

        thread = threading.Thread(target=work)
        thread.start()
        running.wait()
        while thread.is_alive():
            ticks.append(1)
            time.sleep(0.001)
        self.assertGreater(len(ticks), 20)

    def test_an_interrupt_brings_what_was_computed(self):
        model = carom.gallery("double_pendulum_wall")
        model.run(until=1)
        timer = threading.Timer(0.5, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(carom.Interrupted) as caught:
            model.run(until=1e6, samples=100, max_impacts=10**9, max_steps=10**9)
        motion = caught.exception.motion
        self.assertIsInstance(caught.exception, KeyboardInterrupt)
        self.assertEqual(motion.stop.reason, "interrupted")
        self.assertGreater(motion.stop.time, 0)
        self.assertGreater(len(motion.impacts), 0)

    def test_fork_and_spawn_give_the_same_bits(self):
        expected = carom.gallery("double_pendulum_wall").run(until=2)["theta2"].tobytes()
        for method in ("fork", "spawn"):
            with multiprocessing.get_context(method).Pool(1) as pool:
                self.assertEqual(pool.apply(theta2, ("double_pendulum_wall",)), expected, method)

    def test_shown_in_a_notebook_everything_is_small(self):
        for name in ("double_pendulum_wall", "jack_in_box", "newtons_cradle"):
            model = carom.gallery(name)
            motion = model.run(samples=10_001)
            for shown in (model._repr_html_(), motion._repr_html_(), motion.impacts._repr_html_(), model.derive()._repr_html_()):
                self.assertLess(len(shown.encode()), 60_000, name)
            self.assertIn("<svg", motion._repr_html_())
            self.assertIn("<iframe", motion.animate()._repr_html_())

    def test_files_are_what_their_endings_say(self):
        motion = carom.gallery("bouncing_mass").run()
        with tempfile.TemporaryDirectory() as folder:
            for ending, begin in (("html", b"<!"), ("svg", b"<"), ("png", b"\x89PNG"), ("json", b"{"), ("csv", b"time"), ("parquet", b"PAR1"), ("npz", b"PK")):
                path = motion.save(pathlib.Path(folder) / f"m.{ending}")
                self.assertTrue(path.read_bytes().startswith(begin), ending)
            with self.assertRaises(carom.ModelError):
                motion.save(pathlib.Path(folder) / "m.xyz")
            self.assertEqual(json.loads(motion.to_json())["stop"]["reason"], motion.stop.reason)


def theta2(name):
    return carom.gallery(name).run(until=2)["theta2"].tobytes()


class Derivations(unittest.TestCase):
    def test_the_derivation_has_text_latex_and_html(self):
        derivation = carom.gallery("bouncing_mass").derive()
        self.assertIn("\\begin{document}", derivation.latex)
        self.assertIn("<math", derivation.html)
        self.assertIn("floor", str(derivation))
        self.assertEqual(derivation.impact_law("floor")["impulse"], "-2*m*y'")
        with self.assertRaises(carom.ModelError):
            derivation.impact_law("ceiling")

    @needs("sympy")
    def test_sympy_derives_the_same_accelerations(self):
        import sympy as sp

        derivation = carom.gallery("double_pendulum_wall").derive()
        derived = derivation.sympy()
        q = sp.symbols("theta1 theta2", real=True)
        v = sp.symbols("theta1' theta2'", real=True)
        # Euler–Lagrange by SymPy from the Lagrangian alone.
        lagrangian = derived["lagrangian"]
        mass = sp.Matrix(2, 2, lambda i, j: sp.diff(lagrangian, v[i], v[j]))
        bias = [sum(sp.diff(lagrangian, v[i], q[j]) * v[j] for j in range(2)) - sp.diff(lagrangian, q[i]) for i in range(2)]
        numbers = {s: 0.3 + 0.1 * k for k, s in enumerate(sorted(lagrangian.free_symbols, key=str))}
        ours = np.array(derived["accelerations"].subs(numbers).tolist(), float).ravel()
        theirs = np.linalg.solve(np.array(mass.subs(numbers).tolist(), float), -np.array([float(b.subs(numbers)) for b in bias]))
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)

    @needs("sympy")
    def test_a_model_from_sympy_is_the_model_from_text(self):
        import sympy as sp
        from sympy.physics.mechanics import dynamicsymbols

        t = dynamicsymbols._t
        theta = dynamicsymbols("theta")
        m, l, g = sp.symbols("m l g", positive=True)
        kinetic = m * l**2 * theta.diff(t) ** 2 / 2
        model = carom.Model(
            coordinates=[theta], parameters={m: 1, l: 1, g: 9.8}, lagrangian=kinetic + m * g * l * sp.cos(theta),
            walls={"left": l * sp.sin(theta)}, forces={"drag": {theta: -theta.diff(t) / 10}}, start={theta: 1, theta.diff(t): sp.Rational(1, 3)}, until=5,
        )
        text = carom.Model(
            coordinates=["theta"], parameters={"m": 1, "l": 1, "g": 9.8}, kinetic="m*l^2/2*theta'^2", potential="-m*g*l*cos(theta)",
            walls={"left": "l*sin(theta)"}, forces={"drag": {"theta": "-theta'/10"}}, start={"theta": 1, "theta'": "1/3"}, until=5,
        )
        a, b = model.run(), text.run()
        self.assertGreater(len(a.impacts), 2)
        np.testing.assert_allclose(a["theta"], b["theta"], rtol=0, atol=1e-11)
        # And back again.
        again = model.derive().sympy("mass_matrix")
        self.assertEqual(sp.simplify(again[0, 0] - sp.Symbol("m", real=True) * sp.Symbol("l", real=True) ** 2), 0)

    @needs("sympy")
    def test_sympy_expressions_keep_their_value_as_text_and_what_cannot_be_said_is_named(self):
        import sympy as sp
        from carom._sympy import formula

        x, y = sp.symbols("x y", positive=True)
        for e in (
            -x, x - y, -(x - y) / 3, x / y / 2, (x + y) ** -2, x**y, -(x**2), (-x) ** 2, sp.sqrt(x) / y, 1 / sp.sqrt(x + 1),
            sp.exp(-x) * sp.log(y), sp.Rational(-3, 7) * x**3, 0.1 * x - 2.5e-7, sp.Max(x, y, 1), sp.Abs(x - y) * sp.sign(y),
            sp.atan2(x, y), sp.pi * x / 4, sp.E**x, 2 ** (x - y), (x / y) ** 3, x ** sp.Rational(3, 2), -sp.Rational(1, 2) * x * y / (x + y),
        ):  # fmt: skip
            text = formula(e)
            model = carom.Model(coordinates=["q"], parameters={"x": 0.7, "y": 1.9}, kinetic="q'^2/2", outputs={"f": text}, until=1)
            ours = model.run(samples=2)["f"][0]
            self.assertAlmostEqual(ours, float(e.subs({x: 0.7, y: 1.9})), delta=1e-14 * max(1, abs(ours)), msg=text)
        for e, word in ((sp.Integral(x, x), "Integral"), (sp.gamma(x), "gamma"), (sp.Piecewise((x, x > 1), (y, True)), "Piecewise"), (sp.I * x, "ImaginaryUnit")):
            with self.assertRaises(carom.ModelError) as caught:
                formula(e)
            self.assertIn(word, str(caught.exception))


class Insight(unittest.TestCase):
    def test_the_derivatives_of_free_fall_are_those_of_the_closed_form(self):
        answer = carom.Model(**BALL).sensitivity("start", until=0.25)["sensitivity"]
        np.testing.assert_allclose(answer["matrix"], [[1, 0.25], [0, 1]], atol=1e-13)

    def test_a_harmonic_oscillator_has_no_exponent_and_the_period_of_the_closed_form(self):
        model = carom.Model(coordinates=["x"], kinetic="x'^2/2", potential="2*x^2", start={"x": 1}, events={"zero": "x'"}, until=50)
        self.assertLess(abs(max(model.lyapunov(until=200)["exponents"])), 0.1)

    def test_what_the_command_refuses_is_an_exception(self):
        with self.assertRaises(carom.ModelError):
            carom.Model(**BALL).sensitivity("nonsense")


class Live(unittest.TestCase):
    def test_sliders_ask_for_another_scene_and_mistakes_are_shown(self):
        from carom import _live

        model = carom.gallery("double_pendulum_wall")
        sliders = {s["name"]: s for s in _live.sliders(model, None, {"g": (0, 30)})}
        self.assertEqual((sliders["g"]["min"], sliders["g"]["max"], sliders["g"]["value"]), (0, 30, 9.81))
        self.assertIn("theta1'", sliders)
        answers = _live.Answers(model, 3.0)
        first, second = answers.set({}), answers.set({"g": 1.62, "theta1'": 1.0})
        self.assertNotEqual(first["scene"], second["scene"])
        self.assertEqual(answers.set({"g": 9.81, "theta1'": 0.0}), first)
        self.assertTrue(answers.set({"nonsense": 1.0})["error"])


class Tables(unittest.TestCase):
    @needs("pyarrow", "pandas", "polars")
    def test_every_consumer_of_arrow_reads_the_same_numbers(self):
        motion = carom.gallery("bouncing_mass").run()
        import polars
        import pyarrow

        for table, frame in ((motion, motion.to_table()), (motion.impacts, motion.impacts)):
            arrow = pyarrow.table(table)
            self.assertEqual(arrow.column_names, frame.columns)
            self.assertEqual(polars.DataFrame(table).columns, frame.columns)
            np.testing.assert_array_equal(arrow["time"].to_numpy(), frame["time"])
            np.testing.assert_array_equal(polars.DataFrame(table)["time"].to_numpy(), frame["time"])
        np.testing.assert_array_equal(motion.to_pandas()["y"].to_numpy(), motion["y"])
        self.assertEqual(motion.to_pandas().index.name, "time")
        self.assertEqual(motion.impacts.to_pandas()["walls"][0], "floor")


class Sweeps(unittest.TestCase):
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

    def test_processes_that_are_killed_lose_nothing_that_was_written(self):
        from concurrent.futures import ProcessPoolExecutor
        from concurrent.futures.process import BrokenProcessPool

        model = carom.gallery(self.MODEL)
        ask = dict(random={"theta1'": (-1, 1)}, count=60, until=20, chunk=5, progress=False)
        generator = np.random.default_rng(1)
        with tempfile.TemporaryDirectory() as folder:
            whole = model.sweep(to=pathlib.Path(folder) / "whole", **ask)
            target = pathlib.Path(folder) / "killed"
            kills = 0
            for attempt in range(60):
                with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
                    pool.submit(os.getpid).result()
                    if kills < KILLS:
                        victim = int(generator.choice(list(pool._processes)))
                        timer = threading.Timer(float(generator.uniform(0, 0.6)), kill, (victim,))
                        timer.start()
                    try:
                        killed = model.sweep(to=target, on=pool, **ask)
                        break
                    except BrokenProcessPool:
                        kills += 1
            self.assertGreaterEqual(kills, 1)
            for a, b in zip(whole.files, killed.files):
                self.assertEqual(a.read_bytes(), b.read_bytes())

    def test_without_a_folder_an_executor_gives_the_table_of_one_process(self):
        from concurrent.futures import ThreadPoolExecutor

        model = carom.gallery(self.MODEL)
        alone = model.sweep({"theta1'": np.linspace(-1, 1, 20)}, until=1, progress=False)
        with ThreadPoolExecutor(2) as pool:
            table = model.sweep({"theta1'": np.linspace(-1, 1, 20)}, until=1, on=pool, chunk=3, progress=False)
        self.assertEqual(table, alone)

    def test_an_interrupt_ends_a_sweep(self):
        model = carom.gallery(self.MODEL)
        timer = threading.Timer(0.7, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(carom.Interrupted):
            model.sweep(random={"theta1'": (-1, 1)}, count=10**6, progress=False)

    def test_a_trajectory_that_cannot_be_is_a_row_that_says_why(self):
        table = carom.Model(**BALL).sweep(y=[1.0, -1.0, 2.0], progress=False)
        self.assertEqual(table["stop"], ["reached", "invalid", "reached"])
        self.assertTrue(table["error"][1])

    @needs("joblib")
    def test_joblib_gives_the_same_table(self):
        import joblib

        self._engine(joblib.Parallel(n_jobs=2))

    @needs("distributed")
    def test_dask_gives_the_same_table(self):
        import distributed

        with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster:
            with distributed.Client(cluster) as client:
                self._engine(client)

    def _engine(self, engine):
        model = carom.gallery(self.MODEL)
        ask = dict(random={"theta1'": (-1, 1)}, count=20, until=1, chunk=4, progress=False)
        with tempfile.TemporaryDirectory() as folder:
            here = model.sweep(to=os.path.join(folder, "here"), **ask)
            there = model.sweep(to=os.path.join(folder, "there"), on=engine, **ask)
            for a, b in zip(here.files, there.files):
                self.assertEqual(a.read_bytes(), b.read_bytes())


KILLS = int(os.environ.get("CAROM_KILLS", "3"))


def kill(pid):
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def command(*words, **more):
    return subprocess.run([sys.executable, "-m", "carom", *words], check=True, capture_output=True, text=True, **more)


class Command(unittest.TestCase):
    def test_the_command_comes_along(self):
        version = command("--version").stdout
        self.assertIn(carom.__version__, version)
        wrong = subprocess.run([sys.executable, "-m", "carom", "run", "no_such_model"], capture_output=True, text=True)
        self.assertEqual(wrong.returncode, 3)

    def test_ctrl_c_ends_the_command_with_what_it_has(self):
        with tempfile.TemporaryDirectory() as folder:
            out = os.path.join(folder, "m.json")
            words = ["run", "double_pendulum", "--until", "1e7", "--option", "max_steps=1000000000", "-o", out]
            process = subprocess.Popen([sys.executable, "-m", "carom", *words], stderr=subprocess.PIPE)
            time.sleep(2.5)
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=60)
            self.assertEqual(process.returncode, 2)
            self.assertEqual(json.loads(pathlib.Path(out).read_text())["stop"]["reason"], "interrupted")


def load_tests(loader, tests, pattern):
    names = ["carom", "carom._errors", "carom._model", "carom._motion", "carom._table"]
    if importlib.util.find_spec("sympy"):
        names.append("carom._derivation")
    for name in names:
        tests.addTests(doctest.DocTestSuite(importlib.import_module(name)))
    return tests


if __name__ == "__main__":
    unittest.main()
