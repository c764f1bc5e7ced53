"""Questions about motions: derivatives, periodic orbits, exponents, scans, fits.

Derivatives are asked of the model's own program, which is compiled once. The other questions are those of the command, answered in this
process: Ctrl-C ends them, Python's lock is free meanwhile, and what is refused is an exception with its place.
"""

from __future__ import annotations

import csv
import json
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple

import numpy as np
import numpy.typing as npt

from . import _carom, _sympy, _toml
from ._errors import Interrupted, ModelError
from ._numbers import check_size, count, number, numbers, text, written
from ._record import Record, arrays, complexes
from ._table import Table

if TYPE_CHECKING:
    from ._model import Model

Values = Optional[Mapping[Any, Any]]
Array = npt.NDArray[np.float64]
Complex = npt.NDArray[np.complex128]


class Sensitivity(Record):
    """Exact derivatives of a motion, through every impact."""

    of: List[str]
    """Rows of the matrix: coordinates, then velocities (momenta)."""
    with_respect_to: List[str]
    """Columns: start values, parameters, restitutions."""
    matrix: Optional[Array]
    """∂ state(end)/∂θ; ``None`` where it does not exist, which ``not_differentiable`` explains."""
    impact_times: Array
    """∂ time/∂θ, one row per impact."""
    not_differentiable: Optional[Dict[str, Any]]
    """The first instant across which there is no derivative."""
    motion: Dict[str, Any]
    """The motion itself, as ``carom run --json`` has it."""


class Orbit(Record):
    """A periodic orbit."""

    period: float
    """After which the motion repeats."""
    state: Dict[str, float]
    """Coordinates and velocities (momenta) at ``at_time``."""
    at_time: float
    """The time that belongs to the state."""
    multipliers: Complex
    """Nontrivial multipliers, largest first."""
    stable: bool
    """Are all of them inside the unit circle, or on it where something is conserved?"""
    impacts: List[str]
    """Walls in the order of their impacts."""
    residual: float
    """How far the motion misses its start."""
    invariants: List[str]
    """Conserved quantities that were held fixed."""


class Branch(Record):
    """Periodic orbits along a parameter: arrays with one entry per orbit, in the order of the branch."""

    parameter: str
    """Name of the parameter."""
    value: Array
    """Its value at each orbit."""
    period: Array
    """Periods."""
    stable: npt.NDArray[np.bool_]
    """Which orbits are stable."""
    multipliers: Complex
    """One row per orbit, largest first; ``nan`` where an orbit has fewer."""
    state: Dict[str, Array]
    """Coordinates and velocities (momenta)."""
    special: List[Record]
    """Folds, doublings, grazings …: ``kind``, the parameter under its name, ``state``, ``detail``."""


class Exponents(Record):
    """Lyapunov exponents."""

    exponents: Array
    """Largest first, per unit of time."""
    error: Array
    """What each may be off by."""
    time: float
    """The time they are averages over."""
    sum_check: Dict[str, Any]
    """Their sum beside the law for it."""


class Scan(Record):
    """States at a section, of many motions after they have settled."""

    table: Table
    """The varied parameters, then the state: one row per kept crossing."""
    motions: int
    """How many were simulated."""
    crossings: int
    """How many rows there are."""
    attractors: Optional[int]
    """How many were told apart, where two start values are varied."""
    failed: Dict[str, int]
    """Motions without crossings, and why."""


class Fit(Record):
    """Parameters that meet data best."""

    parameters: Dict[str, float]
    """The values."""
    standard_errors: Dict[str, float]
    """Of each; ``nan`` where the data does not determine it."""
    cost: float
    """½ Σ r²."""
    gradient: Dict[str, float]
    """Of the cost."""
    impacts_matched: Dict[str, Any]
    """Per wall of the data: impacts in the data, in the motion, compared."""
    unidentified: List[str]
    """Combinations that the data does not determine."""
    warnings: List[str]
    """Why the values found may not be the best."""


def option_words(options: Mapping[str, Any]) -> List[str]:
    """Keyword arguments as options of the command: ``max_impacts=3`` is ``--max-impacts=3``, a list is the option repeated."""
    found: List[str] = []
    for name, value in options.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            found.append(option)
        elif isinstance(value, Mapping):
            found += [f"{option}={k}={_words_of(v, k)}" for k, v in _toml.mapping(value, name).items()]
        elif isinstance(value, (list, tuple)):
            found += [f"{option}={text(v, name) if isinstance(v, str) else written(number(v, name))}" for v in value]
        elif isinstance(value, str):
            found.append(f"{option}={text(value, name)}")
        elif _sympy.is_sympy(value) and not value.is_number:
            found.append(f"{option}={_sympy.formula(value)}")
        else:
            found.append(f"{option}={written(number(value, name))}")
    return found


