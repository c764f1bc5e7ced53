"""diffsol (pydiffsol) on the double pendulum, free and against a wall: equations and impact law in its own language."""

import math
import time

import numpy as np

try:
    import pydiffsol
except ImportError as problem:
    pydiffsol, why = None, str(problem)

FREE = """
in_i { a0 = 1.0, b0 = 2.0 }
u_i { a = a0, b = b0, va = 0.0, vb = 0.0 }
c { cos(a - b) }
s { sin(a - b) }
f1 { -s*vb*vb - 2.0*9.81*sin(a) }
f2 { s*va*va - 9.81*sin(b) }
d { 1.0 + s*s }
F_i { va, vb, (f1 - c*f2)/d, (2.0*f2 - c*f1)/d }
"""

WALL = """
stop_i { sin(a) + sin(b) + 0.5 }
n1 { cos(a) }
n2 { cos(b) }
m1 { (n1 - c*n2)/d }
m2 { (2.0*n2 - c*n1)/d }
k { 2.0*(n1*va + n2*vb)/(n1*m1 + n2*m2) }
reset_i { a, b, va - k*m1, vb - k*m2 }
"""


def unavailable():
    """Why it cannot be used here, or nothing."""
    return None if pydiffsol else why


class Solver:
    """One compiled solver; Tsitouras 5(4) is its fastest method on smooth motions."""

    def __init__(self, wall):
        self.ode = pydiffsol.Ode(FREE + WALL if wall else FREE, ode_solver=pydiffsol.tsit45)

    def run(self, tolerance, start, until, repeats):
        """(shortest seconds, final state)"""
        self.ode.rtol = self.ode.atol = tolerance
        best = math.inf
        for _ in range(repeats):
            begin = time.perf_counter()
            end = self.ode.solve_dense(np.array(start), np.array([until]))
            best = min(best, time.perf_counter() - begin)
        return best, [float(x) for x in end.ys[:, -1]]
