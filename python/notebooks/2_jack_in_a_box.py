# %% [markdown]
# # The jack in a box
# A rotor with four tips inside a box that moves: sixteen walls, several of which may touch at one instant.
# %%
import carom

model = carom.gallery("jack_in_box")
print(model.coordinates, len(model.walls), "walls")
motion = model.run()
print(len(motion.impacts), "impacts, audit:", motion.audit.verdict, motion.audit.hamiltonian_drift < 1e-12)
# %%
first = motion.impacts.rows()[0]
print({k: first[k] for k in ("time", "walls")})
# %% [markdown]
# At any time, on either side of a jump:
# %%
t = first["time"]
print(motion(t, side="before")["energy"], "→", motion(t)["energy"])
# %%
motion.animate()
