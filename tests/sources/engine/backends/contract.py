"""What every backend must do, whatever runs the model: subclass `BackendContract` and say what to load."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise

import numpy as np
import pytest

from hettop.compute_units import CORE_ML_UNITS
from hettop.errors import HettopError
from hettop.models.ports import Feed, InputOptions
from hettop.sources.engine import backends
from hettop.sources.engine.backend import Backend, Loaded, LoadOptions, RealClock


class BackendContract(ABC):
    """`unit` is one that can run here, with the model that `model()` names."""

    unit = "CPU_ONLY"

    @abstractmethod
    def new_backend(self) -> Backend: ...

    @abstractmethod
    def model(self) -> str: ...

    def loaded(self) -> tuple[Backend, Loaded, Feed]:
        backend = self.new_backend()
        loaded = backend.load(self.model(), self.unit, LoadOptions())
        return backend, loaded, backend.make_inputs(loaded.inputs, InputOptions())

    def test_it_is_registered_by_its_name(self) -> None:
        backend = self.new_backend()
        assert type(backends.create(backend.name, RealClock())) is type(backend)

    def test_every_core_ml_unit_runs_or_has_a_reason(self) -> None:
        units = self.new_backend().units()
        assert set(units) >= set(CORE_ML_UNITS)
        assert all(reason is None or reason.strip() for reason in units.values())
        assert units[self.unit] is None

    def test_a_load_tells_what_is_loaded(self) -> None:
        _, loaded, _ = self.loaded()
        assert loaded.requested == self.unit
        assert (loaded.load_ns or 0) > 0
        assert loaded.inputs
        assert loaded.outputs

    def test_nothing_is_called_gpu_or_ne_that_was_not_asked_for(self) -> None:
        backend, loaded, _ = self.loaded()
        if loaded.placed is not None and self.unit.endswith(("CPU_ONLY", ":CPU")):
            assert "GPU" not in loaded.placed
            assert "NE" not in loaded.placed
        if backend.simulated:
            assert "simulated" in str(loaded.placed)

    def test_a_unit_that_cannot_run_is_refused(self) -> None:
        backend = self.new_backend()
        absent = [unit for unit, reason in backend.units().items() if reason is not None]
        for unit in [*absent, "TPU_ONLY", "CPU_ONLY@0", "CPU_ONLY@two"]:
            with pytest.raises(HettopError) as caught:
                backend.load(self.model(), unit, LoadOptions())
            assert caught.value.kind == "unsupported-unit"
            assert unit in caught.value.message

    def test_a_backend_that_refused_a_unit_can_still_load(self) -> None:
        backend = self.new_backend()
        with pytest.raises(HettopError):
            backend.load(self.model(), "TPU_ONLY", LoadOptions())
        assert backend.load(self.model(), self.unit, LoadOptions()).requested == self.unit

    def test_there_is_an_input_for_each_port_of_its_shape(self) -> None:
        _, loaded, feed = self.loaded()
        assert list(feed) == [port.name for port in loaded.inputs]
        for port in loaded.inputs:
            shape = np.shape(feed[port.name])
            assert len(shape) == len(port.shape)
            assert all(
                axis in (length, None) or isinstance(axis, str) for axis, length in zip(port.shape, shape, strict=True)
            )

    def test_inputs_depend_on_the_seed_and_on_nothing_else(self) -> None:
        backend, loaded, feed = self.loaded()
        again = backend.make_inputs(loaded.inputs, InputOptions(seed=0))
        other = backend.make_inputs(loaded.inputs, InputOptions(seed=1))
        assert all(np.array_equal(feed[name], again[name]) for name in feed)
        assert any(not np.array_equal(feed[name], other[name]) for name in feed)

    def test_an_impossible_shape_is_refused_by_name(self) -> None:
        backend, loaded, _ = self.loaded()
        port = loaded.inputs[0]
        with pytest.raises(HettopError) as caught:
            backend.make_inputs(loaded.inputs, InputOptions(shapes={port.name: (1,) * (len(port.shape) + 1)}))
        assert caught.value.kind == "input"
        assert port.name in caught.value.message

    def test_predict_runs_again_and_again_and_leaves_its_inputs_alone(self) -> None:
        backend, _, feed = self.loaded()
        before = {name: np.copy(value) for name, value in feed.items()}
        for _ in range(3):
            backend.predict(feed)
        assert list(feed) == list(before)
        assert all(np.array_equal(feed[name], before[name]) for name in feed)

    def test_predict_before_a_load_is_an_error_in_words(self) -> None:
        with pytest.raises(HettopError) as caught:
            self.new_backend().predict({})
        assert caught.value.kind == "predict"

    def test_time_goes_forward_on_its_clock_while_it_predicts(self) -> None:
        backend, _, feed = self.loaded()
        moments = [backend.clock.now()]
        for _ in range(5):
            backend.predict(feed)
            moments.append(backend.clock.now())
        assert all(later > earlier for earlier, later in pairwise(moments))

    def test_native_time_is_told_if_and_only_if_there_is_one(self) -> None:
        backend, _, feed = self.loaded()
        backend.predict(feed)
        native = backend.native_ns()
        assert (native is not None) == backend.has_native
        assert native is None or native > 0

    def test_being_told_of_load_changes_nothing_that_it_answers(self) -> None:
        backend, _, feed = self.loaded()
        backend.predict(feed)
        before = {name: np.copy(value) for name, value in backend.outputs().items()}
        for condition in ("none", "cpu:2+memory:1@50%", "ane:1", "unheard-of:3"):
            backend.told_load(condition)
            backend.predict(feed)
            after = backend.outputs()
            assert list(after) == list(before)
            assert all(np.array_equal(after[name], before[name]) for name in before)
