#include "bindings/faults/fault_switch.h"

#include <ranges>

#include "bindings/cpython/c_api.h"
#include "bindings/cpython/modules_mark.h"

namespace ordeal::bindings {

// Whether the targets are what they were when the plan was made.
bool FaultSwitch::leads_to_same() const {
  if (!modules_mark().is(plan_->mark)) {
    return false;
  }
  for (const PathStep& step : plan_->path) {
    const py::object found =
        step.is_item
            ? py::reinterpret_borrow<py::object>(PyDict_GetItemWithError(step.container.ptr(), step.name.ptr()))
            : py::reinterpret_steal<py::object>(PyObject_GetAttr(step.container.ptr(), step.name.ptr()));
    if (!found.is(step.expected)) {
      PyErr_Clear();  // Python will meet it again, and say so
      return false;
    }
  }
  for (const Part& part : plan_->parts) {
    for (const auto& [module, name] : part.others) {
      if (PyDict_GetItemWithError(PyModule_GetDict(module.ptr()), name.ptr()) == part.original.ptr()) {
        return false;
      }
    }
  }
  return true;
}

bool FaultSwitch::put_on() {
  if (on || !plan_ || !leads_to_same()) {
    return false;
  }
  for (const Part& part : plan_->parts) {
    for (const auto& [object, site] : part.sites) {
      if (!site->can_put_on(part.layer)) {
        return false;
      }
    }
  }
  for (const Part& part : plan_->parts) {
    for (const auto& [object, site] : part.sites) {
      site->put_on(object, part.layer);
    }
  }
  set_on(true);
  by_plan = true;
  return true;
}

bool FaultSwitch::take_off() {
  if (!on || !by_plan || !plan_ || !modules_mark().is(plan_->mark)) {
    return false;
  }
  for (const Part& part : plan_->parts) {
    for (const auto& [object, site] : part.sites) {
      if (!site->can_take_off(part.layer)) {
        return false;
      }
    }
  }
  for (const Part& part : plan_->parts | std::views::reverse) {
    for (const auto& [object, site] : part.sites | std::views::reverse) {
      site->take_off(part.layer);
    }
  }
  set_on(false);
  return true;
}

void FaultSwitch::forget() {
  if (!plan_) {
    return;
  }
  for (const Part& part : plan_->parts) {
    for (const auto& [object, site] : part.sites) {
      site->forget(part.layer);
    }
  }
}

bool FaultSwitch::reset(bool lasts) {
  if (on && !take_off()) {
    return false;
  }
  hits = 0;
  runs += was_on ? 1 : 0;
  if (was_on && !lasts) {
    forget();
  }
  was_on = false;
  const py::object dropped = std::exchange(listener, py::none());
  return true;
}

void FaultSwitch::resume() noexcept {
  runs = counted_.runs;
  calls = counted_.calls;
  changes = counted_.changes;
  was_on = on;
}

int FaultSwitch::traverse(visitproc visit, void* argument) const {
  const auto see = [&](const py::handle object) { return object.ptr() == nullptr ? 0 : visit(object.ptr(), argument); };
  std::vector<py::handle> held{listener};
  if (plan_) {
    for (const PathStep& step : plan_->path) {
      held.insert(held.end(), {step.container, step.expected});
    }
    for (const Part& part : plan_->parts) {
      held.insert(held.end(), {part.layer, part.original});
      for (const auto& [object, site] : part.sites) {
        held.emplace_back(object);
      }
      for (const auto& [module, name] : part.others) {
        held.emplace_back(module);
      }
    }
  }
  for (const py::handle object : held) {
    if (const int stop = see(object); stop != 0) {
      return stop;
    }
  }
  return 0;
}

void FaultSwitch::clear() {
  drop_plan();
  const py::object dropped = std::exchange(listener, py::none());
}

}  // namespace ordeal::bindings
