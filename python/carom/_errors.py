"""What can go wrong, as exceptions."""

from __future__ import annotations

import html
import os
import traceback
from typing import TYPE_CHECKING, Any, Dict, List, NamedTuple, Optional

if TYPE_CHECKING:
    from ._motion import Motion
    from ._table import Table

Diagnostic = Dict[str, Any]


class ModelError(ValueError):
    """The model or the question is wrong; everything that is wrong with it, at once.

    >>> import carom
    >>> try:
    ...     carom.Model(coordinates=["theta"], kinetic="thetta'^2/2", until=1)
    ... except carom.ModelError as error:
    ...     print(error.diagnostics[0]["message"])
    ...     print(error.diagnostics[0]["hint"])
    unknown name `thetta`
    did you mean the coordinate `theta`?
    """

    diagnostics: List[Diagnostic]
    """Each with ``message``, ``line``, ``column``, ``hint``, ``severity`` and ``source_line``."""

    def __init__(self, message: str, diagnostics: Optional[List[Diagnostic]] = None) -> None:
        super().__init__(message)
        one = {"message": message, "line": None, "column": None, "hint": None, "severity": "error", "source_line": None}
        self.diagnostics = [one] if diagnostics is None else list(diagnostics)

    def __str__(self) -> str:
        text = str(self.args[0])
        # In a traceback the first line follows the name of the class.
        return "\n" + text if "\n" in text else text

    def __reduce__(self) -> Any:
        return (ModelError, (self.args[0], self.diagnostics))

    def _repr_html_(self) -> str:
        rows = []
        for d in self.diagnostics:
            colour = "#b00020" if d["severity"] == "error" else "#8a6d00"
            place = f" (line {d['line']})" if d["line"] else ""
            row = f"<b style='color:{colour}'>{html.escape(d['severity'])}</b>{place}: {html.escape(d['message'])}"
            if d.get("source_line"):
                pointer = " " * max(0, (d["column"] or 1) - 1) + "^"
                row += f"<pre style='margin:0 0 0 1em'>{html.escape(d['source_line'])}\n{pointer}</pre>"
            if d["hint"]:
                row += f"<div style='margin-left:1em'>{html.escape(d['hint'])}</div>"
            rows.append(f"<li>{row}</li>")
        return f"<ul>{''.join(rows)}</ul>"

    def _render_traceback_(self) -> List[str]:
        """In a notebook: the lines of the user that led here, without the frames of this package, and the diagnostics."""
        own = os.path.dirname(os.path.abspath(__file__))
        frames = [f for f in traceback.extract_tb(self.__traceback__) if not os.path.abspath(f.filename).startswith(own + os.sep)]
        # The first frames are those of the machinery that runs a cell.
        cell = next((k for k, f in enumerate(frames) if "ipykernel" in f.filename or f.filename.startswith("<")), 0)
        lines = [line.rstrip("\n") for line in traceback.format_list(frames[cell:])]
        head = ["Traceback (most recent call last):", *lines] if lines else []
        return [*head, "ModelError:" + ("" if str(self).startswith("\n") else " ") + str(self)]


class Interrupted(KeyboardInterrupt):
    """Ctrl-C during a computation; what was computed comes along."""

    motion: Optional["Motion"]
    """The motion up to the interrupt, when it was a run."""
    table: Optional["Table"]
    """The rows that were done, when it was a sweep into memory."""

    def __init__(self, message: str, motion: Optional["Motion"] = None, table: Optional["Table"] = None) -> None:
        super().__init__(message)
        self.motion = motion
        self.table = table

    def __reduce__(self) -> Any:
        return (Interrupted, (self.args[0], self.motion, self.table))


class FailedChunk(NamedTuple):
    """A chunk of a sweep that could not be made."""

    chunk: int
    """Which, counted from 0."""
    first: int
    """Its first trajectory."""
    last: int
    """The trajectory after its last."""
    error: Exception
    """Why."""
    start: Optional[Dict[str, float]] = None
    """The values that were varied, where it is one trajectory."""

    def _which(self) -> str:
        if self.start is None:
            return f"trajectories {self.first} to {self.last - 1}"
        return f"trajectory {self.first} ({', '.join(f'{name} = {value!r}' for name, value in self.start.items())})"


class SweepError(RuntimeError):
    """Some chunks of a sweep failed; all others are written, and the same call tries these again."""

    failed: List[FailedChunk]
    """Which, and why."""

    def __init__(self, failed: List[FailedChunk], chunks: int) -> None:
        lines = [f"{len(failed)} of {chunks} chunks failed; the others are written, and the same call tries these again"]
        lines += [f"  {c._which()}: {type(c.error).__name__}: {str(c.error).strip()}" for c in failed[:10]]
        super().__init__("\n".join(lines))
        self.failed = list(failed)
        self._chunks = chunks

    def __reduce__(self) -> Any:
        return (SweepError, (self.failed, self._chunks))
