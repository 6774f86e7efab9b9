// FaultSwitch: whether a fault is on, what it has counted, and the plan by which it is switched without Python.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/faults/patch_site.h"
#include "core/base/shared.h"

namespace ordeal::bindings {

// Calls of the program may meet a fault in any thread at any time, and are counted exactly. The rest is for one thread
// at a time: the one that runs the rules.
class FaultSwitch {
 public:
  // What a target led to when the plan was made: `name` of `container` was `expected`.
  struct PathStep {
    py::object container;
    py::object name;
    py::object expected;
    bool is_item = false;  // an item of a dict, and not an attribute
  };

  // One target: its layer, the attributes that it goes on, and names that stand for something else by now.
  struct Part {
    py::object layer;
    std::vector<std::pair<py::object, PatchSite*>> sites;
    std::vector<std::pair<py::object, py::object>> others;  // modules and names
    py::object original;
  };

  struct Plan {
    py::object mark;  // of the modules, when it was made
    std::vector<PathStep> path;
    std::vector<Part> parts;
  };

  // Counts a call that met the fault, and returns its number since `hits` was reset, from 1.
  std::int64_t meet() noexcept {
    ++calls;
    return ++hits;
  }

  void set_on(bool value) noexcept {
    on = value;
    was_on = was_on || value;
    by_plan = false;
  }
  void set_plan(Plan plan) { plan_ = std::move(plan); }
  void drop_plan() { const std::optional<Plan> dropped = std::exchange(plan_, std::nullopt); }
  [[nodiscard]] bool has_plan() const noexcept { return plan_.has_value(); }

  // Switches the fault by its plan. Returns false with nothing changed if there is none, or if the program has changed
  // in a way that Python has to look at.
  bool put_on();
  bool take_off();

  // Forgets what the layers have made.
  void forget();

  // Returns to the state of a new fault. Returns false with nothing changed if the fault is on and Python must switch
  // it off. What the layers have made is forgotten, unless it `lasts`.
  bool reset(bool lasts);

  // Has `runs`, `calls` and `changes` stay as they are until `resume()`.
  void pause() noexcept { counted_ = {runs, calls, changes}; }
  void resume() noexcept;

  int traverse(visitproc visit, void* argument) const;
  void clear();

  Shared<bool> on = false;
  bool was_on = false;   // at any time since the last reset
  bool by_plan = false;  // it is on, and was put on by its plan
  std::atomic<std::int64_t> hits = 0;
  std::int64_t runs = 0;
  std::atomic<std::int64_t> calls = 0;
  std::atomic<std::int64_t> changes = 0;
  py::object listener = py::none();

 private:
  struct Counts {
    std::int64_t runs = 0;
    std::int64_t calls = 0;
    std::int64_t changes = 0;
  };

  [[nodiscard]] bool leads_to_same() const;

  Counts counted_;  // when they were paused
  std::optional<Plan> plan_;
};

}  // namespace ordeal::bindings
