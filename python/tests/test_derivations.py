"""Derivations, and SymPy in and out. What needs SymPy says so when it is left out."""

import unittest

import numpy as np
from support import BALL, Case, needs

import carom


class Derivations(Case):
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
    def test_what_came_out_as_sympy_goes_back_in(self):
        import sympy as sp
        from sympy.physics.mechanics import dynamicsymbols

        model = carom.gallery("double_pendulum_wall")
        given = dict(coordinates=model.coordinates, parameters=model.parameters, start={"theta1": 1.0, "theta2": 2.0}, until=1)
        expected = carom.Model(lagrangian=model.derive()["lagrangian"], **given).run()["theta1"][-1]
        for dynamic in (False, True):
            lagrangian = model.derive().sympy("lagrangian", dynamic=dynamic)
            self.assertEqual(lagrangian.has(sp.Derivative), dynamic)
            self.assertAlmostEqual(carom.Model(lagrangian=lagrangian, **given).run()["theta1"][-1], expected, delta=1e-12)
        # Euler and Lagrange by SymPy, in functions of time.
        theta = dynamicsymbols("theta1")
        self.assertIn(theta.diff(dynamicsymbols._t), model.derive().sympy("lagrangian", dynamic=True).atoms(sp.Derivative))
        ball = carom.Model(**BALL)
        g, y = sp.Symbol("g"), dynamicsymbols("y")
        value, slopes = ball.value_and_gradient(y**2, g, until=0.25, parameters={g: 8})
        self.assertAlmostEqual(value, 0.75**2, delta=1e-14)
        self.assertAlmostEqual(slopes[0], -2 * 0.75 / 32, delta=1e-14)
        self.assertEqual(ball.sensitivity(g, until=0.25, start={y: 2}).with_respect_to, ["g"])

    @needs("sympy")
    def test_vectors_matrices_and_inequalities_of_sympy_are_taken(self):
        import sympy as sp
        from sympy.physics.mechanics import dynamicsymbols

        t = dynamicsymbols._t
        q = sp.Matrix(dynamicsymbols(r"x \theta_{1}"))
        x, theta = q
        m, l, g = sp.symbols("m l g", positive=True)
        v = q.diff(t)
        mass = sp.Matrix([[2 * m, m * l * sp.cos(theta)], [m * l * sp.cos(theta), m * l**2]])
        given = dict(until=3, parameters={"m": 1, "l": 1, "g": 9.81})
        potential = -m * g * l * sp.cos(theta)
        model = carom.Model(coordinates=q, kinetic=v.T * mass * v / 2, potential=potential, walls={"left": x >= -1, "right": x <= sp.Rational(1, 10)}, start={theta: 1}, **given)
        text = carom.Model(
            coordinates=["x", "theta_1"], kinetic="m*x'^2 + m*l*cos(theta_1)*x'*theta_1' + m*l^2/2*theta_1'^2", potential="-m*g*l*cos(theta_1)",
            walls={"left": "x + 1", "right": "1/10 - x"}, start={"theta_1": 1}, **given,
        )  # fmt: skip
        a, b = model.run(), text.run()
        self.assertGreater(len(a.impacts), 0)
        self.assertEqual(a.impacts["walls"], b.impacts["walls"])
        np.testing.assert_allclose(a[theta], b["theta_1"], rtol=0, atol=1e-11)
        self.assertEqual(a(1.0)[theta.diff(t)], a(1.0)["theta_1'"])

    @needs("sympy")
    def test_sympy_expressions_keep_their_value_as_text_and_what_cannot_be_said_is_named(self):
        import sympy as sp
        from carom._sympy import formula

        x, y = sp.symbols("x y", positive=True)
        for e in (
            -x, x - y, -(x - y) / 3, x / y / 2, (x + y) ** -2, x**y, -(x**2), (-x) ** 2, sp.sqrt(x) / y, 1 / sp.sqrt(x + 1),
            sp.exp(-x) * sp.log(y), sp.Rational(-3, 7) * x**3, 0.1 * x - 2.5e-7, sp.Max(x, y, 1), sp.Abs(x - y) * sp.sign(y),
            sp.atan2(x, y), 1 - y / sp.sec(x) + sp.cot(x) / sp.csc(y) + sp.coth(x) ** 2 * sp.sech(y) * sp.csch(x), sp.pi * x / 4, sp.E**x, 2 ** (x - y), (x / y) ** 3, x ** sp.Rational(3, 2), -sp.Rational(1, 2) * x * y / (x + y),
        ):  # fmt: skip
            text = formula(e)
            model = carom.Model(coordinates=["q"], parameters={"x": 0.7, "y": 1.9}, kinetic="q'^2/2", outputs={"f": text}, until=1)
            ours = model.run(samples=2)["f"][0]
            self.assertAlmostEqual(ours, float(e.subs({x: 0.7, y: 1.9})), delta=1e-14 * max(1, abs(ours)), msg=text)
        for e, word in ((sp.Integral(x, x), "Integral"), (sp.gamma(x), "gamma"), (sp.Piecewise((x, x > 1), (y, True)), "Piecewise"), (sp.I * x, "ImaginaryUnit")):
            with self.assertRaises(carom.ModelError) as caught:
                formula(e)
            self.assertIn(word, str(caught.exception))


if __name__ == "__main__":
    unittest.main()
