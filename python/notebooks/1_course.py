# %% [markdown]
# # Point mass, pendulum, driven double pendulum
# The course's examples beside the loop that most people write for them: fixed steps, and "turn around when the gap is below 0.1".
# %%
import carom
import numpy as np

ball = carom.Model(
    coordinates=["y"], parameters={"m": 1, "g": 9.8}, kinetic="m/2*y'^2", potential="m*g*y",
    walls={"floor": "y"}, start={"y": 1, "y'": 1}, until=5,
)
motion = ball.run()
print("first impact", motion.impacts["time"][0], " spacing", np.diff(motion.impacts["time"])[0], " y(5) =", motion["y"][-1])
# %% [markdown]
# The exact answers: first impact at (1 + √(1 + 2·9.8))/9.8, then every 2√(1 + 2·9.8)/9.8.
# %%
speed = np.sqrt(1 + 2 * 9.8)
print("errors", motion.impacts["time"][0] - (1 + speed) / 9.8, np.diff(motion.impacts["time"])[0] - 2 * speed / 9.8)
# %% [markdown]
# The usual loop: its steps are exact for this motion, so everything it gets wrong comes from the threshold.
# %%
def usual_loop(y, v, step, until, threshold=0.1, g=9.8):
    impacts = []
    for i in range(round(until / step)):
        y, v = y + v * step - g * step * step / 2, v - g * step
        if abs(y) < threshold:
            v = -v
            impacts.append((i + 1) * step)
    return impacts, y

for step in (0.05, 0.01, 0.001):
    impacts, y = usual_loop(1.0, 1.0, step, 5.0)
    print(f"step {step}: first impact {impacts[0]:.3f}, {len(impacts)} impacts instead of {len(motion.impacts)}, y(5) = {y:.3f}")
# %% [markdown]
# It turns too early, and near the floor again and again: smaller steps do not help, because the threshold stays.
# ## Pendulum against a wall
# %%
pendulum = carom.gallery("pendulum_wall")
pendulum.derive()["mass_matrix"], pendulum.derive().impact_law(pendulum.walls[0])["velocity_after"]
# %%
swing = pendulum.run()
swing
# %% [markdown]
# ## Driven double pendulum
# The first angle is prescribed; its driving torque is part of the answer.
# %%
driven = carom.gallery("driven_double_pendulum").run()
print(driven.stop.reason, [c for c in driven.columns if c.startswith("drive.")], driven.audit.verdict)
