"""A model under one's hands: sliders, animation and plots in a notebook."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence

from ._errors import ModelError

if TYPE_CHECKING:
    from ._model import Model

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


class Answers:
    """What a widget shows for values of its sliders; without a widget, so that it can be tested without a notebook."""

    def __init__(self, model: "Model", until: Optional[float]) -> None:
        self._model = model
        self._until = until
        self._parameters = set(model.parameters)
        self._values: Dict[str, float] = {}

    def set(self, values: Dict[str, Any]) -> Dict[str, Any]:
        """Simulates with these values; a mistake is shown, and the last good scene stays."""
        self._values.update(values)
        chosen = {k: v for k, v in self._values.items() if k in self._parameters}
        start = {k: v for k, v in self._values.items() if k not in self._parameters}
        try:
            motion = self._model.run(self._until, parameters=chosen, start=start, samples=_FRAMES)
            return {"scene": json.loads(motion._native.scene()), "error": None}
        except ModelError as error:
            return {"error": str(error).strip()}


def live(model: "Model", names: Optional[Sequence[str]], until: Optional[float], plots: Sequence[str], ranges: Dict[str, Any]) -> Any:
    """The widget."""
    try:
        import anywidget
        import traitlets
    except ImportError:
        raise ImportError("model.live() needs anywidget: pip install anywidget") from None
    if not WIDGET.exists():
        raise ModelError("this build of carom has no widget: it is made by `npm run build` in studio/ before the wheel is built")
    answers = Answers(model, until)

    class Live(anywidget.AnyWidget):  # type: ignore[misc]
        """Traits as the page reads them; a message {type: "set", values} asks for another scene."""

        _esm = WIDGET
        model_text = traitlets.Unicode().tag(sync=True)
        sliders = traitlets.List().tag(sync=True)
        scene = traitlets.Any().tag(sync=True)
        plots = traitlets.Any().tag(sync=True)
        error = traitlets.Unicode(None, allow_none=True).tag(sync=True)

        def __init__(self) -> None:
            first = answers.set({})
            super().__init__(
                model_text=model.text, sliders=sliders(model, names, ranges), plots=list(plots), scene=first.get("scene"), error=first["error"]
            )
            self.on_msg(self._asked)

        def _asked(self, _: Any, content: Any, __: Any) -> None:
            if isinstance(content, dict) and content.get("type") == "set":
                for name, value in answers.set(dict(content.get("values") or {})).items():
                    setattr(self, name, value)

    return Live()
