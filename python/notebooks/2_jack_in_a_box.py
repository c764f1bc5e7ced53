# %% [markdown]
# # The jack in a box
# A jack with four tips inside a box that is shaken: sixteen walls, several of which may touch at one instant.
# %%
import carom

model = carom.gallery("jack_in_box")
print(model.coordinates, len(model.walls), "walls")
motion = model.run()
print(len(motion.impacts), "impacts, the audit says", motion.audit.verdict)
# %%
motion.animate()
# %% [markdown]
# Every impact is a row: when, which walls, the impulses, the state on both sides.
# %%
motion.impacts
# %% [markdown]
# At any time, on either side of a jump. Impacts are elastic and keep the energy; the force that shakes the box changes it.
# %%
t = motion.impacts["time"][0]
before, after = motion(t, side="before"), motion(t)
print("theta' %.6f before, %.6f after" % (before["theta'"], after["theta'"]))
print("energy %.6f before, %.6f after" % (before["energy"], after["energy"]))
# %%
energy = motion["energy"]
print("energy from %.1f to %.1f within the motion" % (energy.min(), energy.max()))
