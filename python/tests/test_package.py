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
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from concurrent.futures import ProcessPoolExecutor
from unittest import mock

import numpy as np
from support import BALL, Case, command, needs

import carom

class Models(Case):
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

    def test_a_model_carries_the_tables_of_its_folder_wherever_it_goes(self):
        # x'' = u, from rest: x(1) = 1 for u = 2. The table is in a folder of its own, beside nothing where it is used.
        text = (
            "coordinates = [\"x\"]\n[energy]\nkinetic = \"m*x'^2/2\"\n[parameters]\nm = 1\n"
            "[input]\nu = { file = \"data/u.csv\", interpolate = \"linear\" }\n[force.push]\ngeneralized = { x = \"u\" }\n"
            "[start.position]\nx = 0\n[run]\nuntil = 1.0\n"
        )
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as elsewhere:
            data = pathlib.Path(folder) / "data"
            data.mkdir()
            (data / "u.csv").write_text("t,u\n0,2\n1,2\n2,2\n")
            (pathlib.Path(folder) / "m.toml").write_text(text)
            os.chdir(folder)
            try:
                models = [carom.load("m.toml"), carom.Model.from_text(text), carom.load(os.path.join(folder, "m.toml"))]
                os.chdir(elsewhere)
                (data / "u.csv").unlink()
                for model in models:
                    again = pickle.loads(pickle.dumps(model))
                    self.assertEqual(again, model)
                    self.assertAlmostEqual(again.run()["x"][-1], 1, delta=1e-14)
                    self.assertAlmostEqual(model.sensitivity("m").matrix[0, 0], -1, delta=1e-12)
                    self.assertAlmostEqual(model.value_and_gradient("x", "m")[1][0], -1, delta=1e-12)
                    # A fit begins with m = 1; x(1) = 1/2 where m = 2.
                    found = model.fit({"time": [0.5, 1.0], "x": [0.125, 0.5]}, "m")
                    self.assertAlmostEqual(found.parameters["m"], 2, delta=1e-9)
                    self.assertIn("mass_matrix", pickle.loads(pickle.dumps(model.derive())).data)
                with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
                    table = models[0].sweep(m=[1.0, 2.0, 4.0], chunk=1, on=pool, progress=False)
                np.testing.assert_allclose(table["x"], [1, 0.5, 0.25], rtol=1e-13)
            finally:
                os.chdir(here)

    def test_what_is_too_large_is_refused_before_it_is_copied(self):
        ball, huge = carom.Model(**BALL), np.broadcast_to(1.0, (10**12,))
        for ask in (
            lambda: ball.run(at=huge),
            lambda: ball.run(at=range(10**15)),
            lambda: ball.run(at=range(10**30)),
            lambda: ball.run(start={"y": huge}),
            lambda: ball.run()(huge),
            lambda: ball.sweep(y=huge),
            lambda: ball.sweep(y=np.ones(10**4), g=np.ones(10**4), m=np.ones(10**4)),
            lambda: ball.sweep({"y'": np.ones(10**5)}, y=np.ones(10**5), g=np.ones(10**5), to="nowhere", chunk=1),
            lambda: ball.fit({"time": huge, "y": huge}, "g"),
            lambda: ball.scan({"g": huge}, section="floor"),
            lambda: carom.Model(**{**BALL, "gravity": huge}),
            lambda: carom.Model(**{**BALL, "inputs": {"u": (huge, huge)}}),
        ):
            with self.assertRaises(carom.ModelError):
                ask()
        with self.assertRaises(MemoryError):
            ball.run(samples=10**12)
        shutil.rmtree("nowhere", ignore_errors=True)

    def test_every_public_object_pickles_and_copies(self):
        ball = carom.Model(**BALL)
        motion, derivation = ball.run(), ball.derive()
        with tempfile.TemporaryDirectory() as folder:
            things = {
                "Model": ball,
                "Motion": motion,
                "Derivation": derivation,
                "Table": motion.impacts,
                "Stop": motion.stop,
                "Audit": motion.audit,
                "State": motion(0.5),
                "Sensitivity": ball.sensitivity("g", until=0.25),
                "Exponents": carom.gallery("quartic").lyapunov(until=20),
                "Orbit": carom.gallery("rimless_wheel").orbit(section="forward", parameters={"alpha": math.pi / 8}, start={"theta'": 2}),
                "Branch": carom.gallery("rimless_wheel").follow({"alpha": (0.39, 0.4)}, section="forward", start={"theta'": 2}),
                "Scan": ball.scan({"g": [9.8]}, section="floor", skip=0, keep=1),
                "Fit": ball.fit({"impact.floor": motion.impacts["time"]}, "g"),
                "Dataset": ball.sweep(y=[1.0, 2.0], to=folder, progress=False),
                "ModelError": carom.ModelError("wrong"),
                "SweepError": carom.SweepError([], 3),
                "Interrupted": carom.Interrupted("so", motion=motion, table=motion.impacts),
            }
            self.assertEqual(set(things), {name for name in carom.__all__ if isinstance(getattr(carom, name), type)})
            for name, thing in things.items():
                self.assertEqual(type(thing).__name__, name)
                for made in (pickle.loads(pickle.dumps(thing)), copy.copy(thing), copy.deepcopy(thing)):
                    self.assertIs(type(made), type(thing), name)
                    if name not in ("Motion", "Interrupted", "Audit"):
                        self.assertEqual(repr(made), repr(thing), name)
            again = pickle.loads(pickle.dumps(things["Interrupted"]))
            self.assertEqual((again.motion.impacts, again.table), (motion.impacts, motion.impacts))
            self.assertEqual(pickle.loads(pickle.dumps(derivation)).data, derivation.data)

    def test_a_formula_may_have_several_lines_and_its_mistakes_have_their_place(self):
        lines = """m/2*
                   \ty'^2"""
        for kinetic in (lines, lines.replace("\n", "\r\n")):
            self.assertEqual(carom.Model(**{**BALL, "kinetic": kinetic}).run().impacts, carom.Model(**BALL).run().impacts)
        with self.assertRaises(carom.ModelError) as caught:
            carom.Model(**{**BALL, "kinetic": lines + "\n + q"})
        (wrong,) = caught.exception.diagnostics
        self.assertEqual((wrong["message"], wrong["source_line"]), ("unknown name `q`", ' + q"""'))
        # Whatever the texts are, they are only texts.
        for text in ('""" + 1', "a\n[run]\nuntil = 3", "\x00\n", "\\\n", "\\t\n\x7f"):
            with self.assertRaises(carom.ModelError):
                carom.Model(**{**BALL, "kinetic": text})
            self.assertEqual(carom.Model(**{**BALL, "name": text if "\x00" not in text and "\x7f" not in text else None}).coordinates, ["y"])

    def test_what_is_no_number_and_no_name_is_said_kindly(self):
        ball = carom.Model(**BALL)
        motion = ball.run()
        for ask, error, words in (
            (lambda: ball.run(at=np.ma.masked_array([0.0, 1.0], [False, True])), carom.ModelError, "masked"),
            (lambda: ball.run(parameters={"g": np.True_}), carom.ModelError, "must be a number"),
            (lambda: motion["z"], KeyError, "there are time, y, y'"),
            (lambda: motion[0], TypeError, "motion['y']"),
            (lambda: motion.impacts[0], TypeError, ".rows()"),
            (lambda: motion.save("no/such/folder.csv"), FileNotFoundError, "no/such/folder.csv'"),
            (lambda: ball.sweep(y=[1.0], to=""), carom.ModelError, "folder"),
        ):
            with self.assertRaises(error) as caught:
                ask()
            self.assertIn(words, str(caught.exception))
        self.assertTrue("y'" in motion and "z" not in motion and 3 not in motion)

    def test_inputs_are_formulas_or_arrays(self):
        t = np.linspace(0, 2, 50)
        model = carom.Model(
            coordinates=["x"], kinetic="x'^2/2", inputs={"u": (t, 6 * t)}, forces={"push": {"x": "u"}}, until=2
        )
        # x'' = 6 t, x = t³; a linear table is interpolated exactly up to rounding.
        motion = model.run()
        self.assertLess(abs(motion["x"][-1] - 8.0), 1e-12)
        self.assertEqual(pickle.loads(pickle.dumps(model)), model)


