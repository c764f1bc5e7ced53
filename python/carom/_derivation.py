"""What is derived from a model: equations of motion, constraints, the impact law."""

from __future__ import annotations

import html
import json
from typing import Any, Dict, List, Tuple

from . import _carom
from ._errors import ModelError


class Derivation:
    """The derived mechanics of a model; a notebook shows it typeset.

    >>> import carom
    >>> derivation = carom.gallery("bouncing_mass").derive()
    >>> derivation["mass_matrix"]
    [['m', '0'], ['0', 'm']]
    >>> derivation.impact_law("floor")["velocity_after"]
    ["x'", "-y'"]
    """

    def __init__(self, native: _carom.Model) -> None:
        self._native = native
        self._json: Dict[str, Any] = json.loads(native.report("json"))

    def __reduce__(self) -> Any:
        return (_derived, (self._native.text, self._native.file, list(self._native.tables)))

    def __copy__(self) -> "Derivation":
        return self

    def __deepcopy__(self, memo: Any) -> "Derivation":
        return self

    @property
    def latex(self) -> str:
        """A LaTeX file that compiles as it is."""
        return self._native.report("latex")

    @property
    def markdown(self) -> str:
        """Markdown with LaTeX mathematics."""
        return self._native.report("markdown")

    @property
    def html(self) -> str:
        """A page that opens offline."""
        return self._native.report("html")

    @property
    def data(self) -> Dict[str, Any]:
        """Everything, as ``carom derive --json`` has it."""
        return self._json

    def code(self, language: str = "c") -> str:
        """The derived expressions as source text: ``c``, ``rust`` or ``sympy``."""
        if language not in ("c", "rust", "sympy"):
            raise ModelError(f"there is code in c, rust and sympy, not {language!r}")
        return self._native.report(language)

    def __getitem__(self, name: str) -> Any:
        """A quantity as formulas: ``derivation["mass_matrix"]``."""
        if name not in self._json:
            raise KeyError(f"nothing called {name!r} is derived: there is {', '.join(self._json)}")
        return _texts(self._json[name])

    def impact_law(self, wall: str) -> Dict[str, Any]:
        """The law at a wall: gap, normal, impulse and velocities after, as formulas."""
        walls: List[Dict[str, Any]] = self._json.get("walls", [])
        for found in walls:
            if found["name"] == wall:
                law: Dict[str, Any] = _texts({k: v for k, v in found.items() if k != "impact_solution"})
                law.update(_texts(found.get("impact_solution") or {}))
                return law
        names = ", ".join(found["name"] for found in walls) or "none"
        raise ModelError(f"unknown wall {wall!r}: there is {names}")

    def sympy(self, name: str | None = None, *, dynamic: bool = False) -> Any:
        """A derived quantity as a SymPy object; without a name, all of them by name.

        Velocities are symbols ``x'``, which go back into a model as they are; ``dynamic=True`` gives functions of time in their place,
        ``x(t)`` and ``Derivative(x(t), t)``, as ``dynamicsymbols`` has them.

        >>> import carom
        >>> derivation = carom.gallery("bouncing_mass").derive()
        >>> derivation.sympy("mass_matrix")
        Matrix([
        [m, 0],
        [0, m]])
        >>> derivation.sympy("gap_rates"), derivation.sympy("gap_rates", dynamic=True)
        (Matrix([[y']]), Matrix([[Derivative(y(t), t)]]))
        """
        # Our own source text, made from checked names: assignments of expressions and nothing else.
        space: Dict[str, Any] = {}
        exec(compile(self._native.report("sympy"), "<derived equations>", "exec"), space)  # noqa: S102
        derived: Dict[str, Any] = space["derived"]
        if dynamic:
            derived = {key: _dynamic(value, self._native.coordinates) for key, value in derived.items()}
        if name is None:
            return derived
        if name not in derived:
            raise KeyError(f"nothing called {name!r} is derived: there is {', '.join(derived)}")
        return derived[name]

    def __str__(self) -> str:
        return self._native.report("text")

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        return self._fragment()

    def _repr_markdown_(self) -> str:
        return self.markdown

    def _fragment(self) -> str:
        """The body of the page without its fonts; MathML shows with those of the browser."""
        page = self.html
        begin, end = page.find("<body"), page.rfind("</body>")
        body = page[page.find(">", begin) + 1 : end] if begin >= 0 else f"<pre>{html.escape(str(self))}</pre>"
        return body if len(body.encode()) < 60_000 else f"<pre>{html.escape(str(self))[:50_000]}</pre>"


def _dynamic(value: Any, coordinates: List[str]) -> Any:
    """Coordinates and their rates as functions of the time of ``dynamicsymbols``."""
    from sympy.physics.mechanics import dynamicsymbols

    if isinstance(value, dict):
        return {key: _dynamic(inner, coordinates) for key, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(_dynamic(inner, coordinates) for inner in value)
    if not hasattr(value, "free_symbols"):
        return value
    moving = {}
    for symbol in value.free_symbols:
        plain = symbol.name.rstrip("'")
        if plain in coordinates:
            moving[symbol] = dynamicsymbols(plain, len(symbol.name) - len(plain))
    return value.subs(moving)


def _derived(toml: str, file: str, tables: List[Tuple[str, str]]) -> Derivation:
    return Derivation(_carom.Model(toml, file, tables))


def _texts(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {"text", "latex"}:
            return value["text"]
        return {key: _texts(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_texts(inner) for inner in value]
    return value
