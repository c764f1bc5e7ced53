"""The public surface as a person writes it, for the type checker: `mypy` in this folder checks it strictly. It is not run."""

import numpy as np
import carom
from concurrent.futures import ThreadPoolExecutor

model = carom.load("pendulum.toml")
motion: carom.Motion = model.run(until=10, at=np.linspace(0, 10, 11), parameters={"g": 1.62}, start={"theta'": 2.0}, tolerance=1e-12)
x: float = float(motion["theta"][0] + motion.time[0])
state: carom.State = motion(3.7, side="before")
reason: str = motion.stop.reason
table: carom.Table = model.sweep({"theta'": 0.0}, theta=np.linspace(-1, 1, 10), g=[9.8, 1.62], product=True, threads=None, on=None)
with ThreadPoolExecutor(2) as pool:
    data: carom.Dataset = model.sweep(random={"theta": (-1, 1)}, count=10, to="folder/", on=pool)
try:
    carom.gallery("x")
except carom.ModelError as error:
    for d in error.diagnostics:
        print(d["message"])
except carom.Interrupted as stop:
    m: carom.Motion | None = stop.motion
orbit: carom.Orbit = model.orbit(period=1)
print(model.derive().latex, motion.plot(), motion.animate().html, motion.save("m.html"), motion.to_pandas())
widget = model.live("g")
print(widget.values, model.sensitivity("g").matrix, names := carom.gallery.names())