class Motions(Case):
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
        kept, table = motion["y"], motion.impacts
        expected = kept.copy()
        del motion
        np.testing.assert_array_equal(kept, expected)
        # A table gives its columns as views too: the same memory whenever it is asked.
        times = table["time"]
        self.assertEqual(times.ctypes.data, table["time"].ctypes.data)
        self.assertFalse(times.flags.writeable or times.flags.owndata)
        expected = times.copy()
        del table
        np.testing.assert_array_equal(times, expected)

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
        # It is the same motion after a journey, and when more is asked of it.
        again = pickle.loads(pickle.dumps(motion))
        self.assertEqual(again.stop, motion.stop)
        self.assertEqual(again.to_table(), motion.to_table())
        self.assertEqual(again.impacts, motion.impacts)
        last = motion(motion.stop.time)
        self.assertEqual(last["theta1"], again(motion.stop.time)["theta1"])
        self.assertIn("<svg", motion._repr_html_())

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
        # Also of a motion with more jumps than a small picture has room for.
        for until in (2000, 30_000):
            shown = carom.gallery("double_pendulum_wall").run(until, samples=1000, max_impacts=10**6, max_steps=10**7)._repr_html_()
            self.assertIn("<svg", shown)
            self.assertLess(len(shown.encode()), 60_000)

    def test_files_are_what_their_endings_say(self):
        motion = carom.gallery("bouncing_mass").run()
        with tempfile.TemporaryDirectory() as folder:
            for ending, begin in (("html", b"<!"), ("svg", b"<"), ("png", b"\x89PNG"), ("json", b"{"), ("csv", b"time"), ("parquet", b"PAR1"), ("npz", b"PK")):
                path = motion.save(pathlib.Path(folder) / f"m.{ending}")
                self.assertTrue(path.read_bytes().startswith(begin), ending)
            with self.assertRaises(carom.ModelError):
                motion.save(pathlib.Path(folder) / "m.xyz")
            # Whole or not at all, with the rights that other files get.
            there = sorted(os.listdir(folder))
            plain = pathlib.Path(folder) / "plain"
            plain.write_bytes(b"")
            self.assertEqual({(pathlib.Path(folder) / name).stat().st_mode for name in there}, {plain.stat().st_mode})
            before = (pathlib.Path(folder) / "m.json").read_bytes()
            with mock.patch("os.fsync", side_effect=OSError(28, "no space left")), self.assertRaises(OSError):
                motion.save(pathlib.Path(folder) / "m.json")
            self.assertEqual((pathlib.Path(folder) / "m.json").read_bytes(), before)
            plain.unlink()
            self.assertEqual(sorted(os.listdir(folder)), there)
            self.assertEqual(json.loads(motion.to_json())["stop"]["reason"], motion.stop.reason)

    @needs("matplotlib")
    def test_a_plot_has_a_curve_for_each_name(self):
        import matplotlib

        matplotlib.use("Agg")
        motion = carom.gallery("bouncing_mass").run(until=0.1)
        axes = motion.plot("x,y")
        self.assertEqual([line.get_label() for line in axes.lines], ["x", "y"])
        self.assertEqual([line.get_label() for line in motion.plot("y' over y").lines], ["y'"])
        with self.assertRaises(carom.ModelError):
            motion.plot(",")

    def test_impacts_have_rates_and_the_impulses_of_drives(self):
        impacts = carom.Model(**{**BALL, "walls": {"floor": {"gap": "y", "restitution": 0.5}}}).run(until=0.6).impacts
        speed = math.sqrt(2 * 9.8)
        self.assertAlmostEqual(impacts["gap_rate_before.floor"][0], -speed, delta=1e-13)
        self.assertAlmostEqual(impacts["gap_rate_after.floor"][0], speed / 2, delta=1e-13)
        # A ball on a hand that moves as it is told: what the floor of the hand gives, the drive must give back.
        hand = carom.Model(
            coordinates=["y", "h"], parameters={"m": 2.0, "M": 3.0}, kinetic="m/2*y'^2 + M/2*h'^2", potential="9.8*m*y", driven={"h": "0*t"},
            walls={"hand": "y - h"}, start={"y": 1.0}, until=0.6,
        )  # fmt: skip
        impacts = hand.run().impacts
        self.assertAlmostEqual(impacts["driving_impulse.h"][0], impacts["impulse.hand"][0], delta=1e-12)
        self.assertIsNone(hand.run().stop.detail)


