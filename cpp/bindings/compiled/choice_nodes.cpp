#include "bindings/compiled/choice_nodes.h"

#include <algorithm>

#include "bindings/compiled/machine_nodes.h"

namespace ordeal::bindings {
namespace {

constexpr const char* kUnsatisfied = "Aborted test because unable to satisfy a filter";

// A tuple or a range, to which Hypothesis converts the elements it samples from.
PyObject* item_of(PyObject* elements, std::int64_t index) noexcept {
  return PyTuple_CheckExact(elements) != 0 ? Py_NewRef(PyTuple_GET_ITEM(elements, index))
                                           : PySequence_GetItem(elements, static_cast<Py_ssize_t>(index));
}

std::int64_t size_of(const py::object& elements) { return static_cast<std::int64_t>(py::len(elements)); }

class Sampled final : public StrategyNode {
 public:
  explicit Sampled(py::object elements) : elements_(std::move(elements)), size_(size_of(elements_)) {}

  PyObject* draw_value(DrawContext& run) const override {
    const auto index = draw_index(run, size_);
    return index ? item_of(elements_.ptr(), *index) : nullptr;
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(elements_); }

 private:
  py::object elements_;
  std::int64_t size_;
};

class Position final : public StrategyNode {
 public:
  explicit Position(py::object elements) : elements_(std::move(elements)), size_(size_of(elements_)) {}

  PyObject* draw_value(DrawContext& run) const override {
    if (!run.may_choose()) {
      return nullptr;
    }
    const std::int64_t index = run.source().position(size_);
    return run.count(integer_size(index)) ? item_of(elements_.ptr(), index) : nullptr;
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(elements_); }

 private:
  py::object elements_;
  std::int64_t size_;
};

class FilteredSample final : public StrategyNode {
 public:
  FilteredSample(py::object elements, Transformations transformations)
      : elements_(std::move(elements)), transformations_(std::move(transformations)), size_(size_of(elements_)) {}

  PyObject* draw_value(DrawContext& run) const override {
    const ChosenElement chosen = draw_filtered(run, size_, [this](std::int64_t index) {
      PyObject* value = item_of(elements_.ptr(), index);
      const Outcome outcome = value == nullptr ? Outcome::kError : transformations_.apply(value);
      return ChosenElement{index, value, outcome};
    });
    return chosen.outcome == Outcome::kNotSatisfied ? run.reject(kUnsatisfied) : chosen.value;
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(elements_, transformations_); }

 private:
  py::object elements_;
  Transformations transformations_;
  std::int64_t size_;
};

class Transformed final : public StrategyNode {
 public:
  Transformed(py::object value, Transformations transformations) noexcept
      : value_(std::move(value)), transformations_(std::move(transformations)) {}

  PyObject* draw_value(DrawContext& run) const override {
    PyObject* value = Py_NewRef(value_.ptr());
    return transformations_.apply(value) == Outcome::kNotSatisfied ? run.reject(kUnsatisfied) : value;
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(value_, transformations_); }

 private:
  py::object value_;
  Transformations transformations_;
};

class OneOf final : public StrategyNode {
 public:
  explicit OneOf(std::vector<StrategyNodePtr> branches) noexcept : branches_(std::move(branches)) {}

  PyObject* draw_value(DrawContext& run) const override {
    const auto index = draw_index(run, static_cast<std::int64_t>(branches_.size()));
    return index ? branches_[static_cast<std::size_t>(*index)]->draw(run) : nullptr;
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(branches_); }

 private:
  std::vector<StrategyNodePtr> branches_;
};

class OneOfWithBundles final : public StrategyNode {
 public:
  explicit OneOfWithBundles(std::vector<Branch> branches) noexcept : branches_(std::move(branches)) {}

  PyObject* draw_value(DrawContext& run) const override {
    const auto get = [&](std::int64_t index) {
      const py::object& bundle = branches_[static_cast<std::size_t>(index)].bundle;
      if (!bundle) {
        return ChosenElement{index, Py_NewRef(Py_None), Outcome::kValue};
      }
      const std::optional<bool> is_empty = is_bundle_empty(run, bundle.ptr());
      if (!is_empty) {
        return ChosenElement{index, nullptr, Outcome::kError};
      }
      return *is_empty ? ChosenElement{index, nullptr, Outcome::kNotSatisfied}
                       : ChosenElement{index, Py_NewRef(Py_None), Outcome::kValue};
    };
    const ChosenElement chosen = draw_filtered(run, static_cast<std::int64_t>(branches_.size()), get);
    if (chosen.outcome == Outcome::kNotSatisfied) {
      return run.reject(kUnsatisfied);
    }
    if (chosen.outcome == Outcome::kError) {
      return nullptr;
    }
    Py_DECREF(chosen.value);
    return branches_[static_cast<std::size_t>(chosen.index)].node->draw(run);
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(branches_); }

 private:
  std::vector<Branch> branches_;
};

}  // namespace

Outcome Transformations::apply(PyObject*& value) const noexcept {
  for (const auto& [is_filter, function] : steps_) {
    PyObject* const result = PyObject_CallOneArg(function.ptr(), value);
    if (result == nullptr) {
      Py_CLEAR(value);
      return Outcome::kError;
    }
    if (!is_filter) {
      Py_SETREF(value, result);
      continue;
    }
    const int is_true = PyObject_IsTrue(result);
    Py_DECREF(result);
    if (is_true != 1) {
      Py_CLEAR(value);
      return is_true == 0 ? Outcome::kNotSatisfied : Outcome::kError;
    }
  }
  return Outcome::kValue;
}

std::optional<std::int64_t> draw_index(DrawContext& run, std::int64_t size) {
  const auto index = choose(run, 0, size - 1, 0);
  run.source().note_selection();
  return index;
}

bool force_index(DrawContext& run, std::int64_t index) { return run.may_choose() && run.count(integer_size(index)); }

StrategyNodePtr sampled_node(py::object elements, bool is_position) {
  if (is_position) {
    return std::make_shared<Position>(std::move(elements));
  }
  return std::make_shared<Sampled>(std::move(elements));
}

StrategyNodePtr filtered_sample_node(py::object elements, Transformations transformations) {
  return std::make_shared<FilteredSample>(std::move(elements), std::move(transformations));
}

StrategyNodePtr transformed_node(py::object value, Transformations transformations) {
  return std::make_shared<Transformed>(std::move(value), std::move(transformations));
}

StrategyNodePtr one_of_node(std::vector<Branch> branches, bool chooses_one) {
  if (branches.size() == 1 && !chooses_one) {
    return std::move(branches.front().node);
  }
  if (std::ranges::any_of(branches, [](const Branch& branch) { return static_cast<bool>(branch.bundle); })) {
    return std::make_shared<OneOfWithBundles>(std::move(branches));
  }
  std::vector<StrategyNodePtr> nodes;
  nodes.reserve(branches.size());
  for (Branch& branch : branches) {
    nodes.push_back(std::move(branch.node));
  }
  return std::make_shared<OneOf>(std::move(nodes));
}

}  // namespace ordeal::bindings
