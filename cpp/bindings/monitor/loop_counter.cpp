// Binds a count of the turns of loops: a callback of sys.monitoring that costs less than a turn.
#include <cstdint>
#include <memory>
#include <utility>

#include "bindings/bindings.h"

namespace ordeal::bindings {
namespace {

// No name: to compare it at each turn would take a tenth of the turn, and no other code gets this capsule.
constexpr const char* kCapsule = nullptr;

struct Turns {
  std::uint64_t count = 0;
  std::uint64_t limit = 0;  // 0 for none
  py::object on_limit;
};

PyObject* turn(PyObject* self, PyObject* const* /*arguments*/, Py_ssize_t /*size*/) noexcept {
  auto* const turns = static_cast<Turns*>(PyCapsule_GetPointer(self, kCapsule));
  if (turns == nullptr) {
    return nullptr;
  }
  turns->count += 1;
  if (turns->count == turns->limit) {
    return PyObject_CallNoArgs(turns->on_limit.ptr());
  }
  Py_RETURN_NONE;
}

PyMethodDef turn_method{"turn", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(turn)), METH_FASTCALL,
                        "Counts one turn."};

class LoopCounter {
 public:
  explicit LoopCounter(py::object on_limit) {
    auto turns = std::make_unique<Turns>();
    turns->on_limit = std::move(on_limit);
    turns_ = turns.get();
    capsule_ = py::capsule(turns.release(), kCapsule, [](PyObject* capsule) {
      delete static_cast<Turns*>(PyCapsule_GetPointer(capsule, kCapsule));
    });
  }

  void start(std::uint64_t limit) {
    turns_->count = 0;
    turns_->limit = limit;
  }

  [[nodiscard]] std::uint64_t count() const { return turns_->count; }

  [[nodiscard]] py::object callback() const {
    return py::reinterpret_steal<py::object>(PyCFunction_New(&turn_method, capsule_.ptr()));
  }

 private:
  Turns* turns_;  // of the capsule
  py::capsule capsule_;
};

}  // namespace

void bind_loop_counter(py::module_& m) {
  py::class_<LoopCounter>(m, "LoopCounter")
      .def(py::init<py::object>(), py::arg("on_limit"))
      .def("start", &LoopCounter::start, py::arg("limit"))
      .def_property_readonly("count", &LoopCounter::count)
      .def_property_readonly("callback", &LoopCounter::callback);
}

}  // namespace ordeal::bindings
