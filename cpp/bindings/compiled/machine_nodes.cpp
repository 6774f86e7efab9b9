#include "bindings/compiled/machine_nodes.h"

#include <utility>

#include "bindings/compiled/interned_names.h"

namespace ordeal::bindings {
namespace {

// Newest last; null, without an exception, where nothing has been added. A new reference.
PyObject* references_of(DrawContext& run, PyObject* name) {
  PyObject* const machine = run.machine();
  if (machine == nullptr) {
    return nullptr;
  }
  const auto bundles = py::reinterpret_steal<py::object>(PyObject_GetAttr(machine, interned_names().bundles));
  if (!bundles) {
    return nullptr;
  }
  return Py_XNewRef(PyDict_GetItemWithError(bundles.ptr(), name));
}

PyObject* reject_empty(DrawContext& run, PyObject* name) {
  if (PyErr_Occurred() != nullptr) {
    return nullptr;
  }
  const std::string why = "Cannot draw from empty bundle " + py::repr(name).cast<std::string>();
  return run.reject(why.c_str());
}

bool remove(const py::object& references, Py_ssize_t place) noexcept {
  return PyList_SetSlice(references.ptr(), place, place + 1, nullptr) == 0;
}

class BundleValue final : public StrategyNode {
 public:
  BundleValue(py::object name, bool consumes, bool draws_references, Transformations transformations) noexcept
      : name_(std::move(name)),
        transformations_(std::move(transformations)),
        consumes_(consumes),
        draws_references_(draws_references) {}

  PyObject* draw(DrawContext& run) const override {
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
    const ChosenElement chosen = draw_filtered(run, size, [&](std::int64_t index) {
      PyObject* value = value_of(PyList_GET_ITEM(references.ptr(), size - 1 - index), values);
      const Outcome outcome = value == nullptr ? Outcome::kError : transformations_.apply(value);
      return ChosenElement{index, value, outcome};
    });
    if (chosen.outcome == Outcome::kNotSatisfied) {
      return run.reject("Aborted test because unable to satisfy a filter of a bundle");
    }
    if (chosen.outcome == Outcome::kError) {
      return nullptr;
    }
    const Py_ssize_t place = size - 1 - static_cast<Py_ssize_t>(chosen.index);
    auto value = py::reinterpret_steal<py::object>(chosen.value);
    auto reference = py::reinterpret_borrow<py::object>(PyList_GET_ITEM(references.ptr(), place));
    if (consumes_ && !remove(references, place)) {
      return nullptr;
    }
    return (draws_references_ ? reference : value).release().ptr();
  }

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

  PyObject* draw(DrawContext& run) const override {
    PyObject* const machine = run.machine();
    return machine == Py_None ? otherwise_->draw(run) : Py_XNewRef(machine);
  }

 private:
  StrategyNodePtr otherwise_;
};

class Generic final : public StrategyNode {
 public:
  Generic(py::object strategy, int depth) noexcept : strategy_(std::move(strategy)), depth_(depth) {}

  PyObject* draw(DrawContext& run) const override {
    return run.draw_through_hypothesis(strategy_.ptr(), run.depth() + depth_);
  }

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
