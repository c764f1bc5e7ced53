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


class Single:
    """One compiled integrator: machine code unrolled, high accuracy off."""

    def __init__(self, tolerance, wall):
        system, gap = equations()
        self.calls, self.wall = Calls(), wall

        def strike(ta, _direction):
            begin = time.perf_counter()
            impact(ta.state)
            self.calls.count += 1
            self.calls.seconds += time.perf_counter() - begin
            return True

        events = [hy.t_event(gap, callback=strike, direction=hy.event_direction.negative)] if wall else []
        begin = time.perf_counter()
        self.ta = hy.taylor_adaptive(
            system, START, tol=tolerance, t_events=events, compact_mode=False, high_accuracy=False
        )
        self.compile_seconds = time.perf_counter() - begin

    def run(self, start, until, repeats):
        """(shortest seconds with callbacks taken out, final state, impacts)"""
        best = math.inf
        for _ in range(repeats):
            self.ta.time = 0.0
            self.ta.state[:] = [start[0], start[1], 0.0, 0.0]
            if self.wall:
                self.ta.reset_cooldowns()
            self.calls.count, self.calls.seconds = 0, 0.0
            begin = time.perf_counter()
            self.ta.propagate_until(until)
            best = min(best, time.perf_counter() - begin - self.calls.seconds)
        return best, [float(x) for x in self.ta.state], self.calls.count


class Batch:
    """The same with several trajectories in the lanes of a vector."""

    def __init__(self, tolerance, lanes):
        system, gap = equations()
        self.calls, self.lanes = Calls(), lanes

        def strike(ta, _direction, lane):
            # By the clock of the integration: another one would count what the machine does meanwhile.
            begin = time.process_time()
            column = ta.state[:, lane].copy()
            impact(column)
            ta.state[:, lane] = column
            self.calls.count += 1
            self.calls.seconds += time.process_time() - begin
            return True

        state = np.array([[x] * lanes for x in START])
        events = [hy.t_event_batch(gap, callback=strike, direction=hy.event_direction.negative)]
        self.ta = hy.taylor_adaptive_batch(
            system, state, tol=tolerance, t_events=events, compact_mode=False, high_accuracy=False
        )

    def run(self, starts, until):
        """(CPU seconds with callbacks taken out, final states) for rows (theta1, theta2, rate1, rate2)"""
        ends, used, lanes = np.empty_like(starts), 0.0, self.lanes
        for first in range(0, len(starts), lanes):
            rows = starts[first : first + lanes]
            padded = np.vstack([rows, np.repeat(rows[-1:], lanes - len(rows), axis=0)])
            self.ta.set_time(0.0)
            self.ta.state[:] = padded.T
            self.ta.reset_cooldowns()
            before = self.calls.seconds
            begin = time.process_time()
            self.ta.propagate_until(until)
            used += time.process_time() - begin - (self.calls.seconds - before)
            ends[first : first + lanes] = self.ta.state.T[: len(rows)]
        return used, ends
