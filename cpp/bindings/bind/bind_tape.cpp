// Binds Tape: to and from plain Python values, and what to try in place of one.
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/casts/choice_cast.h"
#include "core/base/error.h"
#include "core/tape/sibling_tapes.h"
#include "core/tape/tape.h"

namespace ordeal::bindings {
namespace {

py::tuple step_to_python(const Tape& tape, const TapeStep& step) {
  py::list arguments;
  for (const TapeArgument& argument : tape.arguments(step)) {
    py::list choices;
    for (const Choice& choice : tape.choices(argument)) {
      choices.append(choice_to_python(choice));
    }
    arguments.append(py::make_tuple(argument.name, std::move(choices)));
  }
  return py::make_tuple(static_cast<int>(step.kind), step.target, step.origin, std::move(arguments));
}

py::list steps_to_python(const Tape& tape) {
  py::list steps;
  for (const TapeStep& step : tape.steps()) {
    steps.append(step_to_python(tape, step));
  }
  return steps;
}

Tape tape_from_python(const py::iterable& steps) {
  Tape tape;
  for (const py::handle item : steps) {
    const auto [kind, target, origin, arguments] =
        item.cast<std::tuple<int, std::uint32_t, std::uint32_t, std::vector<std::pair<std::uint32_t, py::list>>>>();
    if (kind < 0 || kind > static_cast<int>(StepKind::kFaultOff)) {
      throw TraceError("a step has the unknown kind " + std::to_string(kind));
    }
    tape.begin_step(static_cast<StepKind>(kind), target, origin);
    for (const auto& [name, choices] : arguments) {
      tape.begin_argument(name);
      for (const py::handle choice : choices) {
        tape.add(choice_from_python(choice));
      }
    }
  }
  return tape;
}

}  // namespace

void bind_tape(py::module_& m) {
  py::class_<Tape>(m, "Tape")
      .def(py::init<>())
      .def_static("from_steps", &tape_from_python, py::arg("steps"))
      .def("steps", &steps_to_python)
      .def("subset", &Tape::subset, py::arg("keep"))
      .def("hash", &Tape::hash)
      .def("__len__", &Tape::size)
      .def("__eq__", [](const Tape& self, const Tape& other) { return self == other; })
      .def_property_readonly("choice_count", &Tape::choice_count);
  m.def("sibling_tapes", &sibling_tapes, py::kw_only(), py::arg("known"), py::arg("failing"), py::arg("exchange"));
}

}  // namespace ordeal::bindings
