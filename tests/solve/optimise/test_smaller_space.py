"""Linear algebra in the smaller space agrees with the textbook's in the larger one."""

import jax.numpy as jnp
import numpy as np
import pytest

from epinn.derivatives import memory
from epinn.solve.optimise.smaller_space import DENSE, Gram, Regular, is_dense, right_singular_vectors

SHAPES = [(4, 9), (6, 6), (9, 4)]

pytestmark = pytest.mark.usefixtures("x64")


def jacobian_of(shape):
    return jnp.asarray(np.random.default_rng(0).normal(size=shape))


@pytest.mark.slow
@pytest.mark.parametrize("columns", [(), (3,)])
@pytest.mark.parametrize("shape", SHAPES)
def test_the_solution_is_that_of_the_regularised_normal_equations(shape, columns):
    jacobian, rng = jacobian_of(shape), np.random.default_rng(1)
    rows, pull = (jnp.asarray(rng.normal(size=(size, *columns))) for size in shape)
    expected = np.linalg.solve(jacobian.T @ jacobian + 0.7 * np.eye(shape[1]), jacobian.T @ rows + pull)
    np.testing.assert_allclose(Gram.of(jacobian).solver(0.7)(rows, pull), expected, rtol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_the_smaller_matrix_is_formed(shape):
    gram = Gram.of(jacobian_of(shape))
    assert gram.matrix.shape == (min(shape), min(shape))
    np.testing.assert_allclose(gram.mean_square, np.mean(np.sum(jacobian_of(shape) ** 2, axis=1)))


@pytest.mark.parametrize("shape", SHAPES)
def test_leverage_is_the_diagonal_of_the_hat_matrix(shape):
    jacobian = jacobian_of(shape)
    hat = jacobian @ np.linalg.solve(jacobian.T @ jacobian + np.eye(shape[1]), jacobian.T)
    np.testing.assert_allclose(Regular.of(jacobian).leverage, np.diag(hat), rtol=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_a_regular_factor_solves_and_knows_its_determinant(shape):
    jacobian, rng = jacobian_of(shape), np.random.default_rng(1)
    rows, pull = (jnp.asarray(rng.normal(size=(size, 3))) for size in shape)
    matrix = jacobian.T @ jacobian + np.eye(shape[1])
    expected = np.linalg.solve(matrix, jacobian.T @ rows + pull)
    np.testing.assert_allclose(Regular.of(jacobian).solve(rows, pull), expected, rtol=1e-9)
    np.testing.assert_allclose(Regular.of(jacobian).log_determinant, np.linalg.slogdet(matrix)[1])


@pytest.mark.parametrize("shape", [(30, 20), (20, 30)])
def test_rows_with_tiny_tolerances_are_not_lost_in_rounding_error(shape):
    """Singular values up to 1e10: their squares and 1 are eighty binary digits apart."""
    rng, rank = np.random.default_rng(0), 20
    left, right = (np.linalg.qr(rng.normal(size=(size, rank)))[0] for size in shape)
    values, directions = np.logspace(-2, 10, rank), rng.normal(size=(shape[1], 5))
    inside = right.T @ directions
    variances = np.sum(inside**2 / (1 + values[:, None] ** 2), axis=0) + np.sum((directions - right @ inside) ** 2, axis=0)
    regular = Regular.of(jnp.asarray(left * values @ right.T))
    found = np.sum(directions * regular.solve(jnp.zeros((shape[0], 5)), jnp.asarray(directions)), axis=0)
    np.testing.assert_allclose(found, variances, rtol=1e-5)


@pytest.mark.parametrize("shape", SHAPES)
def test_singular_vectors_are_orthonormal_and_rebuild_the_gram_matrix(shape):
    jacobian = jacobian_of(shape)
    vectors, values = map(np.asarray, right_singular_vectors(jacobian))
    np.testing.assert_allclose(vectors @ vectors.T, np.eye(min(shape)), atol=1e-9)
    np.testing.assert_allclose((vectors.T * values**2) @ vectors, jacobian.T @ jacobian, atol=1e-9)


def test_directions_lost_in_rounding_error_are_zero():
    jacobian = jacobian_of((4, 9))
    vectors, _ = right_singular_vectors(jacobian.at[3].set(jacobian[0]))
    np.testing.assert_array_equal(vectors[0], np.zeros(9))


def test_a_matrix_is_formed_if_one_side_is_small_and_it_fits_into_memory():
    assert is_dense(DENSE, 5 * DENSE)
    assert not is_dense(DENSE + 1, DENSE + 1)
    with memory.limited_to(1):
        assert not is_dense(100, 2**21)
