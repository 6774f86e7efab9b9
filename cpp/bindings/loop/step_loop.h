// The step loop: runs a machine step by step, following a step source. Python runs only the user's code.
//
// It does the same as `ordeal._engine.execution.driver.Driver`, call for call and in the same order. The driver is the
// reference.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/compiled/compiled_strategy.h"
#include "bindings/compiled/draw_context.h"
#include "bindings/faults/fault_switch.h"
#include "bindings/loop/state_numbers.h"
#include "bindings/loop/step_bundles.h"
#include "bindings/loop/step_machine.h"
#include "core/draw/replay.h"
#include "core/schedule/interleaving.h"
#include "core/search/session.h"

namespace ordeal::bindings {

// For one thread. One run at a time.
class StepLoop {
 public:
  // How a run ended without an exception of C++. Where it failed, a rule or an invariant raised an error of Python.
  enum class End : std::uint8_t { kDone, kStuck, kFailed };

  // What the loop needs for one run besides the machine.
  struct Run {
    py::object step_source;  // a Session or a Replay
    py::object context;      // the run's context
    py::object machine;
    py::object driver;    // toggles faults, awaits coroutines, and words errors of the user
    py::object listener;  // notified of each step that ended well; may be None
    bool fresh = true;    // the machine was just made: invariants are due before the first step
    double deadline = 0;  // by the monotonic clock, in seconds; infinite for none
  };

  // For each fault, `switches` has the switch that the loop may use, or None. `failed` is filled while a step runs with
  // what failed outside of its frames; the driver raises it.
  StepLoop(const py::object& definition, py::list faults, py::list switches, const py::function& bundle_of,
           py::list failed, bool hashes_state, std::int64_t length_max);

  End run(const Run& run);
  // What a run that failed raised, once.
  [[nodiscard]] py::object take_error() { return std::exchange(error_, py::object()); }

  // Read from outside while a run is under way.
  bool in_step = false;     // decisions of buggify belong to a step
  std::uint64_t steps = 0;  // moved on with each, over all runs
  std::uint32_t begun = 0;  // steps of this run that began
  // The step after which an invariant failed, packed, if one did in the latest run.
  std::optional<std::uint32_t> broken_by;
  py::object data = py::none();           // Hypothesis' record of the run, once something has needed it
  std::shared_ptr<StateNumbers> numbers;  // of the machine, for runs of a session; may be null
  // The name of the rule that runs, or None between runs.
  [[nodiscard]] py::object current() const {
    return current_ == nullptr ? py::none() : py::reinterpret_borrow<py::object>(current_);
  }

  // The names of rules with the seconds that their slowest step took that ended well, in runs with a deadline: in
  // these, the time is read before each step anyway.
  [[nodiscard]] py::dict slowest() const;

  int traverse(visitproc visit, void* argument) const;
  void clear();

 private:
  class Call;
  enum class StepEnd : std::uint8_t { kTaken, kRejected, kFailed };

  NextStep next();
  void reject();
  void time_step(double now) noexcept;
  bool has_ended(PyObject* returned, py::object& result);
  StepEnd take_step(const NextStep& step);
  [[nodiscard]] bool is_full() const;
  [[nodiscard]] bool is_initializing() const;
  [[nodiscard]] bool holds(const py::object& name, const std::vector<py::object>& preconditions) const;
  [[nodiscard]] bool may_run(const StepRule& rule) const;
  [[nodiscard]] bool may_initialize(const StepRule& rule) const;
  void initialized(const StepRule& rule);
  bool run_rule(StepRule& rule, bool initialize);
  void draw_arguments(const StepRule& rule, Call& call);
  py::object draw(const StepArgument& argument);
  py::object draw_from_bundle(const StepArgument& argument);
  void toggle(const NextStep& step);
  void take_result(StepRule& rule, py::object result);
  void raise_failed();
  bool check_invariants();
  bool check_invariants_after(const NextStep& step);
  [[nodiscard]] PyObject* awaited(PyObject* coroutine) const;
  [[nodiscard]] PyObject* checked(const StepInvariant& invariant) const;
  void end_step();
  [[nodiscard]] std::uint64_t state_hash();
  void learn(const NextStep& step);
  void go_again(std::uint64_t hash);
  void tell_sizes(const StepRule& rule);
  [[nodiscard]] Py_ssize_t observations() const;
  void look_up();

  // The machine class.
  std::vector<StepRule> rules_;
  std::vector<StepRule> initializers_;
  std::vector<StepInvariant> invariants_;
  py::list faults_;
  py::list switches_;
  std::vector<FaultSwitch*> known_switches_;  // of `switches_`; null for None
  py::list failed_;
  bool hashes_state_;
  std::int64_t length_max_;
  py::object reference_type_;
  py::object multiple_results_type_;

  // The current run.
  const Run* run_ = nullptr;
  PyObject* machine_ = nullptr;
  BundleStore store_;
  py::object left_;             // initialize rules that are left to run
  Session* session_ = nullptr;  // exactly one of the two exists
  Replay* replay_ = nullptr;
  ChoiceSource* source_ = nullptr;
  py::object buggify_;
  py::object decisions_;  // of buggify in this step: a list
  py::object improved_;   // properties that came nearer: a dict, or null
  py::object producers_;
  bool learns_in_python_ = false;
  Py_ssize_t observed_ = 0;               // observations that the listener has seen
  Interleaving* interleaving_ = nullptr;  // of the tasks of the machine, if it has any
  DrawContext* draw_context_ = nullptr;   // how much of Hypothesis' buffer is used
  PyObject* current_ = nullptr;           // the name of the rule that runs; borrowed from the machine class
  py::object error_;                      // what a rule or an invariant raised
  std::uint32_t since_signals_ = 0;
  double step_began_ = 0;
  double* step_slowest_ = nullptr;  // of the rule that runs, in a run with a deadline
};

}  // namespace ordeal::bindings
