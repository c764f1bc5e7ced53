# %% [markdown]
# # The rolling disk of the paper
# Rolling without slipping is two nonholonomic rows; the wall acts through the constraint.
# %%
import carom
import numpy as np

disk = carom.gallery("rolling_disk")
print(disk.coordinates, disk.constraints, disk.walls)
motion = disk.run()
print(len(motion.impacts), "impacts; largest violation of a row:", motion.audit.constraint_drift)
# %%
energy = motion["energy"]
print("energy changes by", np.ptp(energy) / abs(energy[0]))
# %% [markdown]
# The Hamiltonian side moves the same:
# %%
other = carom.gallery("rolling_disk_hamiltonian").run(at=motion.time)
same = [c for c in disk.coordinates if c in other.columns]
print(same, max(float(np.max(np.abs(motion[c] - other[c]))) for c in same) < 1e-9)
