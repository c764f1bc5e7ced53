# %% [markdown]
# # Point mass, pendulum, driven double pendulum
# The course's three examples, each beside the loop that most people write for them: fixed steps, and "turn around when the gap is
# below 0.1".
#
# ## A point mass above a floor
# %%
import carom
import numpy as np

ball = carom.Model(
    coordinates=["y"], parameters={"m": 1, "g": 9.8}, kinetic="m/2*y'^2", potential="m*g*y",
    walls={"floor": "y"}, start={"y": 1, "y'": 1}, until=5,
)
motion = ball.run()
motion
# %% [markdown]
# The exact answers: first impact at (1 + √(1 + 2·9.8))/9.8, then one every 2√(1 + 2·9.8)/9.8. What is left are roundings.
# %%
times = motion.impacts["time"]
speed = np.sqrt(1 + 2 * 9.8)
print(f"first impact {times[0]:.15f}, spacing {times[1] - times[0]:.15f}")
print("off by less than 1e-15:", abs(times[0] - (1 + speed) / 9.8) < 1e-15,
      abs(times[1] - times[0] - 2 * speed / 9.8) < 1e-15)
# %% [markdown]
# The usual loop. Its steps are exact for this motion, so everything it gets wrong comes from the threshold.
# %%
def usual_loop(y, v, step, until, threshold=0.1, g=9.8):
    impacts = []
    for i in range(round(until / step)):
        y, v = y + v * step - g * step * step / 2, v - g * step
        if abs(y) < threshold:
            v = -v
            impacts.append((i + 1) * step)
    return impacts, y

print(f"exact:      first impact {times[0]:.3f}, {len(times):3d} impacts, y(5) = {motion['y'][-1]:+.3f}")
for step in (0.05, 0.01, 0.001):
    impacts, y = usual_loop(1.0, 1.0, step, 5.0)
    print(f"step {step:.3f}: first impact {impacts[0]:.3f}, {len(impacts):3d} impacts, y(5) = {y:+.3f}")
# %% [markdown]
# It turns too early, and whether it turns back inside the band depends on the step. Smaller steps do not help: the threshold stays.
#
# ## A pendulum against a wall
# %%
pendulum = carom.gallery("pendulum_wall")
law = pendulum.derive().impact_law("left")
print("gap", law["gap"], "  velocity after", law["velocity_after"])
# %% [markdown]
# It hits at the bottom, every half period of the free pendulum: 1.0701143595090463 by the arithmetic-geometric mean.
# %%
swing = pendulum.run()
hits = swing.impacts["time"]
print(f"{len(hits)} impacts, every {np.diff(hits).mean():.13f}, first at half of that: {2 * hits[0]:.13f}")
swing
# %%
def usual_pendulum(theta, v, step, until, threshold=0.1, g=9.8):
    impacts = []
    for i in range(round(until / step)):
        v -= step * g * np.sin(theta)
        theta += step * v
        if abs(np.sin(theta)) < threshold:
            v = -v
            impacts.append((i + 1) * step)
    return impacts

for step in (0.05, 0.01, 0.001):
    impacts = usual_pendulum(1.0, 0.0, step, 12.0)
    print(f"step {step:.3f}: {len(impacts):3d} impacts, first at {impacts[0]:.3f} (exact {hits[0]:.3f})")
# %% [markdown]
# ## A driven double pendulum against a wall
# A motor turns the upper arm, θ1 = ωt; the lower bob may not cross x = 0. The torque of the motor is part of the answer, and the
# law at the wall is not "turn θ2' around": the wall stands still in space, so it moves in the coordinate θ2.
# %%
driven = carom.gallery("driven_double_pendulum")
print("theta2' after an impact:", *driven.derive().impact_law("left")["velocity_after"])
run = driven.run()
print(len(run.impacts), "impacts, the audit says", run.audit.verdict)
print("the torque of the motor:", [c for c in run.columns if c.startswith("drive.")])
run
# %% [markdown]
# The loop again, with θ2'' = −(g sin θ2 + l1 ω² sin(θ2 − ωt))/l2 done by hand, and the rule that turns the angle around.
# %%
def usual_driven(step, until=5.0, threshold=0.1, m=1.0, l1=0.5, l2=1.0, g=9.8, omega=2.0):
    theta, v, impacts = 0.5, 0.0, []
    for i in range(round(until / step)):
        v -= step * (g * np.sin(theta) + l1 * omega**2 * np.sin(theta - omega * i * step)) / l2
        theta += step * v
        t = (i + 1) * step
        if abs(l1 * np.sin(omega * t) + l2 * np.sin(theta)) < threshold:
            v = -v
            impacts.append(t)
    return impacts, theta

first, last = run.impacts["time"][0], run["theta2"][-1]
print(f"exact:       {len(run.impacts):5d} impacts, first at {first:.3f}, theta2(5) = {last:+.3f}")
for step in (0.01, 0.001, 0.0001):
    impacts, theta = usual_driven(step)
    print(f"step {step:.4f}: {len(impacts):5d} impacts, first at {impacts[0]:.3f}, theta2(5) = {theta:+.3f}")
# %% [markdown]
# Three steps, three answers, none of them right: the bob is turned around again and again while it is inside the band, and the law is
# another one.
