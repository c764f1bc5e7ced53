"""Malformed calls: wrong types, NaN, huge shapes, strings with controls. Each must raise a Python exception or succeed; the
process must never end, hang or grow without bound.

    python fuzz.py [CALLS] [SEED]
"""

import random
import sys
from decimal import Decimal
from fractions import Fraction

import numpy as np

import carom


class Nasty:
    def __float__(self):
        raise RuntimeError("no")

    def __index__(self):
        return 2**70

    def __repr__(self):
        raise RuntimeError("no repr")


def main(calls: int, seed: int) -> None:
    rng = random.Random(seed)
    model = carom.gallery("bouncing_mass")
    motion = model.run(until=1)
    text = model.text
    values = [
        None, True, 0, -1, 1, 2**63, 2**64, 10**400, 1e308, -1e308, float("nan"), float("inf"), 1e-320, "", "x", "y'", "\x00", "\t\n",
        "\ud800", "a" * 10_000, "'" * 50, "𝕩", b"bytes", [], [1, "x"], [[1, 2], [3]], [float("nan")], {}, {"x": 1}, {1: 2}, {"y": None},
        (), (1,), (1, 2), np.nan, np.zeros(0), np.zeros((2, 2)), np.array(["a"]), np.array([1 + 2j]), np.int8(3), np.float16(2),
        np.array(1.5), object(), Nasty(), Decimal("NaN"), Decimal("1.5"), Fraction(1, 3), range(3), lambda: 1, Exception, iter([1]),
        "m", "g", "floor", "1/0", "sqrt(-1)", "((((", "x^" * 200 + "1", np.broadcast_to(np.float64(1), (3, 0)), 1j, set(), bytearray(b"x"),
    ]  # fmt: skip

    def value():
        return rng.choice(values)

    def words(keys, most=4):
        return {rng.choice(keys): value() for _ in range(rng.randint(0, most))}

    run_keys = ["until", "at", "samples", "parameters", "start", "since", "tolerance", "step", "project", "max_impacts", "max_steps", "sequential", "nonsense"]
    keep_short = {"max_steps": 2000, "max_impacts": 100}
    model_keys = ["coordinates", "name", "parameters", "define", "kinetic", "potential", "lagrangian", "hamiltonian", "momenta", "gravity", "walls",
                  "holonomic", "nonholonomic", "driven", "forces", "bodies", "inputs", "events", "outputs", "units", "view", "start", "run", "until"]  # fmt: skip
    sweep_keys = ["x", "y", "x'", "m", "g", "product", "random", "count", "seed", "until", "parameters", "start", "columns", "record", "threads", "chunk", "nonsense"]

    def mangled():
        at = rng.randrange(len(text))
        return text[:at] + rng.choice(["\x00", "'", '"', "[", "=", "\n", "nan", "𝕩", ""]) + text[at + rng.randint(0, 5) :]

    def sweep():
        asked = words(sweep_keys)
        count = asked.get("count")
        # A big question is legitimate and takes its time.
        if isinstance(count, (int, float, np.number)) and count > 100:
            asked["count"] = 10
        return model.sweep(value() if rng.random() < 0.3 else {"y": [1.0]}, progress=False, **{"until": 0.01, **asked})

    targets = [
        lambda: model.run(**{**keep_short, "until": 0.1, **words(run_keys)}),
        lambda: carom.Model(**{"coordinates": ["x"], "kinetic": "x'^2/2", **words(model_keys)}).run(until=0.01, **keep_short),
        lambda: carom.Model(**words(model_keys)),
        lambda: carom.Model.from_text(value()),
        lambda: carom.Model.from_text(mangled()),
        lambda: carom.load(value()),
        lambda: carom.gallery(value()),
        lambda: model.value(value()),
        lambda: motion[value()],
        lambda: motion(value(), **words(["side"])),
        lambda: motion.impacts[value()],
        lambda: motion.plot(value()) if isinstance(value(), str) else None,
        lambda: motion._native.render("svg", [str(value())]),
        lambda: motion.animate(value()),
        lambda: motion.save(value()) if not isinstance(value(), str) else None,
        lambda: model.derive().impact_law(value()),
        lambda: model.derive()[value()],
        sweep,
        lambda: carom.Table(value()),
        lambda: type(motion.impacts._native).from_parquet([b"PAR1" + bytes(rng.randrange(256) for _ in range(rng.randint(0, 60))) + b"PAR1"]),
    ]
    raised = succeeded = 0
    for call in range(calls):
        state = rng.getstate()
        try:
            rng.choice(targets)()
            succeeded += 1
        except (KeyboardInterrupt, SystemExit):
            raise
        except BaseException as error:
            if type(error).__name__ == "PanicException":
                rng.setstate(state)
                print(f"call {call} of seed {seed}: {error}")
                raise
            raised += 1
    print(f"{calls} calls: {raised} exceptions, {succeeded} answers")
    if raised < calls // 4:
        sys.exit("too few of the calls were malformed to say anything")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
