"""The passage to double precision and back."""

import jax.numpy as jnp
import numpy as np

from epinn.solve.double import cast_like, in_double


def test_inside_is_double_outside_is_not():
    seen = []

    def third(tree, name):
        made = jnp.ones(2) / 3
        seen.extend([tree["x"].dtype, tree["n"].dtype, made.dtype])
        return {"made": made, "name": name}

    found = in_double(third, {"x": jnp.ones(2), "n": jnp.arange(2)}, "kept")
    assert seen == [jnp.float64, jnp.int32, jnp.float64]
    assert found["name"] == "kept"
    np.testing.assert_array_equal(found["made"], np.ones(2) / 3)
    assert jnp.ones(2).dtype == jnp.float32


def test_the_way_back_is_to_the_precision_of_another_tree():
    found = cast_like({"a": np.ones((3, 2)), "b": np.zeros(2)}, {"a": jnp.ones(2), "b": jnp.zeros(2, jnp.float16)})
    assert (found["a"].dtype, found["b"].dtype) == (jnp.float32, jnp.float16)
    assert found["a"].shape == (3, 2)
