"""The double pendulum of the gallery at t = 10 to 20 digits, free and against its wall: where the constants in
`constants.py` and in the bench table come from.

    python reference.py            (needs mpmath; a few minutes)

Taylor series written out by hand for the textbook accelerations, 45-digit arithmetic, from start angles and g that are
exactly the doubles given. The wall x2 >= -1/2 reflects with v+ = v- - 2 u W^-1 n / (n W^-1 n). Two orders and tolerances
must agree in all digits printed.
"""

import math

from mpmath import cos, mp, mpf, sin

mp.dps = 45
STARTS = [(3 * math.pi / 7, 3 * math.pi / 4), (1.36, 2.36), (1.37, 2.37), (1.38, 2.38), (1.39, 2.39)]
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


def gap(state):
    return sin(state[0]) + sin(state[1]) + mpf(1) / 2


def impact(state):
    a, b, u, w = state
    n1, n2, c = cos(a), cos(b), cos(a - b)
    det = 2 - c * c
    m1, m2 = (n1 - c * n2) / det, (2 * n2 - c * n1) / det
    k = 2 * (n1 * u + n2 * w) / (n1 * m1 + n2 * m2)
    return [a, b, u - k * m1, w - k * m2]


def first_hit(rows, h, leaving):
    """Where the gap first becomes negative in (0, h]: looked for at 64 places, refined by bisection and secants."""

    def at(x):
        return gap([mp.polyval(p[::-1], x) for p in rows[:2]])

    places = [h * mpf(i) / 64 for i in range(65)]
    for left, right in list(zip(places, places[1:]))[1 if leaving else 0 :]:
        if at(right) < 0:
            return mp.findroot(at, (left, right), solver="anderson", tol=mpf("1e-80"), maxsteps=400)
    return None


def integrate(start, order, tolerance, until, wall):
    """(state, steps, impact times)"""
    state, t, steps, hits, leaving = [mpf(x) for x in start] + [mpf(0), mpf(0)], mpf(0), 0, [], False
    while t < until:
        rows = series(state, order)
        radius = min((1 / max(abs(p[n]) for p in rows)) ** (mpf(1) / n) for n in (order - 1, order))
        h = min(radius * mpf(tolerance) ** (mpf(1) / order), until - t)
        hit = first_hit(rows, h, leaving) if wall else None
        h = h if hit is None else hit
        state = [mp.polyval(p[::-1], h) for p in rows]
        t, steps, leaving = t + h, steps + 1, hit is not None
        if leaving:
            state = impact(state)
            hits.append(t)
    return state, steps, hits


if __name__ == "__main__":
    for wall in (False, True):
        for start in STARTS:
            print("wall" if wall else "free", start, flush=True)
            for order, tolerance in ((40, "1e-36"), (50, "1e-40")):
                state, steps, hits = integrate(start, order, tolerance, mpf(10), wall)
                print("   ", steps, len(hits), [mp.nstr(x, 20) for x in state], flush=True)
