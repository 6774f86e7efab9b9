// Binds FaultAblation, driven from Python.
#include "bindings/bindings.h"
#include "core/shrink/fault_ablation.h"

namespace ordeal::bindings {

void bind_fault_ablation(py::module_& m) {
  py::class_<FaultAblation>(m, "FaultAblation")
      .def(py::init<Tape>(), py::arg("failing"))
      .def("candidate", &FaultAblation::candidate)
      .def("accept", &FaultAblation::accept, py::arg("fails"))
      .def("verdicts", &FaultAblation::verdicts);
}

}  // namespace ordeal::bindings
