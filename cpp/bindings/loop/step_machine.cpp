#include "bindings/loop/step_machine.h"

#include <utility>

namespace ordeal::bindings {
namespace {

std::vector<py::object> objects(const py::handle& sequence) {
  std::vector<py::object> all;
  for (const py::handle each : sequence) {
    all.push_back(py::reinterpret_borrow<py::object>(each));
  }
  return all;
}

// Attribute and dict look-ups, and keywords of a call, are fastest with interned names.
py::object interned_name(const py::handle& name) {
  PyObject* text = Py_NewRef(name.ptr());
  PyUnicode_InternInPlace(&text);
  return py::reinterpret_steal<py::object>(text);
}

std::vector<py::object> interned_names(const py::handle& names) {
  std::vector<py::object> all;
  for (const py::handle name : names) {
    all.push_back(interned_name(name));
  }
  return all;
}

StepArgument read_argument(const py::handle& argument, const py::function& bundle_of) {
  StepArgument read{argument.attr("number").cast<std::uint32_t>(), argument.attr("draw"), nullptr, {}, false};
  read.compiled = compiled_strategy_of(read.draw.ptr());
  const py::object bundle = bundle_of(argument.attr("strategy"));
  if (!bundle.is_none()) {
    const auto [name, consumes] = bundle.cast<std::pair<py::object, bool>>();
    read.bundle = interned_name(name);
    read.consumes = consumes;
  }
  return read;
}

StepRule read_rule(const py::handle& rule, const py::function& bundle_of) {
  StepRule read;
  read.rule = py::reinterpret_borrow<py::object>(rule);
  read.name = rule.attr("name");
  read.function = rule.attr("function");
  read.original = rule.attr("original");
  std::vector<py::object> names;
  for (const py::handle argument : rule.attr("arguments")) {
    names.push_back(interned_name(argument.attr("name")));
    read.arguments.push_back(read_argument(argument, bundle_of));
  }
  py::tuple keywords(names.size());
  for (std::size_t i = 0; i < names.size(); ++i) {
    keywords[i] = names[i];
  }
  read.keywords = std::move(keywords);
  read.required_bundles = interned_names(rule.attr("required_bundles"));
  read.preconditions = objects(rule.attr("preconditions"));
  const py::object reference_type = py::module_::import("ordeal._hypothesis.private").attr("VarReference");
  for (py::object& target : interned_names(rule.attr("targets"))) {
    read.targets.emplace_back(std::move(target), reference_type);
  }
  for (const py::handle each : rule.attr("fills")) {
    const auto [number, name] = each.cast<std::pair<std::uint32_t, py::object>>();
    read.fills.emplace_back(number, interned_name(name));
  }
  read.draws_in_body = rule.attr("draws_in_body").cast<bool>();
  read.is_coroutine = rule.attr("is_coroutine").cast<bool>();
  return read;
}

}  // namespace

std::vector<StepRule> read_rules(const py::handle& rules, const py::function& bundle_of) {
  std::vector<StepRule> all;
  for (const py::handle rule : rules) {
    all.push_back(read_rule(rule, bundle_of));
  }
  return all;
}

std::vector<StepInvariant> read_invariants(const py::handle& invariants) {
  std::vector<StepInvariant> all;
  for (const py::handle each : invariants) {
    all.push_back({each.attr("name"), each.attr("function"), objects(each.attr("preconditions")),
                   each.attr("check_during_init").cast<bool>()});
  }
  return all;
}

}  // namespace ordeal::bindings
