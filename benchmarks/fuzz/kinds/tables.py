"""Files with measurements: text, Excel, Parquet, NetCDF and MAT; whole, changed, and under other names."""

import functools
import io
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

import epinn
from epinn.errors import EpinnWarning

from .. import mutate

TEXTS = (
    "x,t,T\n0.1,1,20.5\n0.2,2,21\n0.3,3,\n0.2,2,21\n",
    "# measured in the lab\nx [mm];t [s];T [degC];s\n0,1;1;20,5;0,1\n0,2;2;21,0;0,1\n",
    "x\tt\tT\n1e-3\t0\tnan\n2e-3\t1\t4\n",
    "x t T\n 1 2 3\n 4 5 6\n",
    '"x","t","T (K)"\n"1","2","3"\n',
)
TOKENS = (
    "x",
    "t",
    "T",
    ",",
    ";",
    "\t",
    '"',
    "nan",
    "",
    "2024-05-01",
    "12:30",
    "1,5",
    "1.5",
    "1_000",
    "#",
    "%",
    "0x1",
    "∞",
    "x [m]",
)
ENDINGS = (".csv", ".tsv", ".txt", ".dat", ".xlsx", ".parquet", ".nc", ".mat", ".h5", ".json", ".CSV")
UNITS = (
    None,
    {"T": "K"},
    {"x": ("mm", "m")},
    {"x": "m", "t": "min"},
    {"T": ("K", "furlong**9999")},
    {"x": ("1/0", "m")},
    {"x": ("", "")},
)


def attempt(random: Random, place: Path) -> Callable[[], Any]:
    examples = _examples()
    kind = random.random()
    if kind < 0.6:
        text = mutate.text(random.choice(TEXTS), random, TOKENS)
        content = text.encode(random.choice(("utf-8", "utf-8", "utf-16", "cp1252")), "replace")
        ending = random.choice(ENDINGS[:4])
    else:
        ending = random.choice(list(examples))
        content = mutate.content(examples[ending], random) if kind < 0.97 else examples[ending]
    if random.random() < 0.05:
        ending = random.choice(ENDINGS)
    if random.random() < 0.01:
        ending, content = ".xlsx", _bomb()
    path = place / f"lab{ending}"
    path.write_bytes(content)
    options = {
        "coordinates": random.choice((*[("x", "t")] * 6, ("x",), {"x": "t", "t": "x"}, "x", ["x", "x"])),
        "value": random.choice((*"TTTTTTTT", "x", "nothing")),
        "sigma": random.choice((None, None, None, 0.1, 0.1, "s", "unknown")),
        "units": random.choice(UNITS) if random.random() < 0.3 else None,
        "sheet": random.choice(("Sheet", "other")) if random.random() < 0.1 else None,
        "keep_copies": random.random() < 0.3,
    }

    def run() -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", EpinnWarning)
            epinn.Data.from_file(path, **options)

    return run


@functools.cache
def _examples() -> dict[str, bytes]:
    """A table in every format with types."""
    import openpyxl
    import pandas
    import xarray
    from scipy import io as matlab

    table = pandas.DataFrame({"x": [0.1, 0.2, 0.3], "t": [1.0, 2.0, 3.0], "T": [20.5, 21.0, 22.0], "note": ["a", None, "c"]})
    book, sheet, found = openpyxl.Workbook(), io.BytesIO(), {}
    book.active.append(list(table.columns))
    for row in table.itertuples(index=False):
        book.active.append(list(row))
    book.save(sheet)
    found[".xlsx"] = sheet.getvalue()
    parquet, mat = io.BytesIO(), io.BytesIO()
    table.to_parquet(parquet)
    found[".parquet"] = parquet.getvalue()
    matlab.savemat(mat, {name: table[name].to_numpy() for name in ("x", "t", "T")}, do_compression=True)
    found[".mat"] = mat.getvalue()
    grid = xarray.Dataset({"T": (("x", "t"), np.ones((3, 2)))}, {"x": [0.1, 0.2, 0.3], "t": [0.0, 1.0]})
    found[".nc"] = bytes(grid.to_netcdf(engine="h5netcdf"))
    found[".cdf"] = bytes(grid.to_netcdf(engine="scipy"))
    return found


@functools.cache
def _bomb() -> bytes:
    """A workbook whose sheet is a gigabyte of zeros."""
    made, block = io.BytesIO(), b"\0" * 2**24
    with (
        zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive,
        archive.open("xl/workbook.xml", "w") as part,
    ):
        for _ in range(64):
            part.write(block)
    return made.getvalue()
