"""Classical solvers: what the solutions of the suite are known from."""
