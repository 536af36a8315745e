"""Files with arrays over coordinates, NetCDF and MAT: made into one row for each value."""

import itertools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from jaxtyping import Shaped

from ..errors import InputError, one_line
from ..extras import optional
from .table import Table, Wanted, find, refuse_large

HDF5 = b"\x89HDF"
ENGINES = {HDF5: "h5netcdf", b"CDF\x01": "scipy", b"CDF\x02": "scipy"}  # xarray's, by what a file begins with


def read_netcdf(path: Path, wanted: Wanted) -> Table:
    """The wanted variables of a NetCDF file, at all combinations of the dimensions that they have between them."""
    xarray = optional("xarray", "NetCDF files", "data")
    with path.open("rb") as file:
        engine = ENGINES.get(file.read(4))
    if engine is None:
        raise InputError(f"{path} is damaged, or no NetCDF file; save it again.")
    optional(engine, "NetCDF files", "data")
    try:
        if engine == "h5netcdf":  # which, where it cannot read what is in a file, prints a traceback of its own
            with optional("h5py", "NetCDF files", "data").File(path) as file:
                file.visititems(lambda name, one: [None for _ in one.attrs.items()] and None)
        # times stay numbers, since an instant chosen by whoever wrote the file
        with xarray.open_dataset(path, engine=engine, decode_times=False) as dataset:
            names = [str(name) for name in dataset.variables]
            chosen = {name: dataset[names[find(name, names, path)]] for name in wanted.names}
            _refuse_other_dimensions(path, wanted, chosen)
            sizes = {str(dim): size for one in chosen.values() for dim, size in one.sizes.items()}
            refuse_large(path, 8 * len(chosen) * math.prod(sizes.values()))
            together = xarray.broadcast(*chosen.values())
            columns = tuple(np.ravel(one.values) for one in together)
            units = {name: str(one.attrs["units"]) for name, one in chosen.items() if "units" in one.attrs}
    except InputError:
        raise
    except Exception as error:  # its readers raise whatever goes wrong in them first
        raise InputError(f"{path} is damaged, or cannot be read as NetCDF ({one_line(error)}); save it again.") from None
    return Table(path, tuple(chosen), columns, units=units)


def _refuse_other_dimensions(path: Path, wanted: Wanted, chosen: Mapping[str, Any]) -> None:
    """Refuse what varies along a dimension that no coordinate belongs to: it would look like one value measured again."""
    own = {dim for name in wanted.coordinates for dim in chosen[name].dims}
    for name in wanted.others:
        more = [str(dim) for dim in chosen[name].dims if dim not in own and chosen[name].sizes[dim] > 1]
        if more:
            raise InputError(
                f"{path.name}: {name!r} also varies along {', '.join(map(repr, more))}, which is none of the coordinates; "
                "add it to them, or choose one place of it with xarray and save that."
            )


def read_matlab(path: Path, wanted: Wanted) -> Table:
    """The wanted arrays of a MAT file: of one shape, or coordinates as vectors and the others as arrays over all of them."""
    with path.open("rb") as file:
        start = file.read(1024)
    known = _hdf5(path, wanted) if HDF5 in start else _matlab(path, wanted)
    columns = _aligned(path, wanted, {name: np.squeeze(array) for name, array in known.items()})
    return Table(path, wanted.names, columns)


def _matlab(path: Path, wanted: Wanted) -> dict[str, Shaped[np.ndarray, "..."]]:
    from scipy import io

    try:
        shapes = {name: shape for name, shape, _ in io.whosmat(path)}
        chosen = {name: list(shapes)[find(name, list(shapes), path)] for name in wanted.names}
        refuse_large(path, sum(8 * math.prod(shapes[name]) for name in chosen.values()))
        found = io.loadmat(path, variable_names=list(chosen.values()))
    except InputError:
        raise
    except Exception as error:  # scipy's reader raises whatever goes wrong in it first
        raise InputError(f"{path} is damaged, or no MAT file ({one_line(error)}); save it again.") from None
    return {name: _numeric(path, name, found[stored]) for name, stored in chosen.items()}


def _hdf5(path: Path, wanted: Wanted) -> dict[str, Shaped[np.ndarray, "..."]]:
    """MATLAB's files since version 7.3, which have the axes the other way round."""
    h5py = optional("h5py", "MAT files of version 7.3", "data")
    try:
        with h5py.File(path) as file:
            names = list(file)
            chosen = {name: file[names[find(name, names, path)]] for name in wanted.names}
            arrays = {name: one for name, one in chosen.items() if isinstance(one, h5py.Dataset)}
            refuse_large(path, sum(8 * one.size for one in arrays.values()))
            return {name: _numeric(path, name, arrays[name][()].T if name in arrays else None) for name in wanted.names}
    except InputError:
        raise
    except Exception as error:  # as above
        raise InputError(f"{path} is damaged, or no MAT file ({one_line(error)}); save it again.") from None


def _numeric(path: Path, name: str, array: Any) -> Shaped[np.ndarray, "..."]:
    if not isinstance(array, np.ndarray) or array.dtype.kind not in "iuf":
        raise InputError(f"{path.name}: {name!r} is not an array of numbers.")
    return array


def _aligned(path: Path, wanted: Wanted, arrays: Mapping[str, np.ndarray]) -> tuple[Shaped[np.ndarray, " n"], ...]:
    """All arrays as columns of one length; the axes of those over a grid come in the order of the coordinates."""
    if len({array.shape for array in arrays.values()}) == 1:
        return tuple(np.ravel(array) for array in arrays.values())
    axes = [arrays[name] for name in wanted.coordinates]
    shape = tuple(axis.size for axis in axes)
    if any(axis.ndim > 1 for axis in axes):
        raise _mismatch(path, arrays)
    grids = np.meshgrid(*(np.atleast_1d(axis) for axis in axes), indexing="ij")
    others = [_over_grid(arrays[name], shape) for name in wanted.others]
    if any(other is None for other in others):
        raise _mismatch(path, arrays)
    return tuple(np.ravel(array) for array in (*grids, *others))


def _over_grid(array: np.ndarray, shape: Sequence[int]) -> np.ndarray | None:
    """An array with its axes in the order of the grid's, as they are if that fits; None if no order does."""
    for order in itertools.permutations(range(len(shape))):
        if array.shape == tuple(shape[i] for i in order if shape[i] > 1):
            return array.reshape([shape[i] for i in order]).transpose(np.argsort(order))
    return None


def _mismatch(path: Path, arrays: Mapping[str, np.ndarray]) -> InputError:
    shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
    return InputError(
        f"{path.name}: the arrays do not belong together ({shapes}); they must have one shape, or be over a grid."
    )
