"""Least squares with one matrix, for many right-hand sides and held back in many ways."""

import equinox as eqx
import jax.numpy as jnp
from jaxtyping import Array, Float


class Factors(eqx.Module):
    """A Jacobian as a product of orthogonal matrices and its singular values: whatever it is solved for, and however far held
    back, costs next to nothing more."""

    tall: Float[Array, "m p"]
    left: Float[Array, "p p"]
    values: Float[Array, " p"]
    right: Float[Array, "p p"]

    @classmethod
    def of(cls, jacobian: Float[Array, "m p"]) -> "Factors":
        tall, square = jnp.linalg.qr(jacobian)
        return cls(tall, *jnp.linalg.svd(square))

    def solve(self, target: Float[Array, " m"], ridges: Float[Array, " ridges"]) -> Float[Array, "ridges p"]:
        """What minimises |J x - target|^2 with each of the ridges."""
        held_back = (ridges * jnp.linalg.norm(self.values))[:, None]
        inside = (target @ self.tall) @ self.left
        found: Array = (self.values / (self.values**2 + held_back**2) * inside) @ self.right
        return found

    def times(self, x: Float[Array, " p"]) -> Float[Array, " m"]:
        return self.tall @ (self.left @ (self.values * (self.right @ x)))
