// Binds StepLoop, which runs a machine as a step source says.
#include <memory>
#include <utility>

#include "bindings/bindings.h"
#include "bindings/loop/step_loop.h"

namespace ordeal::bindings {
namespace {

// The rules of a machine may lead back to the loop through the user's module.
int traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  if (py::detail::is_holder_constructed(self)) {
    const int stop = py::cast<StepLoop&>(py::handle(self)).traverse(visit, arg);
    if (stop != 0) {
      return stop;
    }
  }
  return 0;
}

int clear(PyObject* self) {
  if (py::detail::is_holder_constructed(self)) {
    py::cast<StepLoop&>(py::handle(self)).clear();
  }
  return 0;
}

void collectable(PyHeapTypeObject* heap_type) {
  PyTypeObject& type = heap_type->ht_type;
  type.tp_flags |= Py_TPFLAGS_HAVE_GC;
  type.tp_traverse = traverse;
  type.tp_clear = clear;
}

}  // namespace

void bind_step_loop(py::module_& m) {
  py::class_<StateNumbers, std::shared_ptr<StateNumbers>>(m, "StateNumbers")
      .def(py::init())
      .def("add", &StateNumbers::add, py::arg("path"))
      .def(
          "look",
          [](const StateNumbers& self, const py::object& machine, Session& session) {
            self.look(machine.ptr(), session);
          },
          py::arg("machine"), py::arg("session"))
      .def(
          "all", [](const StateNumbers& self, const py::object& machine) { return self.all(machine.ptr()); },
          py::arg("machine"));
  py::class_<StepLoop>(m, "StepLoop", py::custom_type_setup(collectable))
      .def(py::init<const py::object&, py::list, py::list, const py::function&, py::list, bool, std::int64_t>(),
           py::arg("definition"), py::arg("faults"), py::arg("switches"), py::arg("bundle_of"), py::arg("failed"),
           py::kw_only(), py::arg("hashes_state"), py::arg("length_max"))
      // Whether it ended in a state where no rule can run; or what a rule or an invariant raised, not raised here.
      .def(
          "run",
          [](StepLoop& self, py::object step_source, py::object context, py::object machine, py::object driver,
             py::object listener, bool fresh, double deadline) -> py::object {
            const StepLoop::Run run{std::move(step_source),
                                    std::move(context),
                                    std::move(machine),
                                    std::move(driver),
                                    std::move(listener),
                                    fresh,
                                    deadline};
            const StepLoop::End end = self.run(run);
            return end == StepLoop::End::kFailed ? self.take_error() : py::bool_(end == StepLoop::End::kStuck);
          },
          py::arg("step_source"), py::arg("context"), py::arg("machine"), py::arg("driver"), py::arg("listener"),
          py::arg("fresh"), py::arg("deadline"))
      .def_readonly("in_step", &StepLoop::in_step)
      // Steps since this was asked last.
      .def("taken", [](StepLoop& self) { return std::exchange(self.steps, 0U); })
      .def_readonly("begun", &StepLoop::begun)
      .def("slowest", &StepLoop::slowest)
      .def_readonly("broken_by", &StepLoop::broken_by)
      .def_readwrite("data", &StepLoop::data)
      .def_readwrite("numbers", &StepLoop::numbers)
      // The name of what runs now, None between runs.
      .def_property_readonly("current", &StepLoop::current);
}

}  // namespace ordeal::bindings
