#include "bindings/compiled/call_nodes.h"

#include <array>
#include <cstddef>

#include "bindings/compiled/choice_nodes.h"
#include "bindings/compiled/draw_function.h"

namespace ordeal::bindings {
namespace {

py::object& unsatisfied() {
  static auto* const kException = new py::object();  // outlives the interpreter's end
  return *kException;
}

class Map final : public StrategyNode {
 public:
  Map(StrategyNodePtr mapped, py::object function) noexcept
      : mapped_(std::move(mapped)), function_(std::move(function)) {}

  PyObject* draw_value(DrawContext& run) const override {
    for (int i = 1;; ++i) {
      PyObject* const value = mapped_->draw(run);
      PyObject* result = nullptr;
      if (value != nullptr) {
        result = PyObject_CallOneArg(function_.ptr(), value);
        Py_DECREF(value);
      }
      if (result != nullptr || i == kFilterTries || PyErr_ExceptionMatches(unsatisfied().ptr()) == 0) {
        return result;
      }
      PyErr_Clear();
    }
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(mapped_, function_); }

 private:
  StrategyNodePtr mapped_;
  py::object function_;
};

class Filter final : public StrategyNode {
 public:
  Filter(StrategyNodePtr filtered, std::vector<py::object> conditions) noexcept
      : filtered_(std::move(filtered)), conditions_(std::move(conditions)) {}

  PyObject* draw_value(DrawContext& run) const override {
    for (int i = 0; i < kFilterTries; ++i) {
      auto value = py::reinterpret_steal<py::object>(filtered_->draw(run));
      if (!value) {
        return nullptr;
      }
      const int is_satisfied = satisfies(value);
      if (is_satisfied < 0) {
        return nullptr;
      }
      if (is_satisfied == 1) {
        return value.release().ptr();
      }
    }
    return run.reject("Aborted test because unable to satisfy a filter");
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(filtered_, conditions_); }

 private:
  // -1 with an exception.
  [[nodiscard]] int satisfies(const py::object& value) const {
    for (const py::object& condition : conditions_) {
      const auto answer = py::reinterpret_steal<py::object>(PyObject_CallOneArg(condition.ptr(), value.ptr()));
      const int is_true = answer ? PyObject_IsTrue(answer.ptr()) : -1;
      if (is_true != 1) {
        return is_true;
      }
    }
    return 1;
  }

  StrategyNodePtr filtered_;
  std::vector<py::object> conditions_;
};

// The arguments of a call while they are drawn. For one thread at a time.
class Arguments {
 public:
  explicit Arguments(std::size_t size) { values_.reserve(size); }
  Arguments(const Arguments&) = delete;
  Arguments& operator=(const Arguments&) = delete;
  ~Arguments() {
    for (PyObject* const value : values_) {
      Py_DECREF(value);
    }
  }

  // Takes ownership of the reference, which may be null.
  bool add(PyObject* value) {
    if (value != nullptr) {
      values_.push_back(value);
    }
    return value != nullptr;
  }
  [[nodiscard]] PyObject* const* data() const noexcept { return values_.data(); }

 private:
  std::vector<PyObject*> values_;
};

class Builds final : public StrategyNode {
 public:
  Builds(py::object target, std::vector<StrategyNodePtr> parts, std::size_t positional, py::object names) noexcept
      : target_(std::move(target)), parts_(std::move(parts)), positional_(positional), names_(std::move(names)) {}

  PyObject* draw_value(DrawContext& run) const override {
    Arguments arguments(parts_.size());
    for (const StrategyNodePtr& part : parts_) {
      if (!arguments.add(part->draw(run))) {
        return nullptr;
      }
    }
    return PyObject_Vectorcall(target_.ptr(), arguments.data(), positional_, names_.ptr());
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(target_, parts_, names_); }

 private:
  py::object target_;
  std::vector<StrategyNodePtr> parts_;
  std::size_t positional_;
  py::object names_;  // null without keywords
};

class Flatmap final : public StrategyNode {
 public:
  Flatmap(StrategyNodePtr base, py::object expand, int depth) noexcept
      : base_(std::move(base)), expand_(std::move(expand)), depth_(depth) {}

  PyObject* draw_value(DrawContext& run) const override {
    const auto value = py::reinterpret_steal<py::object>(base_->draw(run));
    if (!value) {
      return nullptr;
    }
    const auto strategy = py::reinterpret_steal<py::object>(PyObject_CallOneArg(expand_.ptr(), value.ptr()));
    return strategy ? draw_strategy(run, strategy.ptr(), run.depth() + depth_) : nullptr;
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(base_, expand_); }

 private:
  StrategyNodePtr base_;
  py::object expand_;
  int depth_;
};

class Composite final : public StrategyNode {
 public:
  Composite(py::object definition, const py::tuple& arguments, const py::dict& keywords, int depth)
      : definition_(std::move(definition)), depth_(depth) {
    for (const py::handle argument : arguments) {
      values_.push_back(py::reinterpret_borrow<py::object>(argument));
    }
    positional_ = values_.size();
    py::list names;
    for (const auto& [name, value] : keywords) {
      names.append(name);
      values_.push_back(py::reinterpret_borrow<py::object>(value));
    }
    if (!names.empty()) {
      names_ = py::tuple(names);
    }
  }

  PyObject* draw_value(DrawContext& run) const override {
    const auto draw = py::reinterpret_steal<py::object>(new_draw_function(run, run.depth() + depth_));
    if (!draw) {
      return nullptr;
    }
    if (values_.empty()) {
      return PyObject_CallOneArg(definition_.ptr(), draw.ptr());
    }
    std::vector<PyObject*> all;
    all.reserve(values_.size() + 1);
    all.push_back(draw.ptr());
    for (const py::object& value : values_) {
      all.push_back(value.ptr());
    }
    return PyObject_Vectorcall(definition_.ptr(), all.data(), positional_ + 1, names_.ptr());
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(definition_, values_, names_); }

 private:
  py::object definition_;
  std::vector<py::object> values_;
  std::size_t positional_ = 0;
  py::object names_;
  int depth_;
};

}  // namespace

void set_unsatisfied(py::object exception) { unsatisfied() = std::move(exception); }

StrategyNodePtr map_node(StrategyNodePtr mapped, py::object function) {
  return std::make_shared<Map>(std::move(mapped), std::move(function));
}

StrategyNodePtr filter_node(StrategyNodePtr filtered, std::vector<py::object> conditions) {
  return std::make_shared<Filter>(std::move(filtered), std::move(conditions));
}

StrategyNodePtr builds_node(py::object target, std::vector<StrategyNodePtr> arguments,
                            std::vector<std::pair<py::object, StrategyNodePtr>> keywords) {
  const std::size_t positional = arguments.size();
  py::list names;
  for (auto& [name, node] : keywords) {
    names.append(name);
    arguments.push_back(std::move(node));
  }
  py::object all_names = names.empty() ? py::object() : py::object(py::tuple(names));
  return std::make_shared<Builds>(std::move(target), std::move(arguments), positional, std::move(all_names));
}

StrategyNodePtr flatmap_node(StrategyNodePtr base, py::object expand, int depth) {
  return std::make_shared<Flatmap>(std::move(base), std::move(expand), depth);
}

StrategyNodePtr composite_node(py::object definition, const py::tuple& arguments, const py::dict& keywords, int depth) {
  return std::make_shared<Composite>(std::move(definition), arguments, keywords, depth);
}

}  // namespace ordeal::bindings
