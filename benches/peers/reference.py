"""The free double pendulum of the gallery at t = 10 to 30 digits: where the constants in `compare.py` and in the bench
table come from.

    python reference.py            (needs mpmath; about a minute)

Taylor series written out by hand for the textbook accelerations, 45-digit arithmetic, from start angles that are the
doubles nearest to 3π/7 and 3π/4 as double arithmetic computes them and g the double nearest to 9.81. Two orders and
tolerances must agree in all digits printed.
"""

import math

from mpmath import cos, mp, mpf, sin

mp.dps = 45
START = [mpf(3 * math.pi / 7), mpf(3 * math.pi / 4), mpf(0), mpf(0)]
G = mpf(9.81)


def series(state, order):
    """Coefficients of the angles a, b and rates u, w up to `order`."""
    a, b, u, w = ([x] for x in state)
    angle, s, c, sa, ca, sb, cb = [], [], [], [], [], [], []
    uu, ww, f1, f2, det, du, dw = [], [], [], [], [], [], []

    def times(p, q, k):
        return sum(p[j] * q[k - j] for j in range(k + 1))

    def sine_cosine(x, sine, cosine, k):
        if k == 0:
            sine.append(sin(x[0]))
            cosine.append(cos(x[0]))
        else:
            sine.append(sum(j * x[j] * cosine[k - j] for j in range(1, k + 1)) / k)
            cosine.append(-sum(j * x[j] * sine[k - j] for j in range(1, k + 1)) / k)

    for k in range(order):
        angle.append(a[k] - b[k])
        sine_cosine(angle, s, c, k)
        sine_cosine(a, sa, ca, k)
        sine_cosine(b, sb, cb, k)
        uu.append(times(u, u, k))
        ww.append(times(w, w, k))
        f1.append(-times(s, ww, k) - 2 * G * sa[k])
        f2.append(times(s, uu, k) - G * sb[k])
        det.append(times(s, s, k) + (1 if k == 0 else 0))
        right1, right2 = f1[k] - times(c, f2, k), 2 * f2[k] - times(c, f1, k)
        du.append((right1 - sum(det[j] * du[k - j] for j in range(1, k + 1))) / det[0])
        dw.append((right2 - sum(det[j] * dw[k - j] for j in range(1, k + 1))) / det[0])
        for x, rate in ((a, u), (b, w), (u, du), (w, dw)):
            x.append(rate[k] / (k + 1))
    return a, b, u, w


def integrate(order, tolerance, until):
    state, t, steps = list(START), mpf(0), 0
    while t < until:
        rows = series(state, order)
        radius = min((1 / max(abs(p[n]) for p in rows)) ** (mpf(1) / n) for n in (order - 1, order))
        h = min(radius * mpf(tolerance) ** (mpf(1) / order), until - t)
        state = [mp.polyval(p[::-1], h) for p in rows]
        t, steps = t + h, steps + 1
    return state, steps


if __name__ == "__main__":
    for order, tolerance in ((40, "1e-36"), (50, "1e-40")):
        state, steps = integrate(order, tolerance, mpf(10))
        print(order, tolerance, steps, [mp.nstr(x, 30) for x in state])
