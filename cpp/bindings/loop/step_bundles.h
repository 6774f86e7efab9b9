// The bundles of a rule machine, read and written like Hypothesis does: lists of references, and values by name.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "core/draw/choice_source.h"

namespace ordeal::bindings {

// A machine's storage of bundles, looked up once for a run: rules change it, but nothing replaces it.
struct BundleStore {
  static BundleStore of(PyObject* machine);

  // Borrowed; null while the bundle has no values.
  [[nodiscard]] PyObject* references(const py::object& bundle) const;

  py::object bundles;   // by name, the references
  py::object counters;  // by name, how many values the bundle has received
  py::object names;
  py::object values;  // by name of the value
};

// A bundle that a rule adds to. Names and references of values are the same in every run, so they are cached.
class TargetBundle {
 public:
  TargetBundle(py::object bundle, py::object reference_type);

  [[nodiscard]] PyObject* bundle() const noexcept { return bundle_.ptr(); }
  // The name and the reference of the value with this number.
  [[nodiscard]] std::pair<py::object, py::object> entry(std::int64_t number);

 private:
  // A machine that fills a bundle without end must not fill the memory with names.
  static constexpr std::size_t kKeptMax = 1024;

  [[nodiscard]] std::pair<py::object, py::object> make(std::int64_t number) const;

  py::object bundle_;
  py::object reference_type_;
  std::vector<std::pair<py::object, py::object>> kept_;
};

// Which step of the tape made which value, so that a replay can follow it. A view of the run context's dict, by name.
class Producers {
 public:
  explicit Producers(py::object by_name) : by_name_(std::move(by_name)) {}

  void made(PyObject* name, std::int64_t producer);
  [[nodiscard]] std::int64_t of(PyObject* name) const;
  // Draws a position among `references`, 0 for the newest, that follows what was recorded.
  std::int64_t follow(ChoiceSource& source, PyObject* references) const;

 private:
  py::object by_name_;
};

// Puts the results of a rule into its bundles. `producers` is null in a live run.
void add_to_bundles(const BundleStore& store, std::vector<TargetBundle>& targets, PyObject* result,
                    PyObject* multiple_results_type, ChoiceSource& source, Producers* producers);

// The value that `value` stands for, which may be a reference or a list of them.
py::object resolved(const BundleStore& store, py::object value, PyObject* reference_type);

}  // namespace ordeal::bindings
