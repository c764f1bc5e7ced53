"""Malformed calls: wrong types, NaN, huge shapes, strings with controls. Each must raise a Python exception or succeed; the
process must never end, hang or grow without bound.

    python fuzz.py [CALLS] [SEED]
"""

import faulthandler
import os
import pathlib
import pickle
import random
import resource
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from fractions import Fraction

import numpy as np

import carom
from carom import _insight, _live


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
        np.broadcast_to(np.float64(1), (10**13,)), np.broadcast_to(np.float64(1), (10**7, 10**7)), range(10**15), range(10**40), 10**9,
        np.broadcast_to(np.float64(np.nan), (10**7,)), [0.0] * 10**5, "m", "g", "floor", "1/0", "sqrt(-1)", "((((", "x^" * 200 + "1", np.broadcast_to(np.float64(1), (3, 0)), 1j, set(), bytearray(b"x"),
    ]  # fmt: skip

    def value():
        return rng.choice(values)

    def words(keys, most=4):
        return {rng.choice(keys): value() for _ in range(rng.randint(0, most))}

    run_keys = ["until", "at", "samples", "parameters", "start", "since", "tolerance", "step", "project", "max_impacts", "max_steps", "sequential", "nonsense"]
    keep_short = {"max_steps": 2000, "max_impacts": 100}
    model_keys = ["coordinates", "name", "parameters", "define", "kinetic", "potential", "lagrangian", "hamiltonian", "momenta", "gravity", "walls",
                  "holonomic", "nonholonomic", "driven", "forces", "bodies", "inputs", "events", "outputs", "units", "view", "start", "run", "until"]  # fmt: skip
    sweep_keys = ["x", "y", "x'", "m", "g", "product", "random", "count", "seed", "until", "parameters", "start", "columns", "record", "threads", "chunk", "to", "on", "nonsense"]
    scratch = tempfile.TemporaryDirectory()
    os.chdir(scratch.name)
    pool = ThreadPoolExecutor(2)
    pickled = [pickle.dumps(thing) for thing in (model, motion, motion.impacts, model.derive(), carom.ModelError("x"), motion(0.5))]

    def mangled():
        at = rng.randrange(len(text))
        return text[:at] + rng.choice(["\x00", "'", '"', "[", "=", "\n", "nan", "𝕩", ""]) + text[at + rng.randint(0, 5) :]

    def sweep():
        asked = words(sweep_keys)
        count = asked.get("count")
        # A big question is legitimate and takes its time.
        if isinstance(count, (int, float, np.number)) and count > 100:
            asked["count"] = 10
        where = {"to": rng.choice(["a", "b", "c/d"]), "on": rng.choice([None, pool])} if rng.random() < 0.3 else {}
        return model.sweep(value() if rng.random() < 0.3 else {"y": [1.0]}, progress=False, **{"until": 0.01, **where, **asked})

    def unpickle():
        """What was pickled, with a value in it that is another one."""
        data = bytearray(rng.choice(pickled))
        for _ in range(rng.randint(1, 4)):
            data[rng.randrange(len(data))] = rng.randrange(256)
        # Only the reduction functions of the package: others could do anything, and that is pickle's way.
        made, arguments = rng.choice([(carom._model._from_texts, 3), (carom._derivation._derived, 3), (carom._motion._simulated, 2), (carom._table._from_parquet, 1)])
        return made(*(rng.choice([value(), bytes(data)]) for _ in range(arguments)))

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
        # Questions to the command, up to the moment when it would be asked.
        lambda: _insight.ranges({value(): value()} if rng.random() < 0.7 else value(), "vary", rng.random() < 0.5),
        lambda: _insight.option_words(words(["until", "section", "hold", "max_impacts"])),
        lambda: _insight._written_data({"time": value(), "y": value()}, pathlib.Path(os.devnull)),
        lambda: _live.sliders(model, [value()], {value(): value()}),
        lambda: _live.Answers(model, 0.01).set({value(): value()}),
        unpickle,
        lambda: model.live(*([value()] if rng.random() < 0.5 else []), **words(["until", "plots", "ranges"])),
        lambda: model.value_and_gradient(value(), value(), **{**keep_short, "until": 0.01, **words(["at", "parameters", "start", "samples", "nonsense"])}),
        lambda: model.sensitivity(value(), **{**keep_short, "until": 0.01, **words(["at", "parameters", "start", "nonsense"])}),
        lambda: model.orbit(**words(["period", "section", "parameters", "start", "nonsense"])),
        lambda: model.scan(value(), section="floor", **{"until": 1.0, "skip": 0, "keep": 1, **words(["parameters", "start", "nonsense"])}),
        lambda: model.fit({"impact.floor": value()}, value()),
        lambda: type(motion.impacts._native).from_parquet([b"PAR1" + bytes(rng.randrange(256) for _ in range(rng.randint(0, 60))) + b"PAR1"]),
    ]
    raised = succeeded = 0
    # A call that takes this long hangs; the process ends, and says where.
    patience = 120
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for call in range(calls):
        state = rng.getstate()
        faulthandler.dump_traceback_later(patience, exit=True)
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
        finally:
            faulthandler.cancel_dump_traceback_later()
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1024
    print(f"{calls} calls: {raised} exceptions, {succeeded} answers, {grown:.0f} MiB more")
    if raised < calls // 2:
        sys.exit("too few of the calls were malformed to say anything")
    if grown > 2048:
        sys.exit("memory grew without bound")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000, int(sys.argv[2]) if len(sys.argv) > 2 else 1)
