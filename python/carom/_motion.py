"""A motion: samples, everything that happened, the state at any time, pictures."""

from __future__ import annotations

import html
import io
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, Iterator, List, NamedTuple, Optional, Sequence, Tuple, Union

import numpy as np
import numpy.typing as npt

from . import _carom, _sympy
from ._errors import ModelError
from ._files import write_whole
from ._numbers import numbers, short
from ._record import Record
from ._table import Table

if TYPE_CHECKING:
    from ._model import Model

Array = npt.NDArray[np.float64]


class Stop(NamedTuple):
    """Why a motion ended."""

    reason: str
    """``reached``, or the word that ``carom run --json`` has for why it ended earlier, such as ``event``, ``max_impacts`` or
    ``interrupted``."""
    time: float
    """When."""
    detail: Optional[str]
    """A sentence, or ``None`` where there is no more to say."""


class Audit(Record):
    """How well the laws were kept: ``verdict``, ``hamiltonian_drift``, ``constraint_drift``, ``impact_law_residual``, …"""


class State(Mapping[str, Any]):
    """Every quantity at a time, or at each of several times.

    >>> import carom
    >>> motion = carom.gallery("quartic").run()
    >>> state = motion(1.25)
    >>> state.time, bool(state["x"] == motion([1.25])["x"][0])
    (1.25, True)
    """

    __slots__ = ("_columns", "_values")

    def __init__(self, columns: Sequence[str], values: Array) -> None:
        self._columns = list(columns)
        self._values = values

    def __getitem__(self, name: Any) -> Any:
        name = _quantity(name)
        try:
            values = self._values[..., self._columns.index(name)]
        except ValueError:
            raise KeyError(f"no quantity {name!r}: there are {', '.join(self._columns)}") from None
        return float(values) if values.ndim == 0 else values

    def __iter__(self) -> Iterator[str]:
        return iter(self._columns)

    def __len__(self) -> int:
        return len(self._columns)

    @property
    def time(self) -> Any:
        """When."""
        return self["time"]

    def __repr__(self) -> str:
        if self._values.ndim > 1:
            return f"<carom.State at {self._values.shape[0]} times: {', '.join(self._columns)}>"
        return "State(" + ", ".join(f"{name}={self[name]!r}" for name in self._columns[: 12]) + ")"


class Page:
    """A page that stands alone; a notebook shows it in a frame."""

    def __init__(self, page: str, height: int) -> None:
        self.html = page
        self._height = height

    def save(self, path: Union[str, "os.PathLike[str]"]) -> Path:
        """Writes the page to a file."""
        target = Path(path)
        write_whole(target, self.html.encode())
        return target

    def _repr_html_(self) -> str:
        inside = html.escape(self.html, quote=True)
        return (
            f'<iframe srcdoc="{inside}" style="width:100%;height:{self._height}px;border:0" '
            'sandbox="allow-scripts" loading="lazy"></iframe>'
        )


