"""The loop most courses write: fixed step, and turn the ball around when it is near the floor.

y'' = -9.8. From height 1 with velocity 1 the exact answers are: first impact at 0.565176, the others every
0.926270, y(5) = 0.702724. From height 20 at rest the ball can never be below the floor.
"""

G = 9.8


def loop(y, v, step, until, turn):
    """Steps that are exact for this motion, then the turn rule. Returns impact times, lowest point, last height."""
    impacts, lowest = [], y
    for i in range(round(until / step)):
        y, v = y + v * step - G * step * step / 2, v - G * step
        lowest = min(lowest, y)
        if turn(y, v):
            v = -v
            impacts.append((i + 1) * step)
    return impacts, lowest, y


RULES = {
    "|y| < 0.1": lambda y, v: abs(y) < 0.1,
    "y < 0 and v < 0": lambda y, v: y < 0 and v < 0,
}

print("from height 1         step  first impact  mean spacing    y(5)")
for name, turn in RULES.items():
    for step in (0.05, 0.01, 0.001):
        impacts, _, y = loop(1.0, 1.0, step, 5.0, turn)
        spacing = (impacts[-1] - impacts[0]) / (len(impacts) - 1)
        print(f"{name:18s} {step:7.3f} {impacts[0]:13.3f} {spacing:13.3f} {y:7.3f}")

print("from height 20        step  impacts by t = 20  lowest point")
for name, turn in RULES.items():
    for step in (0.05, 0.01, 0.001):
        impacts, lowest, _ = loop(20.0, 0.0, step, 20.0, turn)
        print(f"{name:18s} {step:7.3f} {len(impacts):18d} {lowest:13.3f}")
