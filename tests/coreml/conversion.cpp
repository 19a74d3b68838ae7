// The rules by which coremltools' binding makes Core ML's values of Python's, with nothing of Core ML behind them.
//
// One function: the dictionary of a prediction in, what Core ML would be handed out. As in the binding, whatever goes
// wrong inside the conversion of a number, a text, a dictionary or an array is swallowed, and the value then is "not
// convertible". Built by tests/coreml/conversion.py.

#include <cstdint>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

namespace py = pybind11;

// Core ML would read memory that is not the array's. The binding hands it on; a test must hear of it.
struct OutsideOfArray : std::runtime_error {
    using std::runtime_error::runtime_error;
};

static bool is_integer(py::handle value) {
    return PyLong_Check(value.ptr()) || py::isinstance(value, py::module_::import("numpy").attr("integer"));
}

static bool is_text(py::handle value) {
    return PyBytes_Check(value.ptr()) || PyUnicode_Check(value.ptr());
}

// The type is told by kind and size alone, so that numbers in the other order of bytes pass for the machine's own.
static py::dtype array_type(const py::array& array) {
    const char kind = array.dtype().kind();
    const auto size = array.itemsize();
    if (kind == 'i' && size == 4) return py::dtype::of<std::int32_t>();
    if (kind == 'i' && size == 1) return py::dtype::of<std::int8_t>();
    if (kind == 'f' && size == 4) return py::dtype::of<float>();
    if (kind == 'f' && size == 8) return py::dtype::of<double>();
    throw std::runtime_error("Unsupported array type: " + std::to_string(kind) + " with itemsize = " + std::to_string(size));
}

// What Core ML sees of an array: its memory, by strides in whole elements.
static py::object array_value(py::handle value) {
    auto array = value.cast<py::array>();
    if (array.shape() == nullptr) throw std::runtime_error("an array without axes");
    void* data = array.mutable_data();
    const auto type = array_type(array);
    std::vector<py::ssize_t> shape, strides;
    for (py::ssize_t axis = 0; axis < array.ndim(); ++axis) {
        const auto elements = array.strides(axis) / array.itemsize();
        if (elements < 0) throw OutsideOfArray("Core ML would read before the beginning of the array");
        shape.push_back(array.shape(axis));
        strides.push_back(elements * array.itemsize());
    }
    return py::array(type, shape, strides, data, array);
}

template <typename Key>
static py::object dictionary_of(py::handle value, py::handle first) {
    if (is_integer(first)) return py::cast(value.cast<std::unordered_map<Key, std::int64_t>>());
    if (PyFloat_Check(first.ptr())) return py::cast(value.cast<std::unordered_map<Key, double>>());
    throw std::runtime_error("values of another type");
}

// The first pair says of which types all are.
static py::object dictionary_value(py::handle value) {
    PyObject *key = nullptr, *first = nullptr;
    Py_ssize_t position = 0;
    if (!PyDict_Next(value.ptr(), &position, &key, &first)) return py::dict();
    if (is_integer(key)) return dictionary_of<std::int64_t>(value, first);
    if (is_text(key)) return dictionary_of<std::string>(value, first);
    throw std::runtime_error("keys of another type");
}

static py::object image_value(py::handle value) {
    const auto mode = value.attr("mode").cast<std::string>();
    if (mode != "RGB" && mode != "RGBA" && mode != "L" && mode != "F")
        throw std::runtime_error("Unsupported image type " + mode + ". Supported types are: RGB, RGBA, L.");
    return py::reinterpret_borrow<py::object>(value);
}

static bool is_image(py::handle value) {
    try {
        return py::isinstance(value, py::module_::import("PIL.Image").attr("Image"));
    } catch (const py::error_already_set&) {
        return false;
    }
}

template <typename Convert>
static bool converted(Convert convert, py::object& result) {
    try {
        result = convert();
        return true;
    } catch (const OutsideOfArray&) {
        throw;
    } catch (...) {
        return false;
    }
}

static py::object core_ml_value(py::handle value) {
    PyObject* raw = value.ptr();
    py::object result;
    if (is_integer(value) && converted([&] { return py::int_(value.cast<std::int64_t>()); }, result)) return result;
    if (PyFloat_Check(raw) && converted([&] { return py::float_(value.cast<double>()); }, result)) return result;
    if (is_text(value) && converted([&] { return py::str(value.cast<std::string>()); }, result)) return result;
    if (PyDict_Check(raw) && converted([&] { return dictionary_value(value); }, result)) return result;
    if (PyList_Check(raw) || PyTuple_Check(raw)) return py::none();
    if (PyObject_CheckBuffer(raw) && converted([&] { return array_value(value); }, result)) return result;
    if (is_image(value)) return image_value(value);
    py::print("Error: value type not convertible:");
    py::print(value);
    throw std::runtime_error("value type not convertible");
}

// A feature that became nothing, as lists do, is none: Core ML then misses it.
static py::dict features(const py::dict& inputs) {
    py::dict found;
    for (const auto& input : inputs) {
        const auto name = input.first.cast<std::string>();
        if (auto value = core_ml_value(input.second); !value.is_none()) found[py::str(name)] = value;
    }
    return found;
}

PYBIND11_MODULE(conversion, module) {
    module.doc() = "What Core ML would be handed by coremltools' binding.";
    module.def("features", &features);
}
