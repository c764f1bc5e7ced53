# %% [markdown]
# # SymPy in, SymPy out
# %%
import carom
import sympy as sp
from sympy.physics.mechanics import dynamicsymbols

t = dynamicsymbols._t
theta, x = dynamicsymbols("theta x")
m, M, l, g = sp.symbols("m M l g", positive=True)
tip = sp.Matrix([x + l * sp.sin(theta), -l * sp.cos(theta)])
velocity = tip.diff(t)
lagrangian = M * x.diff(t) ** 2 / 2 + m * (velocity.T * velocity)[0] / 2 - m * g * tip[1]
model = carom.Model(
    coordinates=[x, theta], parameters={m: 1, M: 2, l: 1, g: 9.81}, lagrangian=lagrangian,
    walls={"left": tip[0] + sp.Rational(1, 10)}, start={theta: sp.pi / 3}, until=10,
)
print(model.text)
# %%
derivation = model.derive()
sp.simplify(derivation.sympy("mass_matrix"))
# %% [markdown]
# The impact law, solved for the velocities after:
# %%
derivation.impact_law("left")["velocity_after"]
# %%
motion = model.run()
print("impacts:", len(motion.impacts), " energy kept to 1e-14:", motion.audit.hamiltonian_drift < 1e-14)
# %% [markdown]
# What has no counterpart is named:
# %%
try:
    carom.Model(coordinates=[x], lagrangian=sp.gamma(x) * x.diff(t) ** 2)
except carom.ModelError as error:
    print(str(error).strip())
