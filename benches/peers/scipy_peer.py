"""SciPy's solve_ivp on the double pendulum, free and against a wall: the usual Python route."""

import time

import numpy as np
from scipy.integrate import solve_ivp

from heyoka_peer import G, impact


def right_side(_t, x):
    a, b, u, w = x
    c, s = np.cos(a - b), np.sin(a - b)
    f1 = -s * w * w - 2.0 * G * np.sin(a)
    f2 = s * u * u - G * np.sin(b)
    det = 1.0 + s * s
    return [u, w, (f1 - c * f2) / det, (2.0 * f2 - c * f1) / det]


def gap(_t, x):
    return np.sin(x[0]) + np.sin(x[1]) + 0.5


gap.terminal = True
gap.direction = -1.0


def run(method, tolerance, wall, start, until):
    """(seconds, final state, impacts) of one run."""
    begin = time.perf_counter()
    t, state, impacts = 0.0, np.array([start[0], start[1], 0.0, 0.0]), 0
    while t < until:
        leg = solve_ivp(
            right_side, (t, until), state, method=method, rtol=tolerance, atol=tolerance, events=gap if wall else None
        )
        t, state = leg.t[-1], leg.y[:, -1].copy()
        if leg.status == 1:
            impact(state)
            impacts += 1
    return time.perf_counter() - begin, list(state), impacts
