// Binds Shrinker, driven from Python.
#include "bindings/bindings.h"
#include "core/draw/replay.h"
#include "core/shrink/shrinker.h"

namespace ordeal::bindings {

void bind_shrinker(py::module_& m) {
  py::class_<Shrinker>(m, "Shrinker")
      .def(py::init<Tape>(), py::arg("failing"))
      .def("candidate", &Shrinker::candidate)
      .def(
          "accept",
          [](Shrinker& self, const Replay& replay) {
            self.accept(replay.realized(), replay.constraints(), replay.spans());
          },
          py::arg("replay"))
      .def(
          "accept", [](Shrinker& self, const Tape& realized) { self.accept(realized); }, py::arg("realized"))
      .def(
          "refuse",
          [](Shrinker& self, const Replay& replay) {
            if (self.needs_constraints()) {
              self.refuse(replay.realized(), replay.constraints(), replay.spans());
            } else {
              self.refuse(replay.realized());
            }
          },
          py::arg("replay"))
      .def("refuse", [](Shrinker& self) { self.refuse(); })
      .def_property_readonly("current", &Shrinker::current, py::return_value_policy::copy)
      .def_property_readonly("phase", &Shrinker::phase)
      .def_property_readonly("candidates", &Shrinker::candidates);
}

}  // namespace ordeal::bindings
