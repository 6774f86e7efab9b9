#include "bindings/loop/step_loop.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <ctime>
#include <limits>
#include <span>
#include <utility>
#include <vector>

#include "bindings/cpython/c_api.h"
#include "bindings/loop/kept_names.h"
#include "core/base/check.h"
#include "core/tape/journal.h"

namespace ordeal::bindings {
namespace {

// Without any Python function, a loop would not notice Ctrl-C.
constexpr std::uint32_t kSignalsPeriod = 256;

PyObject* initialize_rules_left() {
  static PyObject* const kLeft = interned("_initialize_rules_to_run");
  return kLeft;
}

// The time of Python's time.monotonic().
double monotonic_seconds() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

template <typename... Arguments>
void tell(const py::object& object, const char* method, const Arguments&... arguments) {
  static_cast<void>(object.attr(method)(arguments...));
}

}  // namespace

// The arguments of one call of a rule for the vectorcall protocol: the machine, then the values.
class StepLoop::Call {
 public:
  Call(PyObject* machine, std::size_t capacity) {
    if (capacity + 2 > few_.size()) {
      many_.resize(capacity + 2);
      slots_ = many_.data();
    }
    slots_[1] = machine;
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;
  ~Call() { clear(); }

  void add(py::object value) { slots_[count_++ + 2] = value.release().ptr(); }
  void clear() noexcept {
    while (count_ > 0) {
      Py_DECREF(slots_[--count_ + 2]);
    }
  }
  [[nodiscard]] std::size_t size() const noexcept { return count_; }

  void resolve(const BundleStore& store, PyObject* reference_type) {
    for (std::size_t i = 0; i < count_; ++i) {
      PyObject*& slot = slots_[i + 2];
      PyTypeObject* const type = Py_TYPE(slot);
      if (reinterpret_cast<PyObject*>(type) == reference_type || type == &PyList_Type) {
        // Taken out of the slot first: it must not be released twice if this fails.
        py::object value = resolved(store, py::reinterpret_borrow<py::object>(slot), reference_type);
        PyObject* const before = std::exchange(slot, value.release().ptr());
        Py_DECREF(before);
      }
    }
  }

  // Null where the function raised: Python has the error.
  [[nodiscard]] PyObject* operator()(PyObject* function, PyObject* keywords) {
    const LentNames lent;
    return PyObject_Vectorcall(function, slots_ + 1, 1 | PY_VECTORCALL_ARGUMENTS_OFFSET,
                               count_ == 0 ? nullptr : keywords);
  }

 private:
  std::array<PyObject*, 10> few_;  // the callee may use the first
  std::vector<PyObject*> many_;
  PyObject** slots_ = few_.data();
  std::size_t count_ = 0;
};

StepLoop::StepLoop(const py::object& definition, py::list faults, py::list switches, const py::function& bundle_of,
                   py::list failed, bool hashes_state, std::int64_t length_max)
    : rules_(read_rules(definition.attr("rules"), bundle_of)),
      initializers_(read_rules(definition.attr("initializers"), bundle_of)),
      invariants_(read_invariants(definition.attr("invariants"))),
      faults_(std::move(faults)),
      switches_(std::move(switches)),
      failed_(std::move(failed)),
      hashes_state_(hashes_state),
      length_max_(length_max) {
  const py::module_ names = py::module_::import("ordeal._hypothesis.private");
  reference_type_ = names.attr("VarReference");
  multiple_results_type_ = names.attr("MultipleResults");
  for (const py::handle each : switches_) {
    known_switches_.push_back(each.is_none() ? nullptr : &each.cast<FaultSwitch&>());
  }
  ORDEAL_CHECK(known_switches_.size() == faults_.size(), "a switch for each fault, or None");
}

StepLoop::End StepLoop::run(const Run& run) {
  ORDEAL_CHECK(run_ == nullptr, "a run is under way");
  // Cleans up after the run, however it ends.
  struct Scope {
    StepLoop& loop;
    ~Scope() {
      loop.run_ = nullptr;
      loop.in_step = false;
      loop.current_ = nullptr;
      loop.data = py::none();
      // Releases what the run held; the machine itself belongs to the caller.
      loop.store_ = {};
      loop.left_ = py::object();
      loop.buggify_ = py::object();  // it refers to the loop: the garbage collector sees nothing of a run
      loop.decisions_ = py::object();
      loop.producers_ = py::object();
      loop.improved_ = py::object();
      loop.draw_context_ = nullptr;
      loop.interleaving_ = nullptr;
    }
  };
  const Scope scope{*this};
  run_ = &run;
  look_up();
  if (run.fresh && !check_invariants()) {
    return End::kFailed;
  }
  const std::uint32_t forks = Journal::forks();
  while (!is_full()) {
    const NextStep step = next();
    ++steps;
    if (step.kind == NextKind::kEnd) {
      return End::kDone;
    }
    if (step.kind == NextKind::kStuck) {
      return End::kStuck;
    }
    const bool is_timed = session_ != nullptr && session_->wants_times();
    const double began = is_timed ? monotonic_seconds() : 0;
    const StepEnd end = take_step(step);
    if (Journal::forks() != forks) {
      std::_Exit(0);  // the child of a fork of the program would search as well
    }
    if (end != StepEnd::kFailed) {
      raise_failed();
    }
    if (end == StepEnd::kFailed || (end == StepEnd::kTaken && !check_invariants_after(step))) {
      return End::kFailed;
    }
    if (end == StepEnd::kTaken) {
      end_step();
      if (is_timed) {
        session_->took(monotonic_seconds() - began);
      }
      learn(step);
    }
    if (++since_signals_ % kSignalsPeriod == 0) {
      check(PyErr_CheckSignals());
    }
  }
  return End::kDone;
}

void StepLoop::look_up() {
  static PyObject* const kBuggify = interned("buggify");
  static PyObject* const kDrawn = interned("drawn");
  static PyObject* const kProducers = interned("producers");
  static PyObject* const kDrawContext = interned("draw_context");
  static PyObject* const kLearnsEachStep = interned("learns_each_step");
  static PyObject* const kNearer = interned("nearer");
  static PyObject* const kInterleaving = interned("interleaving");
  machine_ = run_->machine.ptr();
  store_ = BundleStore::of(machine_);
  left_ = attribute(machine_, initialize_rules_left());
  const bool is_session = py::isinstance<Session>(run_->step_source);
  session_ = is_session ? &run_->step_source.cast<Session&>() : nullptr;
  replay_ = is_session ? nullptr : &run_->step_source.cast<Replay&>();
  source_ = is_session ? &session_->source() : &replay_->source();
  buggify_ = attribute(run_->context.ptr(), kBuggify);
  decisions_ = attribute(buggify_.ptr(), kDrawn);
  producers_ = attribute(run_->context.ptr(), kProducers);
  begun = 0;
  broken_by.reset();
  step_slowest_ = nullptr;
  observed_ = 0;
  const py::object interleaving = attribute(run_->context.ptr(), kInterleaving);
  interleaving_ = interleaving.is_none() ? nullptr : &interleaving.cast<Interleaving&>();
  draw_context_ = draw_context_of(attribute(run_->context.ptr(), kDrawContext).ptr());
  ORDEAL_CHECK(draw_context_ != nullptr && draw_context_->is_open(), "the context of a run has an open draw context");
  if (!run_->listener.is_none()) {
    // Without a session, there is nothing but steps to report.
    learns_in_python_ = !is_session || attribute(run_->listener.ptr(), kLearnsEachStep).cast<bool>();
    improved_ = learns_in_python_ ? py::dict() : attribute(run_->listener.ptr(), kNearer);
  }
}

// Better a shorter run than one that overruns Hypothesis' buffer.
bool StepLoop::is_full() const {
  const std::int64_t length = draw_context_->length();
  if (length < 0) [[unlikely]] {
    throw py::error_already_set();
  }
  return length > length_max_;
}

NextStep StepLoop::next() {
  if (session_ != nullptr) {
    return session_->next();
  }
  if (run_->deadline == std::numeric_limits<double>::infinity()) {
    return replay_->next();
  }
  const double now = monotonic_seconds();
  time_step(now);
  if (now >= run_->deadline) {
    tell(run_->driver, "out_of_time");
  }
  step_began_ = now;
  return replay_->next();
}

// The step before has ended well, as another one is asked for.
void StepLoop::time_step(double now) noexcept {
  if (double* const slowest = std::exchange(step_slowest_, nullptr)) {
    *slowest = std::max(*slowest, now - step_began_);
  }
}

py::dict StepLoop::slowest() const {
  py::dict result;
  for (const std::vector<StepRule>* rules : {&rules_, &initializers_}) {
    for (const StepRule& rule : *rules) {
      if (rule.slowest > 0) {
        result[rule.name] = rule.slowest;
      }
    }
  }
  return result;
}

// Owns what a function returned; false where it raised instead. No exception of C++ is thrown for what runs do all the
// time: it would take as long as some steps.
bool StepLoop::has_ended(PyObject* returned, py::object& result) {
  result = py::reinterpret_steal<py::object>(returned);
  if (returned == nullptr) [[unlikely]] {
    error_ = py::reinterpret_steal<py::object>(PyErr_GetRaisedException());
  }
  return returned != nullptr;
}

void StepLoop::reject() { session_ != nullptr ? session_->reject() : replay_->reject(); }

// A rule that cannot run is rejected.
StepLoop::StepEnd StepLoop::take_step(const NextStep& step) {
  const bool initialize = step.kind == NextKind::kInitialize;
  if (step.kind != NextKind::kRule && !initialize) {
    ++begun;
    in_step = true;
    toggle(step);
    return StepEnd::kTaken;
  }
  StepRule& rule = initialize ? initializers_[step.target] : rules_[step.target];
  if (initialize ? !may_initialize(rule) : !may_run(rule)) {
    reject();
    return StepEnd::kRejected;
  }
  ++begun;
  in_step = true;
  return run_rule(rule, initialize) ? StepEnd::kTaken : StepEnd::kFailed;
}

// ---------------------------------------------------------------------------------------------------------------------
// Which rules can run

bool StepLoop::is_initializing() const { return PyList_GET_SIZE(left_.ptr()) > 0; }

// Whether all hold, checking them in order until one does not. One that raises is a mistake in the machine.
bool StepLoop::holds(const py::object& name, const std::vector<py::object>& preconditions) const {
  for (const py::object& precondition : preconditions) {
    int truth = -1;
    {
      const LentNames lent;
      PyObject* const answer = PyObject_CallOneArg(precondition.ptr(), machine_);
      truth = answer == nullptr ? -1 : PyObject_IsTrue(answer);
      Py_XDECREF(answer);
    }
    if (truth < 0) [[unlikely]] {
      tell(run_->driver, "refuse_precondition", name, py::reinterpret_steal<py::object>(PyErr_GetRaisedException()));
    }
    if (truth <= 0) {
      return false;
    }
  }
  return true;
}

bool StepLoop::may_run(const StepRule& rule) const {
  if (is_initializing()) {
    return false;
  }
  for (const py::object& bundle : rule.required_bundles) {
    PyObject* const references = store_.references(bundle);
    if (references == nullptr || PyObject_Size(references) == 0) {
      return false;
    }
  }
  return holds(rule.name, rule.preconditions);
}

bool StepLoop::may_initialize(const StepRule& rule) const {
  for (const py::handle each : left_) {
    if (each.is(rule.original)) {
      return true;
    }
  }
  return false;
}

// It runs now, so it is not left to run.
void StepLoop::initialized(const StepRule& rule) {
  py::list left;
  for (const py::handle each : left_) {
    if (!each.is(rule.original)) {
      left.append(each);
    }
  }
  check(PyObject_SetAttr(machine_, initialize_rules_left(), left.ptr()));
  left_ = std::move(left);
}

// ---------------------------------------------------------------------------------------------------------------------
// Steps

// False if the rule raised.
bool StepLoop::run_rule(StepRule& rule, bool initialize) {
  constexpr std::uint32_t kBody = 0;
  current_ = rule.name.ptr();
  step_slowest_ = &rule.slowest;
  Call call(machine_, rule.arguments.size());
  draw_arguments(rule, call);
  while (session_ != nullptr && rule.may_draw_again() && session_->draws_again()) {
    call.clear();
    draw_arguments(rule, call);
  }
  if (rule.draws_in_body) {
    source_->begin_argument(kBody);
    check(draw_context_->give_length() ? 0 : -1);
  }
  call.resolve(store_, reference_type_.ptr());
  if (initialize) {
    initialized(rule);
  }
  py::object result;
  if (!has_ended(call(rule.function.ptr(), rule.keywords.ptr()), result) ||
      (rule.is_coroutine && !has_ended(awaited(result.ptr()), result))) {
    return false;
  }
  if (rule.draws_in_body) {
    draw_context_->take_length();
  }
  take_result(rule, std::move(result));
  return true;
}

PyObject* StepLoop::awaited(PyObject* coroutine) const {
  static PyObject* const kAwaitResult = interned("await_result");
  const LentNames lent;
  return PyObject_CallMethodObjArgs(run_->driver.ptr(), kAwaitResult, coroutine, run_->machine.ptr(), nullptr);
}

void StepLoop::draw_arguments(const StepRule& rule, Call& call) {
  for (const StepArgument& argument : rule.arguments) {
    source_->begin_argument(argument.number);
    call.add(draw(argument));
  }
}

py::object StepLoop::draw(const StepArgument& argument) {
  if (argument.bundle) {
    return draw_from_bundle(argument);
  }
  return owned(argument.compiled != nullptr ? draw_compiled(*argument.compiled, *draw_context_)
                                            : PyObject_CallOneArg(argument.draw.ptr(), run_->context.ptr()));
}

py::object StepLoop::draw_from_bundle(const StepArgument& argument) {
  PyObject* const references = store_.references(argument.bundle);
  if (references == nullptr || PyList_GET_SIZE(references) == 0) {
    // Python raises the reason why the run is over.
    return owned(PyObject_CallOneArg(argument.draw.ptr(), run_->context.ptr()));
  }
  const Py_ssize_t size = PyList_GET_SIZE(references);
  // Only a replay may have lost steps. A run of a session uses positions, however it came to where it is.
  const std::int64_t position =
      replay_ == nullptr ? source_->position(size) : Producers(producers_).follow(*source_, references);
  const Py_ssize_t at = size - 1 - position;
  auto reference = py::reinterpret_borrow<py::object>(PyList_GET_ITEM(references, at));
  if (argument.consumes) {
    check(PySequence_DelItem(references, at));
  }
  return reference;
}

void StepLoop::toggle(const NextStep& step) {
  const bool on = step.kind == NextKind::kFaultOn;
  FaultSwitch* const known = known_switches_[step.target];
  const LentNames lent;  // it may replace one of them
  if (known != nullptr && (known->on == on || (on ? known->put_on() : known->take_off()))) {
    return;
  }
  const py::object fault = faults_[step.target];
  run_->driver.attr("toggle")(fault, on, run_->context, py::none());
}

void StepLoop::take_result(StepRule& rule, py::object result) {
  if (!rule.targets.empty()) {
    Producers producers(producers_);
    add_to_bundles(store_, rule.targets, result.ptr(), multiple_results_type_.ptr(), *source_,
                   replay_ == nullptr ? nullptr : &producers);
  } else if (!result.is_none()) {
    tell(run_->driver, "refuse_result", rule.name, result);
  }
}

// The end of a step, or of the invariants after it: what failed outside of their frames fails them.
void StepLoop::raise_failed() {
  if (PyList_GET_SIZE(failed_.ptr()) > 0) [[unlikely]] {
    tell(run_->driver, "fail_outside");
  }
}

PyObject* StepLoop::checked(const StepInvariant& invariant) const {
  const LentNames lent;
  return PyObject_CallOneArg(invariant.function.ptr(), machine_);
}

// False if one raised.
bool StepLoop::check_invariants() {
  if (invariants_.empty()) {
    return true;
  }
  const bool initializing = is_initializing();
  for (const StepInvariant& invariant : invariants_) {
    if ((initializing && !invariant.check_during_init) || !holds(invariant.name, invariant.preconditions)) {
      continue;
    }
    current_ = invariant.name.ptr();
    py::object result;
    if (!has_ended(checked(invariant), result)) {
      return false;
    }
    if (!result.is_none()) {
      tell(run_->driver, "refuse_check", invariant.name, result);
    }
  }
  raise_failed();
  return true;
}

bool StepLoop::check_invariants_after(const NextStep& step) {
  try {
    if (!check_invariants()) {
      broken_by = step.packed();
      return false;
    }
    return true;
  } catch (...) {
    broken_by = step.packed();
    throw;
  }
}

void StepLoop::end_step() {
  in_step = false;
  if (PyList_GET_SIZE(decisions_.ptr()) > 0) {
    tell(buggify_, "end_step");
  }
}

// ---------------------------------------------------------------------------------------------------------------------
// The effects of a step

std::uint64_t StepLoop::state_hash() {
  static PyObject* const kHook = interned("state_hash");
  if (!hashes_state_) {
    return 0;
  }
  const py::object hash = owned(PyObject_CallMethodNoArgs(machine_, kHook));
  if (PyLong_Check(hash.ptr()) == 0) {
    tell(run_->driver, "refuse_hash", hash);
  }
  return PyLong_AsUnsignedLongLongMask(hash.ptr());
}

void StepLoop::learn(const NextStep& step) {
  if (run_->listener.is_none()) {
    return;
  }
  const std::uint64_t hash = state_hash();
  if (interleaving_ != nullptr && session_ != nullptr) {
    session_->interleaved(interleaving_->take_new());
  }
  if (session_ != nullptr && session_->replaying_prefix()) {
    go_again(hash);
    return;
  }
  if (step.kind == NextKind::kRule || step.kind == NextKind::kInitialize) {
    tell_sizes(step.kind == NextKind::kRule ? rules_[step.target] : initializers_[step.target]);
  }
  if (session_ != nullptr && numbers != nullptr) {
    numbers->look(machine_, *session_);
  }
  const Py_ssize_t observed = observations();
  const bool has_observed = std::exchange(observed_, observed) != observed;
  if (learns_in_python_ || has_observed || PyDict_GET_SIZE(improved_.ptr()) > 0) {
    tell(run_->listener, "step_done", run_->context, step.packed(), hash);
    return;
  }
  if (session_->done(hash, 0).any()) {
    tell(run_->listener, "new_features", run_->context);
  }
}

// Nothing is learnt from a step that ran before, on the way back to where the run continues.
void StepLoop::go_again(std::uint64_t hash) {
  static_cast<void>(session_->done(hash, 0));
  if (session_->prefix_left() == 0) {
    tell(run_->listener, "returned", run_->context);
  }
}

// The sizes of the bundles that the rule may have changed.
void StepLoop::tell_sizes(const StepRule& rule) {
  if (rule.fills.empty() || session_ == nullptr) {
    return;
  }
  for (const auto& [number, name] : rule.fills) {
    PyObject* const references = store_.references(name);
    session_->bundle_size(number, references == nullptr ? 0 : static_cast<std::size_t>(PyObject_Size(references)));
  }
}

// How many events and targets the run has reported to Hypothesis. Each label counts once, so a new one changes the
// number.
Py_ssize_t StepLoop::observations() const {
  static PyObject* const kEvents = interned("events");
  static PyObject* const kTargets = interned("target_observations");
  if (data.is_none()) {
    return 0;
  }
  return PyObject_Size(attribute(data.ptr(), kEvents).ptr()) + PyObject_Size(attribute(data.ptr(), kTargets).ptr());
}

// ---------------------------------------------------------------------------------------------------------------------
// The garbage collector

int StepLoop::traverse(visitproc visit, void* argument) const {
  const auto see = [&](PyObject* object) { return object == nullptr ? 0 : visit(object, argument); };
  for (const std::vector<StepRule>* rules : {&rules_, &initializers_}) {
    for (const StepRule& rule : *rules) {
      for (const py::object* held : {&rule.rule, &rule.function, &rule.original}) {
        if (const int stop = see(held->ptr()); stop != 0) {
          return stop;
        }
      }
      if (const int stop = visit_each(rule.preconditions, see); stop != 0) {
        return stop;
      }
      for (const StepArgument& each : rule.arguments) {
        if (const int stop = see(each.draw.ptr()); stop != 0) {
          return stop;
        }
      }
    }
  }
  for (const StepInvariant& invariant : invariants_) {
    if (const int stop = see(invariant.function.ptr()); stop != 0) {
      return stop;
    }
    if (const int stop = visit_each(invariant.preconditions, see); stop != 0) {
      return stop;
    }
  }
  if (const int stop = see(switches_.ptr()); stop != 0) {
    return stop;
  }
  return see(faults_.ptr());
}

void StepLoop::clear() {
  rules_.clear();
  initializers_.clear();
  invariants_.clear();
  faults_ = py::list();
  known_switches_.clear();
  switches_ = py::list();
  failed_ = py::list();
}

}  // namespace ordeal::bindings
