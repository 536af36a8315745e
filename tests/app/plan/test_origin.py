"""Where a network comes from: found again from its description, with the values that belong to it."""

import json

from epinn.app.plan.origin import Origin


def test_an_origin_is_found_again_with_its_unknowns(tmp_path, rejects):
    path = tmp_path / "weights.safetensors"
    path.write_bytes(b"some weights")
    origin = Origin.find(str(path), "1x5x1:tanh", unknowns={"k": 0.5})
    description = json.loads(json.dumps(origin.describe()))
    assert Origin.from_description(description) == origin
    assert Origin.from_description(description).unknowns == {"k": 0.5}
    assert len({origin, Origin.find(str(path), "1x5x1:tanh")}) == 2
    path.write_bytes(b"other weights")
    with rejects("changed"):
        Origin.from_description(description)


def test_origins_of_older_folders_have_no_unknowns(tmp_path):
    path = tmp_path / "weights.safetensors"
    path.write_bytes(b"some weights")
    description = Origin.find(str(path), "1x5x1:tanh").describe()
    del description["unknowns"]
    assert Origin.from_description(description).unknowns == {}
