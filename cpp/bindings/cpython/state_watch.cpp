#include "bindings/cpython/state_watch.h"

#include <cstring>
#include <utility>

#include "core/base/error.h"

namespace ordeal::bindings {
namespace {

std::size_t size_of_state(const py::object& object, const py::type& type) {
  const auto* const plain = reinterpret_cast<const PyTypeObject*>(type.ptr());
  const auto size = static_cast<std::size_t>(plain->tp_basicsize);
  const bool is_in_c = (plain->tp_flags & Py_TPFLAGS_HEAPTYPE) == 0 || plain->tp_dictoffset == 0;
  if (!py::isinstance(object, type) || !is_in_c || plain->tp_itemsize != 0 || size <= sizeof(PyObject)) {
    throw ConfigError("the object has no state of a fixed size");
  }
  return size - sizeof(PyObject);
}

}  // namespace

StateWatch::StateWatch(py::object object, const py::type& type)
    : object_(std::move(object)), size_(size_of_state(object_, type)) {
  keep();
}

void StateWatch::keep() { kept_.assign(state(), state() + size_); }

bool StateWatch::unchanged() const noexcept { return std::memcmp(kept_.data(), state(), size_) == 0; }

const unsigned char* StateWatch::state() const noexcept {
  return reinterpret_cast<const unsigned char*>(object_.ptr()) + sizeof(PyObject);
}

void bind_state_watch(py::module_& m) {
  py::class_<StateWatch>(m, "StateWatch")
      .def(py::init<py::object, const py::type&>(), py::arg("object"), py::arg("type"))
      .def("keep", &StateWatch::keep)
      .def("unchanged", &StateWatch::unchanged);
}

}  // namespace ordeal::bindings
