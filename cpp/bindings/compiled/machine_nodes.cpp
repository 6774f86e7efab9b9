#include "bindings/compiled/machine_nodes.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "bindings/compiled/interned_names.h"

namespace ordeal::bindings {
namespace {

// Newest last; null, without an exception, if nothing has been added. A new reference.
PyObject* references_of(DrawContext& run, PyObject* name) {
  PyObject* const machine = run.machine();
  if (machine == nullptr) {
    return nullptr;
  }
  const auto bundles = py::reinterpret_steal<py::object>(PyObject_GetAttr(machine, interned_names().bundles));
  if (!bundles) {
    return nullptr;
  }
  PyObject* const references = PyDict_GetItemWithError(bundles.ptr(), name);
  if (references != nullptr && PyList_Check(references) == 0) {
    PyErr_Format(PyExc_TypeError, "bundle %R is not a list", name);
    return nullptr;
  }
  return Py_XNewRef(references);
}

PyObject* reject_empty(DrawContext& run, PyObject* name) {
  if (PyErr_Occurred() != nullptr) {
    return nullptr;
  }
  const std::string why = "Cannot draw from empty bundle " + py::repr(name).cast<std::string>();
  return run.reject(why.c_str());
}

// Removes exactly this reference, wherever it is: a filter may have removed others, or this one.
bool remove(const py::object& references, PyObject* reference) noexcept {
  for (Py_ssize_t place = 0; place < PyList_GET_SIZE(references.ptr()); ++place) {
    if (PyList_GET_ITEM(references.ptr(), place) == reference) {
      return PyList_SetSlice(references.ptr(), place, place + 1, nullptr) == 0;
    }
  }
  return true;
}

// The references to values that were inspected and may be drawn, by index. A filter is code of the user's, which may
// change the bundle: references are held, and those that are gone are skipped.
class LookedAt {
 public:
  void add(std::int64_t index, py::object reference) {
    if (latest_.second) {
      earlier_.push_back(std::move(latest_));
    }
    latest_ = {index, std::move(reference)};
  }
  // For an added one.
  py::object take(std::int64_t index) {
    if (latest_.first != index) {
      latest_ = std::move(*std::ranges::find(earlier_, index, &Looked::first));
    }
    return std::move(latest_.second);
  }

 private:
  using Looked = std::pair<std::int64_t, py::object>;

  Looked latest_{-1, py::object()};  // mostly the only one, which needs no allocation
  std::vector<Looked> earlier_;
};

class BundleValue final : public StrategyNode {
 public:
  BundleValue(py::object name, bool consumes, bool draws_references, Transformations transformations) noexcept
      : name_(std::move(name)),
        transformations_(std::move(transformations)),
        consumes_(consumes),
        draws_references_(draws_references) {}

  PyObject* draw_value(DrawContext& run) const override {
    const auto references = py::reinterpret_steal<py::object>(references_of(run, name_.ptr()));
    const Py_ssize_t size = references ? PyList_GET_SIZE(references.ptr()) : 0;
    if (size == 0) {
      return reject_empty(run, name_.ptr());
    }
    const auto values =
        py::reinterpret_steal<py::object>(PyObject_GetAttr(run.machine(), interned_names().names_to_values));
    if (!values) {
      return nullptr;
    }
    LookedAt looked_at;
    const ChosenElement chosen = draw_filtered(run, size, [&](std::int64_t index) {
      const auto place = static_cast<Py_ssize_t>(size - 1 - index);
      if (place >= PyList_GET_SIZE(references.ptr())) {
        return ChosenElement{index, nullptr, Outcome::kNotSatisfied};
      }
      auto reference = py::reinterpret_borrow<py::object>(PyList_GET_ITEM(references.ptr(), place));
      PyObject* value = value_of(reference.ptr(), values);
      const Outcome outcome = value == nullptr ? Outcome::kError : transformations_.apply(value);
      if (outcome == Outcome::kValue) {
        looked_at.add(index, std::move(reference));
      }
      return ChosenElement{index, value, outcome};
    });
    if (chosen.outcome == Outcome::kNotSatisfied) {
      return run.reject("Aborted test because unable to satisfy a filter of a bundle");
    }
    if (chosen.outcome == Outcome::kError) {
      return nullptr;
    }
    auto value = py::reinterpret_steal<py::object>(chosen.value);
    py::object reference = looked_at.take(chosen.index);
    if (consumes_ && !remove(references, reference.ptr())) {
      return nullptr;
    }
    return (draws_references_ ? reference : value).release().ptr();
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(name_, transformations_); }

 private:
  static PyObject* value_of(PyObject* reference, const py::object& values) {
    const auto name = py::reinterpret_steal<py::object>(PyObject_GetAttr(reference, interned_names().name));
    return name ? PyObject_GetItem(values.ptr(), name.ptr()) : nullptr;
  }

  py::object name_;
  Transformations transformations_;
  bool consumes_;
  bool draws_references_;
};

class Runner final : public StrategyNode {
 public:
  explicit Runner(StrategyNodePtr otherwise) noexcept : otherwise_(std::move(otherwise)) {}

  PyObject* draw_value(DrawContext& run) const override {
    PyObject* const machine = run.machine();
    return machine == Py_None ? otherwise_->draw(run) : Py_XNewRef(machine);
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(otherwise_); }

 private:
  StrategyNodePtr otherwise_;
};

class Generic final : public StrategyNode {
 public:
  Generic(py::object strategy, int depth) noexcept : strategy_(std::move(strategy)), depth_(depth) {}

  PyObject* draw_value(DrawContext& run) const override {
    return run.draw_through_hypothesis(strategy_.ptr(), run.depth() + depth_);
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(strategy_); }

 private:
  py::object strategy_;
  int depth_;
};

}  // namespace

StrategyNodePtr bundle_node(py::object name, bool consumes, bool draws_references, Transformations transformations) {
  return std::make_shared<BundleValue>(std::move(name), consumes, draws_references, std::move(transformations));
}

StrategyNodePtr runner_node(StrategyNodePtr otherwise) { return std::make_shared<Runner>(std::move(otherwise)); }

StrategyNodePtr generic_node(py::object strategy, int depth) {
  return std::make_shared<Generic>(std::move(strategy), depth);
}

std::optional<bool> is_bundle_empty(DrawContext& run, PyObject* name) {
  const auto references = py::reinterpret_steal<py::object>(references_of(run, name));
  if (!references && PyErr_Occurred() != nullptr) {
    return std::nullopt;
  }
  return !references || PyList_GET_SIZE(references.ptr()) == 0;
}

}  // namespace ordeal::bindings
