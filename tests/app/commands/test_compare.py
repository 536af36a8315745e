"""`epinn compare`."""

import pytest
from command_line import records_in, row, without_times

from epinn.judge.wording import metric, split_advice


def test_a_comparison_has_a_record_for_every_method(compared):
    assert [record["method"] for record in records_in(compared[1])] == ["epinet", "dropout", "hmc"]


@pytest.mark.parametrize(
    ("method", "published"),
    [("epinet", ("0.23", "1.00", "0.0337")), ("dropout", ("3.00", "1.00", "0.0700")), ("hmc", ("0.97", "1.00", "0.0996"))],
)
def test_a_comparison_shows_published_values_below_ours(compared, method, published):
    process, folder = compared
    (record,) = [record for record in records_in(folder) if record["method"] == method]
    ours, theirs = row(process.out, method)
    assert ours[1:4] == [metric(name, record[name]) for name in ("sharpness", "coverage", "rmse")]
    assert theirs[:4] == ["published", *published]


def test_a_comparison_passes_on_what_a_method_warns_of(compared):
    process, folder = compared
    (record,) = [record for record in records_in(folder) if record["method"] == "hmc"]
    assert record["warnings"]
    told = " ".join(line for line in process.out.splitlines() if line.startswith("hmc: ")).lower()
    for text in record["warnings"]:  # once: as the reason of the verdict, which begins with a capital, or as a note
        assert told.count(split_advice(text)[0].lower()) == 1


@pytest.mark.slow
def test_the_same_seed_gives_the_same_metrics_to_the_bit(single, compared):
    alone, together = records_in(single[1]), records_in(compared[1])[:1]
    assert without_times(alone) == without_times(together)
