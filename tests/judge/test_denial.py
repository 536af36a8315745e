"""Outliers from end to end: the verdict on a Gaussian band names them, and Student's t noise covers the truth."""

import numpy as np
import pytest

import epinn

R, K, START, SIGMA = 0.8, 10.0, 0.5, 0.3
T = np.linspace(0, 10, 30)
FAR = [19, 21, 23]  # readings on the plateau, ten sigma too high


def growth(noise):
    values = K / (1 + (K / START - 1) * np.exp(-R * T)) + SIGMA * np.random.default_rng(0).standard_normal(len(T))
    values[FAR] += 10 * SIGMA
    return epinn.Problem(
        domain=epinn.Box(t=(0, 10)),
        equation=lambda u, r, K: u.t - r * u * (1 - u / K),
        data=epinn.Data(T, values, sigma=SIGMA, noise=noise),
        unknowns={"r": epinn.Unknown(guess=0.5, positive=True), "K": epinn.Unknown(guess=8.0, positive=True)},
        name="logistic growth",
    )


def band_of(problem):
    return epinn.attach(epinn.fit(problem, key=0), problem, method="laplace", key=1)


def distances(band):
    found = band.unknowns()
    return {name: abs(float(found[name].mean) - true) / float(found[name].std) for name, true in (("r", R), ("K", K))}


@pytest.mark.slow
def test_outliers_are_named_and_students_noise_covers_the_truth(tmp_path):
    gaussian = band_of(growth("gaussian"))
    assert distances(gaussian)["K"] > 1.96
    assert gaussian.verdict.word == "too narrow"
    assert "3 of 30 readings of 'data' are outliers" in gaussian.verdict.why[0]
    assert 'noise="student"' in gaussian.verdict.advice[0]

    student = band_of(growth("student"))
    assert max(distances(student).values()) < 1.96
    assert student.verdict.word == "trustworthy"

    student.save(tmp_path / "growth.safetensors")
    again = epinn.load(tmp_path / "growth.safetensors", growth("student"))
    assert np.array_equal(again.predict(T[:, None]).mean, student.predict(T[:, None]).mean)
    assert again.pinn.field_noise == student.pinn.field_noise
    assert student.noise["u"] == pytest.approx(SIGMA * 2**0.5)