def _words_of(value: Any, what: str) -> str:
    """A text, a number, or a range ``(from, to)`` as the command reads it."""
    if isinstance(value, str):
        return text(value, what)
    if isinstance(value, (tuple, list)) and len(value) == 2:
        return f"{written(number(value[0], what))}..{written(number(value[1], what))}"
    return written(number(value, what))


def ranges(vary: Any, what: str, counted: bool) -> List[str]:
    """What to vary, as the command reads it: ``{"F": (0.2, 1.0)}``, with a count ``(0.2, 1.0, 400)``, or values."""
    if isinstance(vary, str):
        return [text(vary, what)]
    if not isinstance(vary, Mapping):
        raise ModelError(f"`{what}` takes names and their ranges, such as {{\"F\": (0.2, 1.0{', 400' if counted else ''})}}, not {vary!r}")
    found = []
    for name, value in _toml.mapping(vary, what).items():
        if isinstance(value, str):
            found.append(f"{name}={text(value, name)}")
            continue
        given = numbers(value, name)
        if not counted:
            if len(given) != 2:
                raise ModelError(f"`{name}` is followed from one value to another: two numbers, not {len(given)}")
            found.append(f"{name}={written(given[0])}..{written(given[1])}")
        elif isinstance(value, tuple) and len(given) == 3:
            found.append(f"{name}={written(given[0])}..{written(given[1])}:{count(given[2], name, 1)}")
        else:
            found.append(f"{name}=" + ",".join(written(x) for x in given))
    return found


def ask(model: "Model", command: str, options: Sequence[str], parameters: Values, start: Values, folder: str = "") -> Dict[str, Any]:
    """What a command says about a model, as JSON. Files in ``folder`` are our own; nobody else knows it."""
    changes = [f"--set={k}={written(number(v, k))}" for k, v in _toml.mapping(parameters, "parameters").items()]
    changes += [f"--start={k}={written(number(v, k))}" for k, v in _toml.mapping(start, "start").items()]
    words = [command, "-", *changes, *options, "--json", "--quiet"]
    wrong = next((word for word in words if "\x00" in word), None)
    if wrong is not None:
        raise ModelError(f"{wrong!r} holds a zero character")
    try:
        answer: Dict[str, Any] = json.loads(model._native.ask(words))
        return answer
    except KeyboardInterrupt:
        raise Interrupted(f"carom {command} was interrupted") from None
    except ModelError as error:
        if not folder:
            raise
        said, found = str(error.args[0]), [{**d, "message": d["message"].replace(folder + os.sep, "")} for d in error.diagnostics]
        raise ModelError(said.replace(folder + os.sep, ""), found) from None


def names_of(by: Sequence[Any]) -> str:
    """Names as the engine lists them."""
    return ",".join(_toml.name(b, "by") for b in by)


def sensitivity(model: "Model", by: Sequence[Any], question: Dict[str, Any]) -> Sensitivity:
    motion = model._simulate({**question, "by": names_of(by or ("start",))})
    answer: Dict[str, Any] = json.loads(motion.to_json())
    found = answer.pop("sensitivity", None)
    if found is None:
        raise ModelError("there are no derivatives of this motion")
    made = Sensitivity(arrays(found))
    for name in ("impact_times", "event_times", "contact_times"):
        if name in made and not isinstance(made[name], np.ndarray):
            made[name] = np.empty((0, len(made["with_respect_to"])))
    made["motion"] = answer
    return made


def value_and_gradient(model: "Model", of: Any, by: Sequence[Any], question: Dict[str, Any]) -> Tuple[float, Array]:
    if isinstance(of, Mapping):
        asked: Dict[str, Any] = {"weights": _weights(of, question["at"] or []), "at": None}
    else:
        asked = {"gradient": _sympy.formula(of) if _sympy.is_sympy(of) else text(of, "of")}
    found = model._simulate({**question, **asked, "by": names_of(by)})._native.gradient()
    if found is None:
        raise ModelError(f"`{of}` has no gradient here")
    value, gradient, why = found
    if why is not None or value != value:
        said = f"at t = {why[0]:g}: {why[1]} {', '.join(why[2])}".rstrip() if why else "it did not happen"
        raise ModelError(f"`{of}` has no gradient here, {said}")
    return value, np.array(gradient)


