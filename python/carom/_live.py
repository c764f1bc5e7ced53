"""A model under one's hands: sliders, animation and plots in a notebook."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Protocol, Sequence

from ._errors import ModelError

if TYPE_CHECKING:
    from ._model import Model
    from ._motion import Motion

WIDGET = Path(__file__).with_name("widget.js")
_FRAMES = 401


def sliders(model: "Model", names: Optional[Sequence[str]], ranges: Dict[str, Any]) -> List[Dict[str, Any]]:
    """What can be moved: parameters and start values, around what the model says."""
    starts = [c + suffix for c in model.coordinates for suffix in ("", "'")]
    parameters = list(model.parameters)
    wanted = list(names) if names is not None else parameters + starts
    found: List[Dict[str, Any]] = []
    for name in wanted:
        try:
            value = model.value(name)
        except ModelError:
            if names is not None or name in ranges:
                raise
            continue
        if value is None:
            # What the model leaves open is 0, unless constraints determine it.
            if model.constraints:
                continue
            value = 0.0
        reach = abs(value) if value else 1.0
        low, high = ranges.get(name, (min(0.0, value - reach) if name in parameters else value - 2 * reach, value + (reach if name in parameters else 2 * reach)))
        kind = "parameter" if name in parameters else "velocity" if name.endswith("'") else "position"
        found.append({"name": name, "kind": kind, "value": value, "min": float(low), "max": float(high)})
    return found


class LiveWidget(Protocol):
    """What :meth:`Model.live` gives: a widget of ``anywidget``, with the values of its sliders and the motion that it shows."""

    @property
    def values(self) -> Dict[str, float]:
        """The values of the sliders that were moved."""

    @property
    def motion(self) -> Optional["Motion"]:
        """What is shown."""


class Answers:
    """What a widget shows for values of its sliders; without a widget, so that it can be tested without a notebook."""

    def __init__(self, model: "Model", until: Optional[float]) -> None:
        self._model = model
        self._until = until
        self._parameters = set(model.parameters)
        self._names = self._parameters | {c + suffix for c in model.coordinates for suffix in ("", "'")}
        self.values: Dict[str, float] = {}
        self.motion: Optional[Motion] = None

    def set(self, values: Dict[str, Any]) -> Dict[str, Any]:
        """Simulates with these values; a mistake is shown, and the last good scene stays."""
        wanted = {**self.values, **values}
        # A start inside a wall is where its slider is; what no slider can say is forgotten.
        self.values = {k: v for k, v in wanted.items() if k in self._names and isinstance(v, (int, float))}
        chosen = {k: v for k, v in wanted.items() if k in self._parameters}
        start = {k: v for k, v in wanted.items() if k not in self._parameters}
        try:
            motion = self._model.run(self._until, parameters=chosen, start=start, samples=_FRAMES)
            scene = json.loads(motion._native.scene())
            self.motion = motion
            return {"scene": scene, "error": None}
        except Exception as error:
            # Whatever it is: a page that hears nothing waits for ever.
            return {"error": str(error).strip() or type(error).__name__}


def live(model: "Model", names: Optional[Sequence[str]], until: Optional[float], plots: Sequence[str], ranges: Dict[str, Any]) -> LiveWidget:
    """The widget."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise ImportError("model.live() needs anywidget: pip install anywidget") from None
    if not WIDGET.exists():
        raise ModelError("this build of carom has no widget: `bash studio/build` makes it, before the wheel is built")
    answers = Answers(model, until)

    class Live(anywidget.AnyWidget):  # type: ignore[misc]
        """Traits as the page reads them; a message {type: "set", values, number} asks for another scene, and is answered when
        ``answered`` is its number (one more than before where it has none).

        ``values`` are the values of the sliders that were moved, ``motion`` is what is shown.
        """

        _esm = WIDGET
        model_text = traitlets.Unicode().tag(sync=True)
        sliders = traitlets.List().tag(sync=True)
        scene = traitlets.Any().tag(sync=True)
        plots = traitlets.Any().tag(sync=True)
        error = traitlets.Unicode(None, allow_none=True).tag(sync=True)
        # The number of the question that was answered last: it changes even where scene and error stay as they are.
        answered = traitlets.Int(0).tag(sync=True)

        def __init__(self) -> None:
            first = answers.set({})
            super().__init__(
                model_text=model.text, sliders=sliders(model, names, ranges), plots=list(plots), scene=first.get("scene"), error=first["error"]
            )
            self.on_msg(self._asked)

        @property
        def values(self) -> Dict[str, float]:
            return dict(answers.values)

        @property
        def motion(self) -> Optional["Motion"]:
            return answers.motion

        def _asked(self, _: Any, content: Any, __: Any) -> None:
            if isinstance(content, dict) and content.get("type") == "set":
                values, number = content.get("values"), content.get("number")
                answer = answers.set(values if isinstance(values, dict) else {})
                # All of it in one message.
                with self.hold_sync():
                    for name, value in answer.items():
                        setattr(self, name, value)
                    self.answered = number if isinstance(number, int) else self.answered + 1

    widget: LiveWidget = Live()
    return widget
