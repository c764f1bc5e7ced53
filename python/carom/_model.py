"""Models: from files, texts, the gallery, keyword arguments and SymPy."""

from __future__ import annotations

import html
import os
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union, overload

from . import _carom, _insight, _sweep, _toml
from ._derivation import Derivation
from ._errors import Interrupted, ModelError
from ._motion import Motion
from ._numbers import number, numbers, optional_count, optional_number, text
from ._table import Table

if TYPE_CHECKING:
    from ._live import LiveWidget


class Model:
    """A checked model. Every table of a model file is a keyword; a formula is text, a number or a SymPy expression.

    >>> import carom
    >>> model = carom.Model(
    ...     coordinates=["theta"],
    ...     parameters={"m": 1, "l": 1, "g": 9.8},
    ...     kinetic="m*l^2/2*theta'^2",
    ...     potential="-m*g*l*cos(theta)",
    ...     walls={"left": "l*sin(theta)"},
    ...     start={"theta": 1.0},
    ...     until=5.0,
    ... )
    >>> model.walls, model.parameters["g"]
    (['left'], 9.8)
    """

    __slots__ = ("_native", "__weakref__")

    def __init__(
        self,
        *,
        coordinates: Sequence[Any],
        name: Optional[str] = None,
        parameters: Optional[Mapping[Any, Any]] = None,
        define: Optional[Mapping[Any, Any]] = None,
        kinetic: Any = None,
        potential: Any = None,
        dissipation: Any = None,
        lagrangian: Any = None,
        hamiltonian: Any = None,
        momenta: Optional[Sequence[Any]] = None,
        gravity: Optional[Sequence[Any]] = None,
        walls: Optional[Mapping[Any, Any]] = None,
        holonomic: Optional[Mapping[Any, Any]] = None,
        nonholonomic: Optional[Mapping[Any, Any]] = None,
        driven: Optional[Mapping[Any, Any]] = None,
        forces: Optional[Mapping[Any, Any]] = None,
        bodies: Optional[Mapping[Any, Any]] = None,
        inputs: Optional[Mapping[Any, Any]] = None,
        events: Optional[Mapping[Any, Any]] = None,
        outputs: Optional[Mapping[Any, Any]] = None,
        units: Optional[Mapping[Any, Any]] = None,
        view: Optional[Mapping[Any, Any]] = None,
        start: Optional[Mapping[Any, Any]] = None,
        run: Optional[Mapping[Any, Any]] = None,
        until: Any = None,
        tolerance: Any = None,
    ) -> None:
        lines: List[str] = []

        def top(label: str, value: Any) -> None:
            if value is not None:
                lines.append(f"{label} = {_toml.value_of(value, label)}")

        top("name", None if name is None else text(name, "name"))
        top("coordinates", _toml.names(coordinates, "coordinates"))
        names = None if momenta is None else _toml.names(momenta, "momenta")
        for label, value in (("momenta", names), ("lagrangian", lagrangian), ("hamiltonian", hamiltonian), ("gravity", gravity)):
            top(label, value)
        lines += _toml.table("parameters", _toml.mapping(parameters, "parameters"))
        lines += _toml.table("define", _toml.mapping(define, "define"))
        energy = {"kinetic": kinetic, "potential": potential, "dissipation": dissipation}
        lines += _toml.table("energy", {k: v for k, v in energy.items() if v is not None})
        lines += _toml.table("holonomic", _toml.mapping(holonomic, "holonomic"))
        lines += _toml.table("nonholonomic", _toml.mapping(nonholonomic, "nonholonomic"))
        lines += _toml.table("driven", _toml.mapping(driven, "driven"))
        entries, tables = _toml.inputs(_toml.mapping(inputs, "inputs"))
        lines += _toml.table("input", entries)
        labelled = (("wall", walls, "gap"), ("force", forces, "generalized"), ("body", bodies, None), ("event", events, "when"))
        for label, elements, short in labelled:
            for k, v in _toml.mapping(elements, label + "s").items():
                if not isinstance(v, Mapping):
                    if short is None or short == "generalized":
                        raise ModelError(f"`{label} {k}` must be a dictionary, not {v!r}")
                    v = {short: v}
                elif label == "force" and "generalized" not in v and "at" not in v and "vector" not in v:
                    v = {"generalized": v}
                lines += _toml.table(f"{label}.{_toml.key(k)}", _toml.mapping(v, f"{label} {k}"))
        lines += _toml.start(_toml.mapping(start, "start"), names)
        lines += _toml.table("output", _toml.mapping(outputs, "outputs"))
        lines += _toml.table("units", _toml.mapping(units, "units"))
        lines += _toml.table("view", _toml.mapping(view, "view"))
        settings = _toml.mapping(run, "run")
        settings.update({k: v for k, v in (("until", until), ("tolerance", tolerance)) if v is not None})
        lines += _toml.table("run", settings)
        self._native = _carom.Model("\n".join(lines) + "\n", "model.toml", tables)

    @classmethod
    def _of(cls, native: _carom.Model) -> "Model":
        model = cls.__new__(cls)
        model._native = native
        return model

    @classmethod
    def from_text(cls, toml: str, file: str = "model.toml", tables: Optional[Mapping[str, str]] = None) -> "Model":
        """A model from the text of a model file; ``tables`` are the texts of the tables it names."""
        given = [(text(k, "tables"), text(v, "tables")) for k, v in (tables or {}).items()]
        return cls._of(_carom.Model(text(toml, "text"), text(file, "file"), given))

    @property
    def name(self) -> str:
        """Its title."""
        return self._native.name

    @property
    def text(self) -> str:
        """The model file."""
        return self._native.text

    @property
    def coordinates(self) -> List[str]:
        """Names of the coordinates."""
        return list(self._native.coordinates)

    @property
    def parameters(self) -> Dict[str, float]:
        """Parameters and their values."""
        return dict(self._native.parameters)

    @property
    def walls(self) -> List[str]:
        """Names of the walls."""
        return list(self._native.walls)

    @property
    def constraints(self) -> List[str]:
        """Names of the constraint rows."""
        return list(self._native.rows)

    @property
    def events(self) -> List[str]:
        """Names of the events."""
        return list(self._native.events)

    @property
    def outputs(self) -> List[str]:
        """Names of the outputs."""
        return list(self._native.outputs)

    @property
    def warnings(self) -> List[Dict[str, Any]]:
        """What is doubtful about it, as the diagnostics of :class:`ModelError`."""
        return list(self._native.warnings)

    def value(self, name: str) -> Optional[float]:
        """A parameter or a start value; ``None`` for a start value that the model leaves open.

        >>> import carom
        >>> carom.gallery("double_pendulum_wall").value("g")
        9.81
        """
        return self._native.value(text(name, "name"))

    def derive(self) -> Derivation:
        """The equations of motion, constraints and impact laws."""
        return Derivation(self._native)

    def run(
        self,
        until: Any = None,
        *,
        at: Any = None,
        samples: Any = None,
        parameters: Optional[Mapping[Any, Any]] = None,
        start: Optional[Mapping[Any, Any]] = None,
        since: Any = None,
        tolerance: Any = None,
        step: Any = None,
        project: Optional[bool] = None,
        max_impacts: Any = None,
        max_steps: Any = None,
        sequential: Optional[bool] = None,
        sensitivity: bool = False,
        dense: bool = False,
    ) -> Motion:
        """Simulates. What is not given is as the model says.

        ``at`` are sample times, ``samples`` how many evenly spaced ones; ``step`` asks for the fixed-step method for
        comparison; ``dense`` keeps the steps now instead of when :meth:`Motion.__call__` first needs them. Ctrl-C raises
        :class:`Interrupted` with what was computed.

        >>> import carom, numpy as np
        >>> model = carom.gallery("double_pendulum_wall")
        >>> moon = model.run(until=2, at=np.linspace(0, 2, 5), parameters={"g": 1.62}, start={"theta1'": 0.5})
        >>> moon.time.tolist()
        [0.0, 0.5, 1.0, 1.5, 2.0]
        """
        return self._simulate(
            self._question(
                until=until, at=at, samples=samples, parameters=parameters, start=start, since=since, tolerance=tolerance, step=step,
                project=project, max_impacts=max_impacts, max_steps=max_steps, sequential=sequential, sensitivity=sensitivity, dense=dense,
            )
        )  # fmt: skip

    def _question(
        self, *, parameters: Optional[Mapping[Any, Any]] = None, start: Optional[Mapping[Any, Any]] = None, at: Any = None, samples: Any = None,
        sensitivity: bool = False, dense: bool = False, **given: Any,
    ) -> Dict[str, Any]:  # fmt: skip
        """What is asked of a run, as the native part reads it."""
        values = [(k, number(v, k)) for k, v in _toml.mapping(parameters, "parameters").items()]
        values += [(k, number(v, k)) for k, v in _toml.mapping(start, "start").items()]
        question: Dict[str, Any] = {
            "values": values,
            "samples": optional_count(samples, "samples", 1),
            "at": None if at is None else numbers(at, "at"),
            "sensitivity": bool(sensitivity),
            "dense": bool(dense),
            "gradient": None,
            "weights": None,
            "by": None,
            "interrupt_after": None,
        }
        for name in ("until", "since", "tolerance", "step"):
            question["rk4" if name == "step" else name] = optional_number(given.pop(name, None), name)
        for name in ("max_impacts", "max_steps"):
            question[name] = optional_count(given.pop(name, None), name)
        for name in ("project", "sequential"):
            value = given.pop(name, None)
            question[name] = None if value is None else bool(value)
        if given:
            raise ModelError(f"`{next(iter(given))}` is no option of a run")
        return question

    def _simulate(self, question: Dict[str, Any]) -> Motion:
        native, interrupt = self._native.run(question)
        if native.interrupted_after is not None:
            question = {**question, "interrupt_after": native.interrupted_after}
        motion = Motion(self, native, question)
        if interrupt is None:
            return motion
        if isinstance(interrupt, KeyboardInterrupt):
            raise Interrupted(f"interrupted at t = {motion.stop.time:g}", motion=motion) from None
        raise interrupt

    @overload
    def sweep(
        self,
        values: Optional[Mapping[Any, Any]] = None,
        /,
        *,
        product: bool = True,
        random: Optional[Mapping[Any, Tuple[Any, Any]]] = None,
        count: Any = None,
        seed: Any = 0,
        until: Any = None,
        tolerance: Any = None,
        parameters: Optional[Mapping[Any, Any]] = None,
        start: Optional[Mapping[Any, Any]] = None,
        project: bool = False,
        columns: Optional[Sequence[str]] = None,
        record: Optional[Sequence[str]] = None,
        threads: Any = None,
        progress: Optional[bool] = None,
        to: None = None,
        chunk: Any = None,
        on: Any = None,
        **more: Any,
    ) -> Table: ...

    @overload
    def sweep(
        self,
        values: Optional[Mapping[Any, Any]] = None,
        /,
        *,
        product: bool = True,
        random: Optional[Mapping[Any, Tuple[Any, Any]]] = None,
        count: Any = None,
        seed: Any = 0,
        until: Any = None,
        tolerance: Any = None,
        parameters: Optional[Mapping[Any, Any]] = None,
        start: Optional[Mapping[Any, Any]] = None,
        project: bool = False,
        columns: Optional[Sequence[str]] = None,
        record: Optional[Sequence[str]] = None,
        threads: Any = None,
        progress: Optional[bool] = None,
        to: Union[str, "os.PathLike[str]"],
        chunk: Any = None,
        on: Any = None,
        **more: Any,
    ) -> _sweep.Dataset: ...

    def sweep(
        self,
        values: Optional[Mapping[Any, Any]] = None,
        /,
        *,
        product: bool = True,
        random: Optional[Mapping[Any, Tuple[Any, Any]]] = None,
        count: Any = None,
        seed: Any = 0,
        until: Any = None,
        tolerance: Any = None,
        parameters: Optional[Mapping[Any, Any]] = None,
        start: Optional[Mapping[Any, Any]] = None,
        project: bool = False,
        columns: Optional[Sequence[str]] = None,
        record: Optional[Sequence[str]] = None,
        threads: Any = None,
        progress: Optional[bool] = None,
        to: Union[None, str, "os.PathLike[str]"] = None,
        chunk: Any = None,
        on: Any = None,
        **more: Any,
    ) -> Union[Table, _sweep.Dataset]:
        """Many trajectories, one row each: names and their values, in a mapping or as keywords.

        ``product=True`` takes every combination, ``False`` the first values of all names, then the second, and so on; what is given as
        one number is the same in all rows then.
        ``random={"theta": (-1, 1)}, count=1000, seed=0`` draws instead, the same numbers as ``carom sweep --random``.
        ``columns`` and ``record`` choose final values and events, as ``--columns`` and ``--events`` of the command.

        ``to="folder/"`` writes a parquet dataset as it goes, of any size, and goes on where it stopped; ``on`` takes a
        ``concurrent.futures`` executor, a Dask client, the module ``ray`` or a ``joblib.Parallel``. The rows have the same
        bits whatever ran where.

        >>> import carom
        >>> table = carom.gallery("bouncing_mass").sweep({"y'": [0.0, 1.0]}, y=[1.0, 2.0], progress=False)
        >>> len(table), table["y"].tolist(), table["stop"][0]
        (4, [1.0, 2.0, 1.0, 2.0], 'reached')
        """
        question = _sweep.Question.of(
            self, values, more, product, random, count, seed, until, tolerance, parameters, start, project, columns, record
        )
        return _sweep.sweep(question, threads=threads, progress=progress, to=to, chunk=chunk, on=on)

    def sensitivity(
        self, *by: Any, until: Any = None, parameters: Optional[Mapping[Any, Any]] = None, start: Optional[Mapping[Any, Any]] = None, **options: Any
    ) -> _insight.Sensitivity:
        """Exact derivatives of the end and of everything that happens, by start values, parameters and restitution.

        ``by`` are names as of ``carom run --sensitivity``: ``"start"`` (which it is unless said), ``"g"``, ``"restitution.left"``. More
        keywords are those of :meth:`run`.

        >>> import carom
        >>> found = carom.gallery("bouncing_mass").sensitivity("g", until=0.1)
        >>> found.of, [round(float(x), 12) for x in found.matrix[:, 0]]
        (['x', 'y', "x'", "y'"], [0.0, -0.005, 0.0, -0.1])
        """
        return _insight.sensitivity(self, by, self._question(until=until, parameters=parameters, start=start, **options))

    def value_and_gradient(
        self, of: Any, *by: Any, at: Any = None, until: Any = None,
        parameters: Optional[Mapping[Any, Any]] = None, start: Optional[Mapping[Any, Any]] = None, **options: Any,
    ) -> Tuple[float, _insight.Array]:  # fmt: skip
        """One number of a motion and its exact derivatives by many others, at a cost that does not grow with their number: what
        optimisers take (``scipy.optimize.minimize(…, jac=True)``).

        ``of`` is a quantity as of ``carom run --gradient``, ``by`` are names as for :meth:`sensitivity`; without any it is everything, as
        for the command: start values, then parameters, then restitutions. With weights by signal, ``{"y": weights}``, it is the sum of
        weight times signal over the times ``at``: what reverse mode asks for (``jax.custom_vjp``). More keywords are those of
        :meth:`run`. Equations are derived and compiled once, whatever the values are.
        """
        return _insight.value_and_gradient(self, of, by, self._question(until=until, at=at, parameters=parameters, start=start, **options))

    def orbit(
        self, *, period: Any = None, section: Optional[str] = None, parameters: Optional[Mapping[Any, Any]] = None,
        start: Optional[Mapping[Any, Any]] = None, **options: Any,
    ) -> _insight.Orbit:  # fmt: skip
        """A periodic orbit and its multipliers: after the ``period`` of a forcing (a number or a formula such as ``"2*pi/omega"``), or
        on return to a ``section`` (an event or a wall). More keywords are options of ``carom orbit``."""
        return _insight.orbit(self, {"period": period, "section": section, **options}, parameters, start)

    def follow(
        self, vary: Any, *, period: Any = None, section: Optional[str] = None, parameters: Optional[Mapping[Any, Any]] = None,
        start: Optional[Mapping[Any, Any]] = None, **options: Any,
    ) -> _insight.Branch:  # fmt: skip
        """A periodic orbit followed in a parameter, ``vary={"F": (0.2, 1.0)}``, with its folds, doublings and grazings. More keywords
        are options of ``carom follow``."""
        return _insight.follow(self, vary, {"period": period, "section": section, **options}, parameters, start)

    def lyapunov(
        self, *, until: Any = None, parameters: Optional[Mapping[Any, Any]] = None, start: Optional[Mapping[Any, Any]] = None, **options: Any
    ) -> _insight.Exponents:
        """Lyapunov exponents, averages until a time. More keywords are options of ``carom lyapunov``."""
        return _insight.lyapunov(self, {"until": until, **options}, parameters, start)

    def scan(
        self, vary: Any, *, period: Any = None, section: Optional[str] = None, skip: Any = None, keep: Any = None,
        parameters: Optional[Mapping[Any, Any]] = None, start: Optional[Mapping[Any, Any]] = None, **options: Any,
    ) -> _insight.Scan:  # fmt: skip
        """States at a section after motions have settled: a bifurcation diagram by brute force. ``vary={"F": (0.2, 1.0, 400)}`` or
        ``{"F": array}``; ``skip`` crossings are left out, ``keep`` kept. More keywords are options of ``carom scan``."""
        given = {"period": period, "section": section, "skip": optional_count(skip, "skip"), "keep": optional_count(keep, "keep", 1)}
        return _insight.scan(self, vary, {**given, **options}, parameters, start)

    def fit(
        self, data: Any, vary: Any, *, parameters: Optional[Mapping[Any, Any]] = None,
        start: Optional[Mapping[Any, Any]] = None, **options: Any,
    ) -> _insight.Fit:  # fmt: skip
        """Parameters and start values for which the motion meets data best, with exact derivatives.

        ``data`` is a csv file, or columns by name (a mapping, a data frame): ``{"time": t, "y": y}``, or times of impacts
        ``{"impact.floor": times}``. More keywords are options of ``carom fit``.

        >>> import carom
        >>> ball = carom.gallery("bouncing_mass")
        >>> times = ball.run(until=2, parameters={"g": 9.5}).impacts["time"]
        >>> round(ball.fit({"impact.floor": times}, "g", until=2).parameters["g"], 9)
        9.5
        """
        return _insight.fit(self, data, vary, options, parameters, start)

    def live(
        self,
        *names: str,
        until: Any = None,
        plots: Sequence[str] = (),
        ranges: Optional[Mapping[str, Tuple[Any, Any]]] = None,
    ) -> "LiveWidget":
        """A widget for notebooks: sliders for parameters and start values, animation and plots that follow while they are moved.

        ``names`` chooses the sliders, ``ranges={"g": (0, 20)}`` how far they go. Needs ``anywidget``.
        """
        from . import _live

        ends = {k: (number(v[0], k), number(v[1], k)) for k, v in _toml.mapping(ranges, "ranges").items()}
        return _live.live(self, [text(n, "name") for n in names] or None, optional_number(until, "until"), list(plots), ends)

    def __reduce__(self) -> Any:
        return (_from_texts, (self._native.text, self._native.file, list(self._native.tables)))

    def __copy__(self) -> "Model":
        return self

    def __deepcopy__(self, memo: Any) -> "Model":
        return self

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Model):
            return NotImplemented
        return self._native.text == other._native.text and self._native.tables == other._native.tables

    def __hash__(self) -> int:
        return hash(self._native.text)

    def __repr__(self) -> str:
        return f"<carom.Model {self.name!r}: {', '.join(self.coordinates)}>"

    def _repr_html_(self) -> str:
        shown = self._native.text if len(self._native.text) < 20_000 else self._native.text[:20_000] + "\n…"
        return f"<details><summary><b>{html.escape(self.name)}</b>: {html.escape(', '.join(self.coordinates))}</summary><pre>{html.escape(shown)}</pre></details>"


def _from_texts(toml: str, file: str, tables: List[Tuple[str, str]]) -> Model:
    return Model._of(_carom.Model(toml, file, tables))


def load(path: Union[str, "os.PathLike[str]"]) -> Model:
    """A model from a model file."""
    return Model._of(_carom.Model.read(path))


class _Gallery:
    """The models that come with carom: ``carom.gallery("jack_in_box")``, ``carom.gallery.names()``."""

    def __call__(self, name: str) -> Model:
        return Model._of(_carom.Model.gallery(text(name, "name")))

    def names(self) -> List[str]:
        """Names of all of them."""
        return [name for name, _, _ in _carom.gallery()]

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {title}" for name, title, _ in _carom.gallery())


gallery = _Gallery()
