"""Frames of searches where cuDF is another than the one that the fast way was written for, by a stand-in for cuDF."""

import sys
from types import ModuleType

import numpy as np
import pytest

from rapids_bfs.adapters import cudf as adapter

VERTICES = np.arange(4, dtype=np.int32)


class Series:
    def __init__(self, dtypes):
        self.dtypes = dtypes

    def items(self):
        return self.dtypes.items()


class DataFrame:
    """Of cuDF's frame what `frames_of` touches."""

    sets = 0

    def __setattr__(self, name, value):
        DataFrame.sets += 1
        object.__setattr__(self, name, value)

    @classmethod
    def _from_data(cls, data, index):
        frame = cls()
        frame._data, frame._index, frame._attrs, frame._flags = data, index, {}, None
        return frame

    @property
    def dtypes(self):
        return Series({name: column.dtype for name, column in self._data.items()})


class Later(DataFrame):
    """The frame of a version that has an attribute more."""

    @classmethod
    def _from_data(cls, data, index):
        frame = super()._from_data(data, index)
        frame._other = "new"
        return frame


class Buffer:
    def __init__(self, array):
        self.array = array

    def copy(self, deep):
        return Buffer(self.array)


class Column:
    def __init__(self, data_type, size, buffer, *rest):
        self.dtype, self.array = data_type, buffer.array

    @classmethod
    def from_cuda_array_interface(cls, array):
        return cls(array.dtype, len(array), Buffer(array))

    def type(self):
        return self.dtype

    @staticmethod
    def create(column, dtype, validate):
        return column


@pytest.fixture
def cudf(monkeypatch):
    """The stand-in, which every test may change before frames are made."""
    DataFrame.sets = 0
    contents = {
        "cudf": {"DataFrame": DataFrame, "RangeIndex": lambda rows: rows},
        "cudf.core": {},
        "cudf.core.buffer": {"as_buffer": Buffer},
        "cudf.core.column": {"ColumnBase": Column},
        "cudf.core.column_accessor": {"ColumnAccessor": lambda columns, verify: columns},
        "pylibcudf": {"Column": Column},
    }
    modules = {}
    for name, attributes in contents.items():
        modules[name] = ModuleType(name)
        vars(modules[name]).update(attributes)
        monkeypatch.setitem(sys.modules, name, modules[name])
    return modules


def columns_of(frame):
    return {name: column.array.tolist() for name, column in frame._data.items()}


EXPECTED = {"vertex": [0, 1, 2, 3], "distance": [1, 2, 3, 4], "predecessor": [-1, 0, 1, 2]}


def test_a_frame_is_made_without_setting_attributes(cudf):
    make = adapter.frames_of(VERTICES)
    before = DataFrame.sets
    frame = make(VERTICES + 1, VERTICES - 1)
    assert DataFrame.sets == before
    assert columns_of(frame) == EXPECTED
    assert vars(frame).keys() == {"_data", "_index", "_attrs", "_flags"}
    assert make(VERTICES, VERTICES)._attrs is not frame._attrs


def test_attributes_of_a_later_version_are_set(cudf):
    cudf["cudf"].DataFrame = Later
    frame = adapter.frames_of(VERTICES)(VERTICES + 1, VERTICES - 1)
    assert frame._other == "new"
    assert columns_of(frame) == EXPECTED


def no_buffers(cudf):
    sys.modules["cudf.core.buffer"] = None


def other_arguments(cudf):
    cudf["pylibcudf"].Column = object


def other_order(cudf):
    cudf["cudf.core.column_accessor"].ColumnAccessor = lambda columns, verify: dict(sorted(columns.items()))


@pytest.mark.parametrize("change", [no_buffers, other_arguments, other_order])
def test_frames_are_made_the_checked_way_by_another_version(cudf, monkeypatch, change):
    monkeypatch.setattr(adapter, "frame_of", lambda columns: {name: each.tolist() for name, each in columns.items()})
    monkeypatch.setitem(sys.modules, "cudf.core.buffer", cudf["cudf.core.buffer"])
    change(cudf)
    assert adapter.frames_of(VERTICES)(VERTICES + 1, VERTICES - 1) == EXPECTED
