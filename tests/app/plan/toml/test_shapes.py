"""Shapes in TOML files: the same as in Python, never executed, and one line for what cannot be read."""

import math

import numpy as np
import pytest
import trimesh

import epinn
from epinn import InputError
from epinn.app.plan.toml.document import read_document
from epinn.app.plan.toml.shapes import MOST, read_shape
from epinn.derivatives.expression import Number
from epinn.problem.geometry.during import During

PLATE = "Rectangle(x=(0, 200), y=(0, 100)) - Disc(x=100, y=50, radius=20, name='hole')"
FILE = f"""
[constants]
R = 20
[domain]
shape = "{PLATE.replace("radius=20", "radius=R")}"
t = [0, 60]
[[equation]]
expression = "T.t = T.xx + T.yy"
[[boundary]]
on = "hole"
value = 350
[[boundary]]
kind = "neumann"
on = ["x", "y"]
value = 0
[[initial]]
value = 300
"""


def written(tmp_path, text):
    path = tmp_path / "plate.toml"
    path.write_text(text)
    return path


def test_a_file_says_its_domain_as_a_shape(tmp_path):
    problem = read_document(written(tmp_path, FILE)).problem
    plate = epinn.Rectangle(x=(0, 200), y=(0, 100)) - epinn.Disc(x=100, y=50, radius=20, name="hole")
    assert problem.domain == plate.during(t=(0, 60))
    assert isinstance(problem.domain, During)
    hole = np.asarray(problem.channels(0)[1].points)
    assert np.allclose(np.hypot(hole[:, 0] - 100, hole[:, 1] - 50), 20, rtol=1e-5)
    assert read_document(written(tmp_path, FILE)).problem.same_as(problem)


@pytest.mark.parametrize(
    "shape",
    [
        epinn.Ellipse(x=0, y=0, radii=(2, 1), angle=30),
        epinn.Polygon(x=(0, 2, 1), y=(0, 0, 1), name="wedge") & epinn.Disc(x=0, y=0, radius=1),
        epinn.Rectangle(x=(0, 4), y=(0, 1)) - (epinn.Disc(x=1, y=0, radius=0.5) | epinn.Disc(x=3, y=0, radius=0.5)),
        epinn.Cuboid(x=(0, 2), y=(0, 1), z=(0, 1)) - epinn.Cylinder(x=1, y=0.5, z=(-1, 2), radius=0.2, name="bore"),
        epinn.Extrusion(epinn.Rectangle(x=(0, 2), y=(0, 1)) - epinn.Disc(x=1, y=0.5, radius=0.2), z=(0, 0.1), name="part"),
        epinn.Sphere(x=0, y=0, z=-1, radius=2) | epinn.Cylinder(x=(0, 3), y=(0, 4), z=0, radius=0.5),
    ],
    ids=lambda shape: str(shape)[:30],
)
def test_a_shape_reads_what_it_writes(shape):
    assert read_shape(str(shape), {}) == shape
    assert read_shape(str(shape).replace(" ", "\n  "), {}) == shape


def test_numbers_are_formulas_of_constants_and_polygons_may_have_pairs():
    constants = {"R": Number(3.0)}
    assert read_shape("Disc(x=-R, y=2 * R / 3, radius=sqrt(R))", constants) == epinn.Disc(x=-3, y=2, radius=math.sqrt(3))
    assert read_shape("Polygon([(0, 0), (R, 0), (1, 1)])", constants) == epinn.Polygon(x=(0, 3, 1), y=(0, 0, 1))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Rectangle(x=(0, 1)", ["Rectangle"]),
        ("", ["Rectangle"]),
        ("Dsic(x=0, y=0, radius=1)", ["column 1", "Disc"]),
        ("Disc(x=0, y=0)", ["radius"]),
        ("Disc(0, 0, 1)", ["Disc"]),
        ("Disc(x=0, y=0, radius=r)", ["r"]),
        ("Disc(x=0, y=0, radius='large')", ["radius"]),
        ("Disc(x=0, y=0, radius=1) + Disc(x=1, y=0, radius=1)", ["column 1", "no figure"]),
        ("Disc(x=0, y=0, radius=1) - 3", ["column 28", "no figure"]),
        ("Disc(**{'x': 0})", ["cannot be read"]),
        ("Disc(x=0, y=0, radius=1).during(t=(0, 1))", ["no figure"]),
        ("__import__('os').system('true')", ["no figure"]),
        ("Disc(x=0, y=0, radius=open('x'))", ["open"]),
        ("[Disc for Disc in ()]", ["no figure"]),
        ("Extrusion(3, z=(0, 1))", ["no figure"]),
        (" | ".join(["Disc(x=0, y=0, radius=1)"] * (MOST + 1)), [str(MOST)]),
        ("(" * 3000 + "1" + ")" * 900, ["cannot be read"]),
        ("x" * 100_000, ["characters"]),
    ],
)
def test_what_is_no_shape_is_refused_in_one_line(text, words, rejects):
    with rejects(*words):
        read_shape(text, {})


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        (FILE.replace("t = [0, 60]", "t = 60"), ["[domain], t", "[low, high]"]),
        (FILE.replace("t = [0, 60]", "x = [0, 60]"), ["[domain]", "leave out x"]),
        (FILE.replace("t = [0, 60]", "z = [0, 60]"), ["[domain]", "z"]),
        (FILE.replace("t = [0, 60]", "t = [60, 0]"), ["[domain], t", "low < high"]),
        (FILE.replace("radius=R", "radius=Q"), ["[domain], shape", "Q"]),
        (FILE.replace('on = "hole"', 'on = "hale"'), ["[[boundary]] 1", "hole"]),
    ],
)
def test_mistakes_are_told_with_their_place(tmp_path, wrong, words):
    with pytest.raises(InputError) as caught:
        read_document(written(tmp_path, wrong))
    assert "\n" not in str(caught.value)
    for word in words:
        assert word in str(caught.value)


def test_a_mesh_is_a_file_beside_it(tmp_path):
    trimesh.creation.box((10, 20, 30)).export(tmp_path / "part.stl")
    text = FILE.replace(
        f'shape = "{PLATE.replace("radius=20", "radius=R")}"', 'mesh = "part.stl"\nscale = "R / 20e3"\nname = "part"'
    )
    text = (
        text.replace('"hole"', '"part"').replace("T.xx + T.yy", "T.xx + T.yy + T.zz").replace('on = ["x", "y"]', 'on = "part"')
    )
    first = read_document(written(tmp_path, text))
    assert first.problem.domain == epinn.Mesh(tmp_path / "part.stl", scale=1e-3, name="part").during(t=(0, 60))
    trimesh.creation.box((10, 20, 31)).export(tmp_path / "part.stl")
    assert read_document(written(tmp_path, text)).fingerprint != first.fingerprint
    for wrong, words in (
        (text.replace("part.stl", "missing.stl"), ["[domain], mesh", "no file"]),
        (text.replace("scale =", "shape = 'Disc'\nscale ="), ["[domain]", "leave out one"]),
    ):
        with pytest.raises(InputError) as caught:
            read_document(written(tmp_path, wrong))
        assert all(word in str(caught.value) for word in words)
