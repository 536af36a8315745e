"""Regularised linear algebra with a Jacobian J of m rows and p parameters, in the smaller of its two spaces.

    (J'J + ridge)^-1 J' = J' (JJ' + ridge)^-1

so whatever needs the left side, a system of p equations, can have it from one of m. The cost is m p min(m, p).
"""

from collections.abc import Callable

import equinox as eqx
import jax
import jax.numpy as jnp
from jax.scipy.linalg import cho_factor, cho_solve, solve_triangular
from jaxtyping import Array, Float

from ...derivatives import memory

DENSE = 8000  # rows or parameters up to which a matrix of that side is factorised
FAINT = 1e-6  # a singular value this much smaller than the largest is rounding error


def is_dense(rows: int, parameters: int) -> bool:
    """Whether a Jacobian of this shape may be formed: it fits into memory, and one of its sides can be factorised."""
    return min(rows, parameters) <= DENSE and 8 * rows * parameters <= memory.available()


class Gram(eqx.Module):
    """A Jacobian with its products with itself: JJ' if it has no more rows than columns, else J'J."""

    jacobian: Float[Array, "m p"]
    matrix: Float[Array, "k k"]

    @classmethod
    def of(cls, jacobian: Float[Array, "m p"]) -> "Gram":
        m, p = jacobian.shape
        # on a CPU, a product along rows that are stored one after the other takes less time
        across = jacobian if m <= p else jax.lax.optimization_barrier(jacobian.T)  # type: ignore[no-untyped-call]
        return cls(jacobian, across @ across.T)

    @property
    def is_of_rows(self) -> bool:
        m, p = self.jacobian.shape
        return m <= p

    @property
    def mean_square(self) -> Float[Array, ""]:
        """The mean squared length of a row."""
        return jnp.trace(self.matrix) / len(self.jacobian)

    def solver(self, ridge: Float[Array, ""] | float) -> Callable[[Float[Array, "m *n"], Float[Array, "p *n"]], Array]:
        """(J'J + ridge)^-1 (J' rows + pull): what minimises |J x - rows|^2 + ridge |x - pull / ridge|^2, column by column; for
        several right-hand sides, one after the other, with one factorisation."""
        factor = cho_factor(self.matrix + ridge * jnp.eye(len(self.matrix)))

        def solve(rows: Float[Array, "m *n"], pull: Float[Array, "p *n"]) -> Float[Array, "p *n"]:
            if not self.is_of_rows:
                return cho_solve(factor, self.jacobian.T @ rows + pull)
            center = pull / ridge
            return center + self.jacobian.T @ cho_solve(factor, rows - self.jacobian @ center)

        return solve


class Regular(eqx.Module):
    """A Jacobian with the triangular factor R of R'R = JJ' + 1 or, if it has more rows than columns, J'J + 1.

    It comes from J itself by orthogonal transformations. Products of J with itself have only half of its digits: where tight
    tolerances have made J large, too few to be factorised at all.
    """

    jacobian: Float[Array, "m p"]
    factor: Float[Array, "k k"]

    @classmethod
    def of(cls, jacobian: Float[Array, "m p"]) -> "Regular":
        tall = jacobian.T if jacobian.shape[0] <= jacobian.shape[1] else jacobian
        return cls(jacobian, jnp.linalg.qr(jnp.concatenate([tall, jnp.eye(tall.shape[1])]), mode="r"))

    def solve(self, rows: Float[Array, "m *n"], pull: Float[Array, "p *n"]) -> Float[Array, "p *n"]:
        """(J'J + 1)^-1 (J' rows + pull), column by column."""
        m, p = self.jacobian.shape
        if m > p:
            return self._inverse(self.jacobian.T @ rows + pull)
        return pull + self.jacobian.T @ self._inverse(rows - self.jacobian @ pull)

    @property
    def log_determinant(self) -> Float[Array, ""]:
        """Of JJ' + 1, which is that of J'J + 1."""
        return 2 * jnp.sum(jnp.log(jnp.abs(jnp.diag(self.factor))))

    @property
    def leverage(self) -> Float[Array, " m"]:
        """How far each row decides its own fitted value: the diagonal of J (J'J + 1)^-1 J'."""
        m, p = self.jacobian.shape
        if m > p:
            return jnp.sum(solve_triangular(self.factor, self.jacobian.T, trans=1) ** 2, axis=0)
        return 1 - jnp.sum(solve_triangular(self.factor, jnp.eye(m), trans=1) ** 2, axis=0)

    def _inverse(self, sides: Float[Array, "k *n"]) -> Float[Array, "k *n"]:
        return solve_triangular(self.factor, solve_triangular(self.factor, sides, trans=1))


def right_singular_vectors(jacobian: Float[Array, "m p"]) -> tuple[Float[Array, "k p"], Float[Array, " k"]]:
    """Orthonormal directions of the parameters that the rows determine, and how well: right singular vectors (as rows) and
    singular values, which ascend. Vectors that are lost in rounding error are zero."""
    gram = Gram.of(jacobian)
    squares, vectors = jnp.linalg.eigh(gram.matrix)
    values = jnp.sqrt(jnp.maximum(squares, 0))
    if not gram.is_of_rows:
        return vectors.T, values
    clear = values > FAINT * values[-1]
    return jnp.where(clear[:, None], vectors.T @ jacobian / jnp.where(clear, values, 1.0)[:, None], 0.0), values
