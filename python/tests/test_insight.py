"""Questions about motions, beside closed forms. Needs only NumPy."""

import json
import math
import os
import pathlib
import pickle
import signal
import tempfile
import threading
import time
import unittest
from concurrent.futures import ThreadPoolExecutor
from unittest import mock

import numpy as np
from support import BALL, Case, command, needs

import carom


G, OMEGA, E = 9.81, 20.0, 0.8


def table_window():
    """Amplitudes between which a ball hits a table once per period, and does so stably: Γ = Aω²/g from π(1 - e)/(1 + e) to the doubling."""
    least = math.pi * (1 - E) / (1 + E)
    return least * G / OMEGA**2, math.hypot(least, 2 * (1 + E * E) / (1 + E) ** 2) * G / OMEGA**2


def ball_on_table(amplitude):
    """The table, and a start on that orbit: 0.31 periods after the hit at cos ωt = π(1 - e)/((1 + e)Γ)."""
    cosine = table_window()[0] / amplitude
    flown = 0.31 * 2 * math.pi / OMEGA
    speed = G * math.pi / OMEGA
    start = {"y": amplitude * math.sqrt(1 - cosine**2) + speed * flown - G * flown**2 / 2, "y'": speed - G * flown}
    begin = math.acos(cosine) / OMEGA + flown
    text = carom.gallery("vibrating_table").text.replace("until = 10.0", f"from = {begin!r}\nuntil = 10.0")
    return carom.Model.from_text(text), start