def theta2(name):
    return carom.gallery(name).run(until=2)["theta2"].tobytes()


class Notebooks(Case):
    def test_a_mistake_shows_the_line_that_made_it_and_what_is_wrong(self):
        def careless():
            carom.Model(coordinates=["x"], kinetic="x'^2/2", potential="k*x^2")

        try:
            careless()
        except carom.ModelError as error:
            shown = "\n".join(error._render_traceback_())
        self.assertIn('potential="k*x^2"', shown)
        self.assertIn("in careless", shown)
        self.assertIn("unknown name `k`", shown)
        self.assertNotIn("_model.py", shown)


class Live(Case):
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
        self.assertEqual(answers.values, {"g": 9.81, "theta1'": 0.0})
        self.assertEqual(answers.motion.impacts, model.run(3).impacts)
        self.assertTrue(answers.set({"nonsense": 1.0})["error"])
        # Whatever goes wrong, there is an answer.
        with mock.patch.object(carom.Model, "run", side_effect=MemoryError("no room")):
            self.assertIn("no room", answers.set({"g": 1.0})["error"])

    @needs("anywidget")
    def test_every_question_of_the_page_is_answered_by_its_number(self):
        from carom import _live

        with tempfile.NamedTemporaryFile(suffix=".js") as script, mock.patch.object(_live, "WIDGET", pathlib.Path(script.name)):
            widget = carom.gallery("bouncing_mass").live("g", until=0.1)
            for number, values in enumerate(({"g": 9.0}, {"g": 9.0}, {"g": "nonsense"}, None), 1):
                widget._asked(widget, {"type": "set", "values": values, "number": number}, [])
                self.assertEqual(widget.answered, number)


