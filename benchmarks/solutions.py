"""How many solutions the nonlinear 1D Poisson problem has: a classical solver from random starts, and their distances from
the one that the paper means. A PINN that sees physics alone may end at any of them."""

import numpy as np
from scipy.integrate import solve_bvp

STARTS = 60


def exact(x):
    return np.sin(6 * x) ** 3


def system(x, y):
    u_xx = 216 * np.sin(6 * x) * np.cos(6 * x) ** 2 - 108 * np.sin(6 * x) ** 3
    return np.vstack([y[1], u_xx - 70 * (np.tanh(y[0]) - np.tanh(exact(x)))])


def main() -> None:
    rng, x, found = np.random.default_rng(0), np.linspace(-0.7, 0.7, 200), {}
    waves = [np.sin(k * np.pi * (x + 0.7) / 1.4) for k in range(1, 6)]
    for _ in range(STARTS):
        guess = exact(x) + 1.5 * sum(c * wave for c, wave in zip(rng.normal(size=5), waves, strict=True))
        ends = lambda a, b: np.array([a[0] - exact(-0.7), b[0] - exact(0.7)])  # noqa: E731
        solved = solve_bvp(system, ends, x, np.vstack([guess, np.gradient(guess, x)]), tol=1e-6, max_nodes=20_000)
        if solved.success:
            distance = round(float(np.sqrt(np.mean((solved.sol(x)[0] - exact(x)) ** 2))), 2)
            found[distance] = found.get(distance, 0) + 1
    for distance, times in sorted(found.items()):
        print(f"a solution at RMSE {distance:.2f} from the paper's: found {times} times")


if __name__ == "__main__":
    main()