class Insight(Case):
    def test_the_derivatives_of_free_fall_are_those_of_the_closed_form(self):
        found = carom.Model(**BALL).sensitivity("start", "g", until=0.25)
        self.assertEqual((found.of, found.with_respect_to), (["y", "y'"], ["y", "y'", "g"]))
        # y = 1 - g t²/2, and its derivatives.
        np.testing.assert_allclose(found.matrix, [[1, 0.25, -0.03125], [0, 1, -0.25]], atol=1e-13)
        self.assertEqual(found.impact_times.shape, (0, 3))
        later = carom.Model(**BALL).sensitivity("g", until=0.6)
        # The first impact is at √(2/g): its derivative is -½ √2 g^(-3/2).
        np.testing.assert_allclose(later.impact_times, [[-0.5 * math.sqrt(2) * 9.8**-1.5]], rtol=1e-13)

    def test_a_gradient_is_a_number_and_an_array(self):
        model = carom.Model(**BALL)
        # y = y0 + v0 t - g t²/2 before the impact.
        value, slopes = model.value_and_gradient("y", "y", "y'", "g", "m", until=0.25)
        self.assertAlmostEqual(value, 1 - 9.8 / 32, 14)
        np.testing.assert_allclose(slopes, [1, 0.25, -1 / 32, 0], atol=1e-14)
        _, slopes = model.value_and_gradient({"y": [1.0, 2.0]}, "g", at=[0.1, 0.25])
        self.assertAlmostEqual(slopes[0], -0.005 - 2 / 32, 14)
        _, slopes = model.value_and_gradient("sum(y)", "g", at=[0.1, 0.25])
        self.assertAlmostEqual(slopes[0], -0.005 - 1 / 32, 14)
        value, slopes = model.value_and_gradient("impact.floor.1", "y")
        self.assertAlmostEqual(slopes[0], value / 2, 14)
        for wrong in ["impact.floor.9", "yy", "y''", {"y": [1.0]}, {}]:
            with self.assertRaises(carom.ModelError):
                model.value_and_gradient(wrong)

    def test_without_names_a_gradient_is_by_everything_as_for_the_command(self):
        model = carom.Model(**BALL)
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "m.toml"
            file.write_text(model.text)
            said = json.loads(command("run", str(file), "--gradient=y", "--until=0.6", "--json", "-q").stdout)["gradient"]
        value, slopes = model.value_and_gradient("y", until=0.6)
        self.assertEqual((value, slopes.tolist()), (said["value"], said["gradient"]))
        self.assertEqual(said["with_respect_to"], ["y", "y'", "m", "g", "restitution.floor"])

    def test_an_optimiser_starts_no_process_and_compiles_nothing_again(self):
        model = carom.gallery("double_pendulum_wall")
        ask = lambda g: model.value_and_gradient("(theta1 - 0.7)^2", "g", until=0.2, parameters={"g": g})
        with mock.patch("subprocess.Popen", side_effect=AssertionError("a process")):
            first = ask(9.0)
            # What a motion that short costs, beside what derivation and compilation cost.
            begin = time.process_time()
            for k in range(20):
                ask(9.0 + 0.01 * k)
            again = (time.process_time() - begin) / 20
            self.assertEqual(ask(9.0)[0], first[0])
            fresh = []
            for _ in range(3):
                begin = time.process_time()
                carom.Model.from_text(model.text).value_and_gradient("(theta1 - 0.7)^2", "g", until=0.2, parameters={"g": 9.0})
                fresh.append(time.process_time() - begin)
        self.assertLess(again, min(fresh) / 2)

    def test_an_interrupt_ends_a_question_and_leaves_pythons_own_handler(self):
        before = signal.getsignal(signal.SIGINT)
        for ask in (
            lambda: carom.gallery("double_pendulum").lyapunov(until=1e7, option={"max_steps": 10**9}),
            lambda: carom.gallery("double_pendulum_wall").scan({"g": np.linspace(1, 10, 4000)}, section="left", until=1e4, option={"max_steps": 10**9}),
            lambda: carom.gallery("double_pendulum_wall").value_and_gradient("theta1", "g", until=1e6, max_steps=10**9, max_impacts=10**9),
        ):
            timer = threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
            timer.start()
            with self.assertRaises(carom.Interrupted):
                ask()
            timer.join()
        self.assertIs(signal.getsignal(signal.SIGINT), before)

    def test_two_threads_get_the_answers_of_one(self):
        wheel = lambda: carom.gallery("rimless_wheel").orbit(section="forward", parameters={"alpha": math.pi / 8}, start={"theta'": 2}).state
        ball = lambda: carom.Model(**BALL).fit({"impact.floor": [0.45]}, "g").parameters
        expected = (wheel(), ball())
        with ThreadPoolExecutor(4) as pool:
            found = [pool.submit(ask) for ask in (wheel, ball) * 4]
            self.assertEqual([f.result() for f in found], list(expected) * 4)

    def test_a_mistake_of_the_model_has_its_place(self):
        with self.assertRaises(carom.ModelError) as caught:
            carom.Model(**BALL).orbit(section="floor", parameters={"gg": 1})
        self.assertIn("did you mean", caught.exception.diagnostics[0]["hint"])
        self.assertEqual(set(caught.exception.diagnostics[0]), {"message", "line", "column", "hint", "severity", "source_line"})
        self.assertIsNotNone(caught.exception.diagnostics[0]["column"])

    @needs("scipy")
    def test_scipy_minimises_with_the_gradient(self):
        from scipy.optimize import minimize

        model = carom.Model(**BALL)
        miss = lambda x: model.value_and_gradient("(y - 0.7)^2", "g", until=0.25, parameters={"g": x[0]})
        # y = 1 - g/32
        self.assertAlmostEqual(minimize(miss, [5.0], jac=True, tol=1e-12).x[0], 0.3 * 32, 4)

    @needs("jax")
    def test_jax_differentiates_through_a_motion(self):
        import jax

        jax.config.update("jax_enable_x64", True)
        model, times = carom.Model(**BALL), np.array([0.1, 0.25])

        @jax.custom_vjp
        def heights(g):
            return jax.numpy.asarray(np.array(model.run(parameters={"g": float(g)}, at=times)["y"]))

        def backward(g, weights):
            _, slopes = model.value_and_gradient({"y": np.asarray(weights)}, "g", at=times, parameters={"g": float(g)})
            return (jax.numpy.asarray(slopes[0]),)

        heights.defvjp(lambda g: (heights(g), g), backward)
        slope = jax.grad(lambda g: (heights(g) ** 2).sum())(9.8)
        expected = sum(2 * (1 - 9.8 * t * t / 2) * (-t * t / 2) for t in times)
        self.assertAlmostEqual(float(slope), expected, 12)

    def test_a_harmonic_oscillator_has_no_exponent(self):
        model = carom.Model(coordinates=["x"], kinetic="x'^2/2", potential="2*x^2", start={"x": 1}, until=50)
        found = model.lyapunov(until=200)
        self.assertLess(float(np.max(np.abs(found.exponents))), 0.1)

    def test_a_rimless_wheel_forgets_by_the_square_of_the_cosine_of_the_spokes_angle(self):
        found = carom.gallery("rimless_wheel").orbit(section="forward", parameters={"alpha": math.pi / 8}, start={"theta'": 2})
        self.assertEqual(found.multipliers.dtype, np.complex128)
        np.testing.assert_allclose(found.multipliers, [math.cos(math.pi / 4) ** 2], atol=1e-11)
        self.assertTrue(found.stable)

    def test_a_ball_on_a_table_doubles_its_period_where_the_closed_form_says(self):
        least, doubling = table_window()
        amplitude = 0.9 * doubling
        model, start = ball_on_table(amplitude)
        branch = model.follow({"A": (0.8 * doubling, 1.1 * doubling)}, period="2*pi/omega", parameters={"A": amplitude}, start=start)
        found = [s for s in branch.special if s.kind == "period_doubling"]
        self.assertEqual(len(found), 1, branch.special)
        self.assertAlmostEqual(found[0].A, doubling, delta=1e-9)
        self.assertEqual(branch.multipliers.shape, (len(branch.value), 2))
        np.testing.assert_allclose(np.prod(branch.multipliers, axis=1), E * E, atol=1e-9)
        np.testing.assert_array_equal(branch.stable, branch.value < found[0].A)
        again = pickle.loads(pickle.dumps(branch))
        np.testing.assert_array_equal(again.multipliers, branch.multipliers)
        self.assertEqual(again.special[0].kind, branch.special[0].kind)

    def test_a_scan_of_the_table_has_one_velocity_where_a_ball_hits_once_per_period(self):
        least, doubling = table_window()
        amplitude = (least + doubling) / 2
        model, start = ball_on_table(amplitude)
        # A little off the orbit, which attracts.
        found = model.scan({"y'": [1.0001 * start["y'"]]}, section="table", skip=300, keep=5, parameters={"A": amplitude}, start=start, until=400)
        self.assertEqual((found.motions, found.crossings, len(found.table)), (1, 5, 5))
        self.assertEqual(found.table.columns[0], "start.y'")
        np.testing.assert_allclose(found.table["y'"], G * math.pi / OMEGA, rtol=1e-9)
        self.assertEqual(pickle.loads(pickle.dumps(found)).table, found.table)

    def test_a_fit_finds_what_made_the_data(self):
        model = carom.Model(**{**BALL, "parameters": {"m": 2.0, "g": 9.0, "h": 1.1}, "start": {"y": "h"}})
        truth = model.run(at=np.linspace(0, 1.9, 40), parameters={"g": 9.8, "h": 1.0})
        found = model.fit({"time": truth.time, "y": truth["y"]}, ["g", "h"])
        self.assertAlmostEqual(found.parameters["g"], 9.8, delta=1e-9)
        self.assertAlmostEqual(found.parameters["h"], 1.0, delta=1e-9)
        times = model.fit({"impact.floor": truth.impacts["time"]}, "g", parameters={"h": 1.0})
        self.assertAlmostEqual(times.parameters["g"], 9.8, delta=1e-9)

    def test_what_the_command_refuses_is_an_exception_with_its_way_out(self):
        ball = carom.Model(**BALL)
        for ask in (
            lambda: ball.sensitivity("nonsense"),
            lambda: ball.orbit(section="ceiling"),
            lambda: ball.orbit(),
            lambda: ball.follow({"nonsense": (0, 1)}, section="floor"),
            lambda: ball.follow({"g": (1, 2, 3)}, section="floor"),
            lambda: ball.scan({"y": [1.0]}),
            lambda: ball.fit({"impact.floor": [0.4]}, "nonsense"),
            lambda: ball.fit({"nonsense": [0.4]}, "g"),
            lambda: ball.lyapunov(nonsense=1),
            lambda: ball.lyapunov(until="\x00"),
        ):
            with self.assertRaises(carom.ModelError) as caught:
                ask()
            self.assertTrue(str(caught.exception).strip())
            self.assertNotIn("/tmp", str(caught.exception))
        with self.assertRaises(carom.ModelError) as caught:
            ball.orbit(section="ceiling")
        self.assertTrue(caught.exception.diagnostics[0]["hint"], caught.exception.diagnostics)
        with self.assertRaises(OSError):
            ball.fit("no_such_file.csv", "g")


if __name__ == "__main__":
    unittest.main()