class Tables(Case):
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
            # No copy: the buffers are the memory of the arrays, and stay when their owner is gone.
            for name in frame.columns:
                if not isinstance(table[name], list):
                    self.assertEqual(arrow[name].chunk(0).buffers()[1].address, table[name].ctypes.data, name)
        arrow, expected = pyarrow.table(carom.gallery("bouncing_mass").run()), motion["y"].tolist()
        self.assertEqual(arrow["y"].to_pylist(), expected)
        self.assertEqual(motion.to_arrow().schema, motion.to_table().to_arrow().schema)
        np.testing.assert_array_equal(motion.to_pandas()["y"].to_numpy(), motion["y"])
        self.assertEqual(motion.to_pandas().index.name, "time")
        self.assertEqual(motion.impacts.to_pandas()["walls"][0], "floor")


class Readme(Case):
    def test_a_dozen_lines_animate_a_double_pendulum_against_a_wall(self):
        readme = pathlib.Path(__file__).resolve().parent.parent / "README.md"
        code = readme.read_text().split("```python\n")[1].split("```")[0].strip().splitlines()
        self.assertLessEqual(len(code), 12)
        space = {}
        exec("\n".join(code[:-1]), space)  # noqa: S102
        shown = eval(code[-1], space)  # noqa: S307
        self.assertIn("<iframe", shown._repr_html_())
        self.assertGreater(len(space["motion"].impacts), 3)

    def test_the_lines_of_the_front_page_work(self):
        root = pathlib.Path(__file__).resolve().parents[2]
        page = (root / "README.md").read_text()
        model = page.split("```toml file=pendulum.toml\n")[1].split("```")[0]
        code = page.split("```python\n")[1].split("```")[0].strip().splitlines()
        here = os.getcwd()
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "pendulum.toml").write_text(model)
            os.chdir(folder)
            try:
                space = {}
                exec("\n".join(code[:-1]), space)  # noqa: S102
                self.assertIn("<iframe", eval(code[-1], space)._repr_html_())  # noqa: S307
            finally:
                os.chdir(here)
        self.assertEqual((space["motion"].stop.time, len(space["table"])), (10, 4))


class Command(Case):
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
