"""heyoka on the double pendulum (m = l = 1, g = 9.81), free and against the wall x2 >= -1/2.

The equations are the textbook accelerations, written by hand; the impact law is v+ = v- - 2 u W^-1 n / (n W^-1 n)
with u = n.v the gap rate. Nothing here uses carom, so agreement of the two is evidence for both.
"""

import math
import time

import heyoka as hy
import numpy as np

G = 9.81
START = [3 * math.pi / 7, 3 * math.pi / 4, 0.0, 0.0]


def equations():
    a, b, u, w = hy.make_vars("theta1", "theta2", "rate1", "rate2")
    c, s = hy.cos(a - b), hy.sin(a - b)
    # W = [[2, c], [c, 1]],  W (u', w') = (-s w^2 - 2 g sin a, s u^2 - g sin b)
    f1 = -s * w * w - 2.0 * G * hy.sin(a)
    f2 = s * u * u - G * hy.sin(b)
    det = 1.0 + s * s
    return [(a, u), (b, w), (u, (f1 - c * f2) / det), (w, (2.0 * f2 - c * f1) / det)], hy.sin(a) + hy.sin(b) + 0.5


def impact(state):
    """The variational law on (theta1, theta2, rate1, rate2), in place."""
    a, b, u, w = (float(x) for x in state)
    n1, n2 = math.cos(a), math.cos(b)
    c = math.cos(a - b)
    det = 2.0 - c * c
    m1, m2 = (n1 - c * n2) / det, (2.0 * n2 - c * n1) / det
    k = 2.0 * (n1 * u + n2 * w) / (n1 * m1 + n2 * m2)
    state[2] = u - k * m1
    state[3] = w - k * m2


class Calls:
    """Counts the callbacks and the time spent in them: the law in Python is not heyoka's integration time."""

    def __init__(self):
        self.count = 0
        self.seconds = 0.0


def single(tolerance, wall):
    """(integrator, calls); compile time is the caller's to measure."""
    system, gap = equations()
    calls = Calls()

    def strike(ta, _direction):
        begin = time.perf_counter()
        impact(ta.state)
        calls.count += 1
        calls.seconds += time.perf_counter() - begin
        return True

    events = [hy.t_event(gap, callback=strike, direction=hy.event_direction.negative)] if wall else []
    return hy.taylor_adaptive(system, START, tol=tolerance, t_events=events, compact_mode=False), calls


def batch(tolerance, lanes):
    """(batch integrator, calls) with the wall."""
    system, gap = equations()
    calls = Calls()

    def strike(ta, _direction, lane):
        begin = time.perf_counter()
        column = ta.state[:, lane].copy()
        impact(column)
        ta.state[:, lane] = column
        calls.count += 1
        calls.seconds += time.perf_counter() - begin
        return True

    state = np.array([[x] * lanes for x in START])
    events = [hy.t_event_batch(gap, callback=strike, direction=hy.event_direction.negative)]
    return hy.taylor_adaptive_batch(system, state, tol=tolerance, t_events=events), calls


def time_single(tolerance, wall, until, repeats):
    """Shortest integration seconds (callbacks taken out), compile seconds, final state, impacts."""
    begin = time.perf_counter()
    ta, calls = single(tolerance, wall)
    compiled = time.perf_counter() - begin
    best = math.inf
    for _ in range(repeats):
        ta.time = 0.0
        ta.state[:] = START
        if wall:
            ta.reset_cooldowns()
        calls.count, calls.seconds = 0, 0.0
        begin = time.perf_counter()
        ta.propagate_until(until)
        best = min(best, time.perf_counter() - begin - calls.seconds)
    return best, compiled, [float(x) for x in ta.state], calls.count


def time_batch(tolerance, lanes, starts, until):
    """CPU seconds (callbacks taken out), final states, impacts for rows (theta1, theta2, rate1, rate2)."""
    ta, calls = batch(tolerance, lanes)
    ends = np.empty_like(starts)
    used = 0.0
    for first in range(0, len(starts), lanes):
        rows = starts[first : first + lanes]
        padded = np.vstack([rows, np.repeat(rows[-1:], lanes - len(rows), axis=0)])
        ta.set_time(0.0)
        ta.state[:] = padded.T
        ta.reset_cooldowns()
        before = calls.seconds
        begin = time.process_time()
        ta.propagate_until(until)
        used += time.process_time() - begin - (calls.seconds - before)
        ends[first : first + lanes] = ta.state.T[: len(rows)]
    return used, ends, calls.count


if __name__ == "__main__":
    for tol in (0.0, 1e-14, 1e-10):
        print(tol, time_single(tol, True, 10.0, 50))
