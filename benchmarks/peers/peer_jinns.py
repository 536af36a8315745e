"""Seconds per Adam step of the paper's 1D PINN in jinns."""

from functools import partial

import common
import equinox as eqx
import jax
import jax.numpy as jnp
import jinns
import optax
from jinns.loss import BoundaryConditionAbstract, LossPDEStatio, LossWeightsPDEStatio, PDEStatio
from jinns.loss import equation_on_all_facets_equal as at_both_ends


class Poisson(PDEStatio):
    def equation(self, x, u, params):
        u_xx = jinns.loss.laplacian_rev(x, u, params, method="loop")  # a little faster here than the default
        return common.DIFFUSION * u_xx - common.source(x, jnp)


class Dirichlet(BoundaryConditionAbstract):
    @at_both_ends
    def equation_u(self, x, u, params):
        return u(x, params)

    @at_both_ends
    def equation_f(self, x, params, gridify=False):
        return common.exact(x, jnp)[None]


def xavier_linear(inputs: int, outputs: int, key: jax.Array) -> eqx.nn.Linear:
    layer = eqx.nn.Linear(inputs, outputs, key=key)
    weight = jax.nn.initializers.glorot_uniform(in_axis=1, out_axis=0)(key, (outputs, inputs))
    return eqx.tree_at(lambda layer: (layer.weight, layer.bias), layer, (weight, jnp.zeros(outputs)))


def main() -> None:
    key = jax.random.key(0)
    layers = (
        (xavier_linear, 1, 32),
        (jnp.tanh,),
        (xavier_linear, 32, 32),
        (jnp.tanh,),
        (xavier_linear, 32, 32),
        (jnp.tanh,),
        (xavier_linear, 32, 1),
    )
    u, weights = jinns.nn.PINN_MLP.create(key=key, eqx_list=layers, eq_type="PDEStatio")
    params = jinns.parameters.Params(nn_params=weights, eq_params={})
    loss = LossPDEStatio(
        u=u,
        dynamic_loss=Poisson(),
        boundary_condition=Dirichlet(),
        # jinns takes the sum of the two ends, not their mean.
        loss_weights=LossWeightsPDEStatio(dyn_loss=1.0, boundary_loss=common.BOUNDARY_WEIGHT / 2),
        params=params,
    )
    data = jinns.data.CubicMeshPDEStatio(key=key, n=100, nb=2, dim=1, min_pts=(-1.0,), max_pts=(1.0,), method="grid")
    # A grid of jinns includes the ends.
    data = eqx.tree_at(lambda data: data.omega, data, jnp.asarray(common.INTERIOR))
    optimizer = optax.adam(common.LEARNING_RATE)
    opt_state = optimizer.init(params)

    # `jinns.solve` compiles at every call. Inside `jit`, for which jinns has the option `ahead_of_time=False`, it is compiled
    # once; a step then also takes a third less time than in a plain call.
    @partial(jax.jit, static_argnums=0)
    def solve(steps, params, opt_state):
        params, _, _, _, _, opt_state, *_ = jinns.solve(
            n_iter=steps,
            init_params=params,
            opt_state=opt_state,
            data=data,
            loss=loss,
            optimizer=optimizer,
            verbose=False,
            ahead_of_time=False,
        )
        return params, opt_state

    def run(steps: int) -> None:
        nonlocal params, opt_state
        params, opt_state = jax.block_until_ready(solve(steps, params, opt_state))

    common.report("jinns", "jinns", run, jax.vmap(lambda x: u(x, params)))


if __name__ == "__main__":
    main()
