"""Which rows of the paper run together, with the paper's own settings."""

import pytest

from epinn.app.paper.studies import studies
from epinn.app.plan.published import rows


def test_every_row_is_in_one_study():
    assert sorted(row.name for study in studies(rows()) for row in study.rows) == sorted(row.name for row in rows())


def test_noise_levels_with_data_run_together_and_physics_alone():
    groups = [sorted({row.noise for row in study.rows}) for study in studies(rows("poisson1d")) if study.method == "epinet"]
    assert groups == [[0.0], [0.1, 0.3]]


def test_a_row_that_several_tables_repeat_is_computed_once():
    repeated = [study for study in studies(rows()) if len({row.table for row in study.rows}) > 1]
    assert [sorted(row.name for row in study.rows) for study in repeated] == [
        ["burgers-base-epochs-02", "burgers-collocation-04", "burgers-epinet-epochs-01", "burgers-noise-01"]
    ]


def test_the_settings_of_a_study_are_those_of_its_rows():
    for study in studies(rows()):
        assert all(row.matches(study.settings.flat()) for row in study.rows)


@pytest.mark.parametrize("table", ["poisson1d", "heat1d-inverse"])
def test_only_an_inverse_problem_shows_its_measurements_to_the_base_of_an_epinet(table):
    (study,) = [s for s in studies(rows(table)) if s.method == "epinet" and s.rows[0].noise]
    assert study.base_plan((0,)).noises == ((0.0,) if table == "poisson1d" else (0.1, 0.3))