class Picture:
    """A picture as SVG."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def save(self, path: Union[str, "os.PathLike[str]"]) -> Path:
        """Writes the picture to a file."""
        target = Path(path)
        write_whole(target, self.svg.encode())
        return target

    def _repr_svg_(self) -> str:
        return self.svg


class Motion(Mapping[str, Array]):
    """What a simulation found. ``motion["theta"]`` and ``motion["theta'"]`` are read-only arrays: views, not copies.

    >>> import carom
    >>> motion = carom.gallery("bouncing_mass").run(until=2)
    >>> motion.time[0], motion["y"].flags.writeable
    (np.float64(0.0), False)
    >>> motion.stop.reason
    'reached'
    """

    __slots__ = ("_model", "_native", "_question", "_kept_steps", "__weakref__")

    def __init__(self, model: "Model", native: _carom.Motion, question: Dict[str, Any]) -> None:
        self._model = model
        self._native = native
        self._question = question
        self._kept_steps: Optional[_carom.Motion] = native if question["dense"] else None

    @property
    def model(self) -> "Model":
        """The model that moved."""
        return self._model

    @property
    def columns(self) -> List[str]:
        """Names of everything that is sampled, time first."""
        return list(self._native.columns)

    @property
    def time(self) -> Array:
        """Sample times."""
        return np.asarray(self._native.column("time"))

    def __getitem__(self, name: Any) -> Array:
        name = _quantity(name)
        if not isinstance(name, str):
            raise TypeError(f"quantities have names: motion[{self.columns[1]!r}], not motion[{short(name)}]")
        try:
            return np.asarray(self._native.column(name))
        except ModelError:
            raise KeyError(f"no quantity {name!r}: there are {', '.join(self.columns)}") from None

    def __contains__(self, name: object) -> bool:
        return _quantity(name) in self.columns

    def __iter__(self) -> Iterator[str]:
        return iter(self.columns)

    def __len__(self) -> int:
        return len(self.columns)

    @property
    def impacts(self) -> Table:
        """One row per impact: ``time``, ``walls``, positions, velocities before (``x'.before``) and after (``x'``); per wall
        ``impulse.floor``, ``gap_rate_before.floor``, ``gap_rate_after.floor``; impulses of constraints and drives; the Hamiltonian."""
        return Table(self._native.impacts())

    @property
    def contacts(self) -> Table:
        """One row per contact: wall, from, to, whether infinitely many impacts led to it."""
        return Table(self._native.contacts())

    @property
    def grazes(self) -> Table:
        """One row per touch without an impulse."""
        return Table(self._native.grazes())

    @property
    def events(self) -> Table:
        """One row per event: ``time``, its name in ``event``, positions and velocities."""
        return Table(self._native.events())

    @property
    def stop(self) -> Stop:
        """Why and when it ended."""
        stop = json.loads(self._native.stop)
        return Stop(stop["reason"], stop["time"], stop.get("detail") or None)

    @property
    def audit(self) -> Audit:
        """How well the laws were kept."""
        audit = Audit(json.loads(self._native.audit))
        audit["simulate_seconds"] = self._native.seconds
        return audit

    @property
    def warnings(self) -> List[str]:
        """What is doubtful about it."""
        return list(self._native.warnings)

    def __call__(self, time: Any, side: str = "after") -> State:
        """The state at a time or at several times, to the accuracy of the steps; at a jump, which side of it.

        >>> import carom
        >>> motion = carom.gallery("bouncing_mass").run(until=2)
        >>> t = motion.impacts["time"][0]
        >>> motion(t, side="before")["y'"] < 0 < motion(t)["y'"]
        True
        """
        if side not in ("before", "after"):
            raise ModelError(f"side must be 'before' or 'after', not {side!r}")
        times = numbers(time, "time")
        if self._kept_steps is None:
            # The same bits again, this time with every step kept.
            question = {**self._question, "dense": True, "samples": 2, "at": None}
            self._kept_steps = self._model._simulate(question)._native
        values: Array = np.asarray(self._kept_steps.at(times, side == "before"))
        return State(self.columns, values[0] if np.ndim(time) == 0 else values)

    def to_table(self) -> Table:
        """The samples as a table."""
        return Table(self._native.samples())

    def to_pandas(self) -> Any:
        """The samples as a pandas ``DataFrame`` with the time as its index."""
        import pandas

        columns = {name: self[name] for name in self.columns if name != "time"}
        return pandas.DataFrame(columns, index=pandas.Index(self.time, name="time"))

    def to_polars(self) -> Any:
        """The samples as a polars ``DataFrame``."""
        import polars

        return polars.DataFrame(self)

    def to_arrow(self) -> Any:
        """The samples as a pyarrow ``Table``, whose columns are the memory of the motion."""
        import pyarrow

        return pyarrow.table(self)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        return self._native.__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> Any:
        return self._native.__arrow_c_schema__()

    def to_json(self) -> str:
        """What ``carom run --json`` prints."""
        return self._native.render("json", []).decode()

    def _slim(self, most: int) -> "Motion":
        """The same motion with few samples."""
        if len(self.time) <= most:
            return self
        question = {**self._question, "samples": most, "at": None, "dense": False}
        if question["interrupt_after"] is not None:
            question["at"] = np.linspace(self.time[0], self.stop.time, most).tolist()
        return self._model._simulate(question)

    def plot(self, *what: str, ax: Any = None) -> Any:
        """A plot of some quantities over time: with matplotlib when it is there, else as SVG.

        ``motion.plot()`` shows the coordinates, ``motion.plot("theta'")`` a velocity, ``motion.plot("theta' over theta")`` the
        phase plane, ``motion.plot("x,y")`` two in one. With matplotlib it returns the axes.
        """
        requests = [_word(w) for w in what]
        try:
            from matplotlib import pyplot
        except ImportError:
            if ax is not None:
                raise
            return Picture(self._slim(2001)._native.render("svg", requests).decode())
        if ax is None:
            _, ax = pyplot.subplots()
        curves: List[Tuple[str, str]] = []
        for request in requests or self._model.coordinates:
            names, _, over = request.partition(" over ")
            curves += [(y.strip(), over.strip() or "time") for y in names.split(",") if y.strip()]
        if not curves:
            raise ModelError("there is nothing to plot")
        for y, x in curves:
            ax.plot(self[x], self[y], label=y)
            ax.set_xlabel(x)
        for t in self.impacts["time"][:200] if all(x == "time" for _, x in curves) else []:
            ax.axvline(t, color="0.8", linewidth=0.8, zorder=0)
        if len(curves) > 1:
            ax.legend()
        else:
            ax.set_ylabel(curves[0][0])
        return ax

    def animate(self, *what: str, samples: int = 601) -> Page:
        """A self-contained page that animates the motion; a notebook shows it. It has at most ``samples`` frames."""
        page = self._slim(max(2, int(samples)))._native.render("html", [_word(w) for w in what])
        return Page(page.decode(), 560)

    def save(self, path: Union[str, "os.PathLike[str]"], *what: str) -> Path:
        """Writes the motion, whole or not at all; the ending says as what: .html .svg .png .json .csv .parquet .npz"""
        target = Path(path)
        ending = target.suffix.lower().lstrip(".")
        if ending == "npz":
            arrays: Dict[str, Any] = {name: self[name] for name in self.columns}
            packed = io.BytesIO()
            np.savez(packed, **arrays)
            write_whole(target, packed.getvalue())
        elif ending == "html":
            write_whole(target, self.animate(*what, samples=2001).html.encode())
        elif ending in ("svg", "png", "json", "csv", "parquet"):
            write_whole(target, self._native.render(ending, [_word(w) for w in what]))
        else:
            raise ModelError(f"cannot save as {target.name!r}: .html, .svg, .png, .json, .csv, .parquet or .npz")
        return target

    def __reduce__(self) -> Any:
        return (_simulated, (self._model, dict(self._question)))

    def __copy__(self) -> "Motion":
        return self

    def __deepcopy__(self, memo: Any) -> "Motion":
        return self

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def _summary(self) -> Tuple[str, str]:
        n = len(self.impacts)
        stop = self.stop
        happened = f"{n} impact{'' if n == 1 else 's'}"
        return self._model.name, f"{len(self.time)} samples to t = {stop.time:g}, {happened}, ended: {stop.reason}"

    def __repr__(self) -> str:
        name, what = self._summary()
        return f"<carom.Motion of {name!r}: {what}>"

    def _repr_html_(self) -> str:
        name, what = self._summary()
        warnings = "".join(f"<li>{html.escape(w)}</li>" for w in self.warnings[:5])
        text = f"<p><b>{html.escape(name)}</b>: {html.escape(what)}</p>" + (f"<ul>{warnings}</ul>" if warnings else "")
        slim = self._slim(301)
        # Curves that jump at thousands of impacts take their room: then there are fewer of them.
        for most in (6, 3, 2, 1):
            try:
                picture = slim._native.render("svg", [",".join(self._model.coordinates[:most])]).decode()
            except ModelError:
                return text
            if len((text + picture).encode()) < 60_000:
                return text + picture
        return text + slim._dots()

    def _dots(self) -> str:
        """The samples of the first coordinate, where its curve jumps too often to be drawn."""
        name = self._model.coordinates[0]
        t, x = self.time, self[name]
        if not len(t):
            return ""
        width, height = np.ptp(t) or 1.0, np.ptp(x) or 1.0
        places = "".join(f"M{620 * (a - t[0]) / width + 10:.1f} {190 - 180 * (b - x.min()) / height:.1f}h0" for a, b in zip(t, x))
        return (
            f'<svg viewBox="0 0 640 200" style="max-width:640px"><path d="{places}" stroke="#0072b2" stroke-width="3" stroke-linecap="round"/></svg>'
            f"<p>Samples of {html.escape(name)}, from {x.min():.4g} to {x.max():.4g}: its jumps are too many to be drawn here.</p>"
        )


def _quantity(name: Any) -> Any:
    """The name of a quantity; SymPy's symbols have one."""
    return _sympy.name_of(name) if _sympy.is_sympy(name) else name


def _word(value: Any) -> str:
    if not isinstance(value, str):
        raise ModelError(f"what to draw is said in words such as \"theta\" or \"theta' over theta\", not {value!r}")
    return value


def _simulated(model: "Model", question: Dict[str, Any]) -> Motion:
    return model._simulate(question)
