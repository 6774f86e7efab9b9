// Binds the weights of operations: drawing them for a run, and picking by them.
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/casts/operation_cast.h"
#include "core/swarm/rule_weights.h"

namespace ordeal::bindings {
namespace {

constexpr const char* kCapsule = "ordeal.rule_picker";

std::vector<std::uint32_t> draw_rule_weights(std::uint64_t seed, const std::vector<OperationFields>& fields) {
  Rng rng = Rng::stream(seed, "op weights");
  const std::vector<Operation> operations = to_operations(fields);
  return draw_weights(rng, operations, draw_kept(rng, operations));
}

// Picks return an object of the caller, so that a pick makes no string.
struct Picks {
  py::tuple names;
  RulePicker picker;
  py::str random{py::reinterpret_steal<py::str>(PyUnicode_InternFromString("random"))};
};

// A raw function: one of pybind11 would cost more than the pick and the draw together.
PyObject* pick(PyObject* self, PyObject* rng) noexcept {
  const auto* picks = static_cast<const Picks*>(PyCapsule_GetPointer(self, kCapsule));
  if (picks == nullptr) {
    return nullptr;
  }
  PyObject* drawn = PyObject_CallMethodNoArgs(rng, picks->random.ptr());
  if (drawn == nullptr) {
    return nullptr;
  }
  const double unit = PyFloat_AsDouble(drawn);
  Py_DECREF(drawn);
  if (unit == -1.0 && PyErr_Occurred() != nullptr) {
    return nullptr;
  }
  if (!(unit >= 0.0 && unit <= 1.0)) {  // a NaN is neither
    PyErr_SetString(PyExc_ValueError, "the generator gave a number that is not from 0 to 1");
    return nullptr;
  }
  PyObject* name = PyTuple_GET_ITEM(picks->names.ptr(), static_cast<Py_ssize_t>(picks->picker.pick_at(unit)));
  return Py_NewRef(name);
}

PyMethodDef pick_method{"pick", &pick, METH_O, "An operation by its weight; takes one number from the generator."};

py::object rule_picker(py::tuple names, const std::vector<std::uint32_t>& weights) {
  if (names.size() != weights.size()) {
    throw py::value_error("as many names as weights are needed");
  }
  auto picks = std::make_unique<Picks>(Picks{.names = std::move(names), .picker = RulePicker(weights)});
  const py::capsule self(picks.release(), kCapsule, [](PyObject* capsule) {
    delete static_cast<Picks*>(PyCapsule_GetPointer(capsule, kCapsule));
  });
  return py::reinterpret_steal<py::object>(PyCFunction_New(&pick_method, self.ptr()));
}

}  // namespace

void bind_rule_weights(py::module_& m) {
  m.def("draw_rule_weights", &draw_rule_weights, py::arg("seed"), py::arg("operations"));
  m.def("rule_picker", &rule_picker, py::arg("names"), py::arg("weights"));
}

}  // namespace ordeal::bindings
