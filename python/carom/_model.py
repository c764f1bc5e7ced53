"""Models: from files, texts, the gallery, keyword arguments and SymPy."""

from __future__ import annotations

import html
import os
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from . import _carom, _insight, _sweep, _toml
from ._derivation import Derivation
from ._errors import Interrupted, ModelError
from ._motion import Motion
from ._numbers import number, numbers, optional_count, optional_number, text
from ._table import Table


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

        if isinstance(coordinates, str) or not isinstance(coordinates, Sequence):
            raise ModelError(f"`coordinates` must be a list of names, not {coordinates!r}")
        top("name", None if name is None else text(name, "name"))
        top("coordinates", [_toml.name(c, "coordinates") for c in coordinates])
        names = None if momenta is None else [_toml.name(p, "momenta") for p in momenta]
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
        values = [(k, number(v, k)) for k, v in _toml.mapping(parameters, "parameters").items()]
        values += [(k, number(v, k)) for k, v in _toml.mapping(start, "start").items()]
        question = {
            "values": values,
            "until": optional_number(until, "until"),
            "since": optional_number(since, "since"),
            "tolerance": optional_number(tolerance, "tolerance"),
            "rk4": optional_number(step, "step"),
            "samples": optional_count(samples, "samples", 1),
            "at": None if at is None else numbers(at, "at"),
            "project": None if project is None else bool(project),
            "max_impacts": optional_count(max_impacts, "max_impacts"),
            "max_steps": optional_count(max_steps, "max_steps"),
            "sequential": None if sequential is None else bool(sequential),
            "sensitivity": bool(sensitivity),
            "dense": bool(dense),
        }
        return self._simulate(question)

    def _simulate(self, question: Dict[str, Any]) -> Motion:
        native, interrupt = self._native.run(question)
        motion = Motion(self, native, question)
        if interrupt is None:
            return motion
        if isinstance(interrupt, KeyboardInterrupt):
            raise Interrupted(f"interrupted at t = {motion.stop.time:g}", motion=motion) from None
        raise interrupt

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
    ) -> Any:
        """Many trajectories, one row each: names and their values, in a mapping or as keywords.

        ``product=True`` takes every combination, ``False`` the first values of all names, then the second, and so on.
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
        self,
        *by: str,
        until: Any = None,
        parameters: Optional[Mapping[str, Any]] = None,
        start: Optional[Mapping[str, Any]] = None,
        **options: Any,
    ) -> Dict[str, Any]:
        """Exact derivatives of the end and of everything that happens, by start values, parameters and restitution.

        ``by`` are names as of ``carom run --sensitivity``: ``"start"``, ``"g"``, ``"restitution.left"``. The answer is the
        JSON of that command.
        """
        given = {"until": optional_number(until, "until"), "sensitivity": ",".join(text(b, "by") for b in by or ("start",))}
        return _insight.ask(self, "run", _insight.words({**given, **options}), parameters, start)

    def orbit(self, *, parameters: Optional[Mapping[str, Any]] = None, start: Optional[Mapping[str, Any]] = None, **options: Any) -> Dict[str, Any]:
        """A periodic orbit and its multipliers; keywords are the options of ``carom orbit``, the answer is its JSON."""
        return _insight.ask(self, "orbit", _insight.words(options), parameters, start)

    def follow(self, *, parameters: Optional[Mapping[str, Any]] = None, start: Optional[Mapping[str, Any]] = None, **options: Any) -> Dict[str, Any]:
        """A periodic orbit followed in a parameter; keywords are the options of ``carom follow``, the answer is its JSON."""
        return _insight.ask(self, "follow", _insight.words(options), parameters, start)

    def lyapunov(self, *, parameters: Optional[Mapping[str, Any]] = None, start: Optional[Mapping[str, Any]] = None, **options: Any) -> Dict[str, Any]:
        """Lyapunov exponents; keywords are the options of ``carom lyapunov``, the answer is its JSON."""
        return _insight.ask(self, "lyapunov", _insight.words(options), parameters, start)

    def live(
        self,
        *names: str,
        until: Any = None,
        plots: Sequence[str] = (),
        ranges: Optional[Mapping[str, Tuple[Any, Any]]] = None,
    ) -> Any:
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