def _weights(of: Mapping[Any, Any], times: Sequence[float]) -> List[Tuple[str, List[Tuple[float, float]]]]:
    """Weights by signal, each with its time."""
    columns = {name: numbers(weights, name) for name, weights in _toml.mapping(of, "of").items()}
    wrong = [name for name, weights in columns.items() if len(weights) != len(times)]
    if wrong or not columns:
        raise ModelError(f"weights need one number per time of `at`, here {len(times)}: {', '.join(wrong) or 'none are given'}")
    return [(name, list(zip(times, weights))) for name, weights in columns.items()]


def orbit(model: "Model", options: Mapping[str, Any], parameters: Values, start: Values) -> Orbit:
    answer = ask(model, "orbit", option_words(options), parameters, start)
    answer["multipliers"] = complexes(answer["multipliers"])
    return Orbit(answer)


def follow(model: "Model", vary: Any, options: Mapping[str, Any], parameters: Values, start: Values) -> Branch:
    what = ranges(vary, "vary", counted=False)
    if len(what) != 1:
        raise ModelError(f"a branch is followed in one parameter, not in {len(what)}")
    answer = ask(model, "follow", [f"--vary={what[0]}", *option_words(options)], parameters, start)
    name, points = answer["parameter"], answer["points"]
    most = max((len(p["multipliers"]) for p in points), default=0)
    multipliers = np.full((len(points), most), np.nan, dtype=np.complex128)
    for row, point in zip(multipliers, points):
        row[: len(point["multipliers"])] = complexes(point["multipliers"])
    states = list(points[0]["state"]) if points else []
    return Branch(
        parameter=name,
        value=np.array([p[name] for p in points]),
        period=np.array([p["period"] for p in points]),
        stable=np.array([p["stable"] for p in points], dtype=bool),
        multipliers=multipliers,
        state={s: np.array([p["state"][s] for p in points]) for s in states},
        special=[Record(s) for s in answer["special"]],
    )


def lyapunov(model: "Model", options: Mapping[str, Any], parameters: Values, start: Values) -> Exponents:
    return Exponents(arrays(ask(model, "lyapunov", option_words(options), parameters, start)))


def scan(model: "Model", vary: Any, options: Mapping[str, Any], parameters: Values, start: Values) -> Scan:
    with tempfile.TemporaryDirectory(prefix="carom-") as folder:
        out = Path(folder) / "scan.parquet"
        varied = [f"--vary={v}" for v in ranges(vary, "vary", counted=True)]
        answer = ask(model, "scan", [*varied, *option_words(options), f"--output={out}"], parameters, start, folder)
        table = Table(_carom.Table.from_parquet([out.read_bytes()]))
    return Scan(table=table, **answer)


def fit(model: "Model", data: Any, vary: Any, options: Mapping[str, Any], parameters: Values, start: Values) -> Fit:
    names = list(vary) if isinstance(vary, (list, tuple)) else [vary]
    with tempfile.TemporaryDirectory(prefix="carom-") as folder:
        file = Path(os.fspath(data)).absolute() if isinstance(data, (str, os.PathLike)) else _written_data(data, Path(folder) / "data.csv")
        free = f"--vary={','.join(_toml.name(n, 'vary') for n in names)}"
        answer = ask(model, "fit", [f"--data={file}", free, *option_words(options)], parameters, start, folder)
    for name in ("standard_errors", "gradient"):
        answer[name] = {k: float("nan") if v is None else v for k, v in answer[name].items()}
    return Fit(answer)


def _written_data(data: Any, file: Path) -> Path:
    """A mapping or a data frame as the csv file that a fit reads."""
    columns: List[Tuple[str, List[Any]]] = []
    try:
        for name in data.keys():
            check_size(data[name], "data")
            given = np.asarray(data[name])
            if given.ndim != 1 or given.dtype.kind not in "biufO":
                raise TypeError(f"{name} is not a list of numbers")
            columns.append((text(name, "data"), given.astype(np.float64).tolist()))
    except (AttributeError, TypeError, ValueError) as cause:
        raise ModelError("`data` takes a file, or columns by name: {\"time\": t, \"y\": y} or {\"impact.floor\": times}") from cause
    longest = max((len(values) for _, values in columns), default=0)
    with file.open("w", newline="", encoding="utf-8") as out:
        rows = csv.writer(out)
        rows.writerow(name for name, _ in columns)
        for k in range(longest):
            rows.writerow("" if k >= len(v) or v[k] != v[k] else repr(v[k]) for _, v in columns)
    return file
