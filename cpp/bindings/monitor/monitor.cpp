// The callbacks of sys.monitoring, and starting and stopping them.
#include "bindings/monitor/monitor.h"

#include <algorithm>
#include <atomic>
#include <exception>
#include <utility>

#include "bindings/cpython/c_api.h"
#include "bindings/monitor/code_hash.h"
#include "core/base/check.h"
#include "core/base/error.h"
#include "core/coverage/edge.h"

namespace ordeal::bindings {
namespace {

// Coverage tools use 1, Hypothesis' explain phase 3; so 4 first, and 3 if another engine holds it.
constexpr std::array<int, 2> kToolIds{4, 3};

// What the callbacks receive. If other code frees our tool id, they stay registered and may be called after the monitor
// is gone.
struct Link {
  Shared<Monitor*> monitor = nullptr;  // null once it has stopped
  py::object disable;                  // what silences a location
};

Link& link_of(PyObject* self) noexcept { return *static_cast<Link*>(PyCapsule_GetPointer(self, nullptr)); }

py::capsule new_link(py::object disable) {
  auto link = std::make_unique<Link>();
  link->disable = std::move(disable);
  return {link.release(), [](void* pointer) { delete static_cast<Link*>(pointer); }};
}

// Runs one callback, which returns whether the location has more to report. Afterwards the monitor may be gone.
template <typename Event>
PyObject* dispatch(PyObject* self, Event event) noexcept {
  const Link& link = link_of(self);
  Monitor* const monitor = link.monitor;
  PyObject* const disable = link.disable.ptr();
  const bool has_more = monitor == nullptr || monitor->is_paused() || event(*monitor);
  return Py_NewRef(has_more ? Py_None : disable);
}

PyCodeObject* code_of(PyObject* argument) noexcept { return reinterpret_cast<PyCodeObject*>(argument); }

// Lines and offsets are small: the inline half of the conversion is all that ever runs.
std::int64_t integer_of(PyObject* argument) noexcept {
  auto* const number = reinterpret_cast<PyLongObject*>(argument);
  return PyUnstable_Long_IsCompact(number) != 0 ? PyUnstable_Long_CompactValue(number) : PyLong_AsLongLong(argument);
}

extern "C" {

PyObject* ordeal_on_entry(PyObject* self, PyObject* const* arguments, Py_ssize_t /*count*/) noexcept {
  return dispatch(self, [=](Monitor& monitor) { return monitor.on_entry(code_of(arguments[0])); });
}

PyObject* ordeal_on_resume(PyObject* self, PyObject* const* arguments, Py_ssize_t /*count*/) noexcept {
  return dispatch(self, [=](Monitor& monitor) { return monitor.on_resume(code_of(arguments[0])); });
}

PyObject* ordeal_on_line(PyObject* self, PyObject* const* arguments, Py_ssize_t /*count*/) noexcept {
  return dispatch(self,
                  [=](Monitor& monitor) { return monitor.on_line(code_of(arguments[0]), integer_of(arguments[1])); });
}

PyObject* ordeal_on_branch(PyObject* self, PyObject* const* arguments, Py_ssize_t /*count*/) noexcept {
  return dispatch(self, [=](Monitor& monitor) {
    return monitor.on_branch(code_of(arguments[0]), integer_of(arguments[1]), integer_of(arguments[2]));
  });
}

}  // extern "C"

using Callback = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t) noexcept;

PyMethodDef method(const char* name, Callback callback) noexcept {
  return {name, fast(callback), METH_FASTCALL, nullptr};
}

// CPython keeps pointers to these.
PyMethodDef entry_method = method("on_entry", ordeal_on_entry);
PyMethodDef resume_method = method("on_resume", ordeal_on_resume);
PyMethodDef line_method = method("on_line", ordeal_on_line);
PyMethodDef branch_method = method("on_branch", ordeal_on_branch);

// Threads take turns: while there are no more of them than counters, each has one.
std::size_t counter_of_thread() noexcept {
  static std::atomic<std::size_t> turns{0};
  static constinit thread_local std::size_t turn [[gnu::tls_model("initial-exec")]] = 0;
  if (turn == 0) [[unlikely]] {
    turn = turns.fetch_add(1, std::memory_order_relaxed) + 1;
  }
  return turn;
}

// A file name as the system spells it: it need not be valid text.
std::string filename_of(PyCodeObject* code) { return path_text(code->co_filename); }

std::string text_of(const py::handle& object) { return py::str(object).cast<std::string>(); }

}  // namespace

py::object path_object(const std::string& path) {
  PyObject* const text = PyUnicode_DecodeFSDefaultAndSize(path.data(), static_cast<Py_ssize_t>(path.size()));
  return text != nullptr ? py::reinterpret_steal<py::object>(text) : throw py::error_already_set();
}

std::string path_text(py::handle path) {
  const auto name = py::reinterpret_steal<py::bytes>(PyUnicode_EncodeFSDefault(path.ptr()));
  return name ? std::string(name) : throw py::error_already_set();
}

Monitor::Monitor(std::shared_ptr<CoverageMap> coverage, const std::vector<TracedTarget>& targets, TraceLevel level)
    : coverage_(std::move(coverage)), targets_(targets), level_(level) {
  ORDEAL_CHECK(coverage_ != nullptr, "a monitor needs a coverage map");
  if (!kHasGil) {
    lock_.share();
    coverage_->share_with_threads();
  }
  references_.monitoring = py::module_::import("sys").attr("monitoring");
  references_.set_local_events = references_.monitoring.attr("set_local_events");
  references_.name = py::reinterpret_steal<py::object>(PyUnicode_FromString("ordeal"));
  references_.self = new_link(references_.monitoring.attr("DISABLE"));
  const py::object names = references_.monitoring.attr("events");
  const auto add = [&](const char* event, PyMethodDef& definition, int& events) {
    const py::object number = names.attr(event);
    const auto callback = py::reinterpret_steal<py::object>(PyCFunction_New(&definition, references_.self.ptr()));
    references_.callbacks.emplace_back(number, callback);
    events |= number.cast<int>();
  };
  add("PY_START", entry_method, global_events_);
  add("PY_RESUME", resume_method, global_events_);
  add("LINE", line_method, local_events_);
  sides_apart_ = py::hasattr(names, "BRANCH_LEFT");
  if (sides_apart_) {
    add("BRANCH_LEFT", branch_method, local_events_);
    add("BRANCH_RIGHT", branch_method, local_events_);
  } else {
    add("BRANCH", branch_method, local_events_);
  }
}

Monitor::~Monitor() { stop(); }

void Monitor::start() {
  if (tool_id()) {
    throw Error("the monitor is already started; call stop() before start()");
  }
  tool_id_ = take_tool_id();
  try {
    arm();
    adopt_running();
  } catch (...) {
    stop();
    throw;
  }
}

void Monitor::stop() {
  if (const auto taken = tool_id()) {
    tool_id_ = kNoTool;
    disarm(*taken);
  }
}

std::optional<std::string> Monitor::error() {
  if (const auto taken = tool_id()) {
    holds(*taken);
  }
  const auto lock = lock_.hold();
  return error_;
}

bool Monitor::holds(int tool_id) noexcept {
  try {
    if (references_.monitoring.attr("get_tool")(tool_id).is(references_.name)) {
      return true;
    }
    throw Error("other code has taken tool id " + std::to_string(tool_id) + " of sys.monitoring away");
  } catch (...) {
    keep_error();
    return false;
  }
}

int Monitor::take_tool_id() {
  std::string holders;
  for (const int tool_id : kToolIds) {
    const py::object holder = references_.monitoring.attr("get_tool")(tool_id);
    if (holder.is_none()) {
      references_.monitoring.attr("use_tool_id")(tool_id, references_.name);
      return tool_id;
    }
    holders += (holders.empty() ? "" : ", ") + std::to_string(tool_id) + " by '" + text_of(holder) + "'";
  }
  throw Error("no tool id of sys.monitoring is free for ordeal: " + holders +
              "; stop the tool that holds one, or run it in another process");
}

void Monitor::arm() {
  const int tool_id = tool_id_;
  link_of(references_.self.ptr()).monitor = this;
  for (const auto& [event, callback] : references_.callbacks) {
    references_.monitoring.attr("register_callback")(tool_id, event, callback);
  }
  for (const py::object& code : code_objects()) {
    references_.set_local_events(tool_id, code, local_events_);
  }
  references_.monitoring.attr("set_events")(tool_id, global_events_);
  // A location that an earlier holder of this tool id silenced would stay silent for us.
  restart_events();
}

// The loop of a thread that an import started is never entered again, so no event at its entry would report it.
void Monitor::adopt_running() {
  const auto own = PyThread_get_thread_ident();
  const auto frames = py::module_::import("sys").attr("_current_frames")().cast<py::dict>();
  for (const auto& [thread, innermost] : frames) {
    if (thread.cast<unsigned long>() == own) {
      continue;
    }
    for (auto frame = py::reinterpret_borrow<py::object>(innermost); !frame.is_none(); frame = frame.attr("f_back")) {
      const py::object code = frame.attr("f_code");
      auto* const running = reinterpret_cast<PyCodeObject*>(code.ptr());
      if (traced(running) == nullptr) {
        adopt(running);
      }
    }
  }
}

void Monitor::restart_events() {
  wake_all();
  has_silenced_ = false;
  references_.monitoring.attr("restart_events")();
}

// A monitor that resumes from the state of another knows no more than this.
bool Monitor::is_any_silent() const {
  const auto lock = lock_.hold();
  const auto is_silent = [](const auto& code) {
    return code.entry_silent || std::ranges::any_of(code.sites, [](const auto& site) {
             return site.silent || site.sides[0].silent || site.sides[1].silent;
           });
  };
  return std::ranges::any_of(codes_, is_silent) ||
         std::ranges::any_of(restored_, [&](const auto& entry) { return is_silent(entry.second); });
}

void Monitor::wake_all() {
  const auto lock = lock_.hold();
  const auto wake_one = [](auto& code) { wake(code); };
  std::ranges::for_each(codes_, wake_one);
  for (auto code = restored_.begin(); code != restored_.end(); ++code) {
    wake(code.value());
  }
}

void Monitor::disarm(int tool_id) noexcept {
  const py::error_scope unrelated;  // stop() may run while an exception of the user propagates
  link_of(references_.self.ptr()).monitor = nullptr;
  const auto attempt = [this](const auto& step) {
    try {
      step();
    } catch (...) {
      keep_error();
    }
  };
  const py::object& monitoring = references_.monitoring;
  if (!holds(tool_id)) {
    return;  // removing events now would disturb its next holder
  }
  attempt([&] { monitoring.attr("set_events")(tool_id, 0); });
  for (const py::object& code : code_objects()) {
    attempt([&] { references_.set_local_events(tool_id, code, 0); });
  }
  for (const auto& each : references_.callbacks) {
    attempt([&] { monitoring.attr("register_callback")(tool_id, each.first, py::none()); });
  }
  attempt([&] { monitoring.attr("free_tool_id")(tool_id); });
}

void Monitor::begin_run(bool full, bool count_all) {
  coverage_->begin_run();
  const bool counts = level_ == TraceLevel::kCounts;
  silences_counted_ = counts && !full && !count_all;
  coverage_->sample({.hits = counts && !silences_counted_, .marks = full && !counts});
  const bool arms = full || (counts && !silences_counted_ && has_silenced_ && is_any_silent());
  if (arms && tool_id()) {
    restart_events();
  }
}

void Monitor::set_level(TraceLevel level) {
  const bool needs_silent_ones = level == TraceLevel::kCounts && level_ != level;
  level_ = level;
  if (needs_silent_ones && tool_id()) {
    restart_events();
  }
}

std::uint64_t Monitor::events() const noexcept {
  std::uint64_t sum = 0;
  for (const Counter& counter : counters_) {
    sum += counter.events;
  }
  return sum;
}

py::dict Monitor::lines() const {
  py::dict by_file;
  for (const MonitorState::File& file : saved_files()) {
    by_file[path_object(file.path)] = file.lines;
  }
  return by_file;
}

py::list Monitor::files() const {
  py::list paths;
  for (const MonitorState::File& file : saved_files()) {
    paths.append(path_object(file.path));
  }
  return paths;
}

py::list Monitor::codes(std::size_t begin) const {
  py::list codes;
  for (std::size_t number = begin; number < references_.code_objects.size(); ++number) {
    codes.append(references_.code_objects[number]);
  }
  return codes;
}

std::vector<std::uint32_t> Monitor::take_files() {
  const auto lock = lock_.hold();
  const std::vector<std::uint32_t> taken(touched_);
  for (const std::uint32_t file : touched_) {
    files_[file].touched = false;
  }
  touched_.clear();  // not moved from: it keeps its capacity, so that count_event() never allocates
  return taken;
}

std::vector<Monitor::BranchSides> Monitor::branch_sides(const TracedCode& code) const {
  std::vector<BranchSides> branches;
  for (std::size_t instruction = 0; instruction < code.site_at.size(); ++instruction) {
    if (const BranchSite* const site = code.site_at[instruction]; site != nullptr) {
      const auto from = static_cast<std::int64_t>(instruction) * kInstructionSize;
      branches.push_back({from, site->sides[1].to >= 0});
    }
  }
  return branches;
}

// Code that only ran in another process is known by its key alone.
std::optional<std::vector<Monitor::BranchSides>> Monitor::branch_sides(PyCodeObject* code) {
  const TracedFile* const file = file_of(code);
  if (file == nullptr) {
    return std::nullopt;
  }
  const std::uint64_t key = key_of(code, *file);
  const auto lock = lock_.hold();
  if (const TracedCode* const found = find_key(key); found != nullptr) {
    return branch_sides(*found);
  }
  const auto state = restored_.find(key);
  if (state == restored_.end()) {
    return std::nullopt;
  }
  std::vector<BranchSides> branches;
  for (const MonitorState::Site& site : state->second.sites) {
    branches.push_back({site.from, site.sides[1].to >= 0});
  }
  return branches;
}

bool Monitor::on_entry(PyCodeObject* code) noexcept {
  TracedCode* const found = traced(code);
  return found == nullptr ? on_first_entry(code) : enter(*found);
}

// Python is called, and may let another thread stop the monitor and free it.
bool Monitor::on_first_entry(PyCodeObject* code) noexcept {
  const std::shared_ptr<Monitor> alive = weak_from_this().lock();
  TracedCode* const found = alive == nullptr ? nullptr : adopt(code);
  return found != nullptr && enter(*found);
}

bool Monitor::enter(TracedCode& code) noexcept {
  if (is_recording_) [[unlikely]] {
    return noted([&] { recorder_->entry(code.number); });
  }
  if (level_ == TraceLevel::kCounts) {
    return count_entry(code);
  }
  if (!code.entry_silent) {
    code.entry_silent = true;
    count_event(code);
    coverage_->mark(*code.entry_edge);
  }
  return false;
}

// A generator or coroutine that was entered before the monitor started is first seen here.
bool Monitor::on_resume(PyCodeObject* code) noexcept {
  if (traced(code) == nullptr) {
    const std::shared_ptr<Monitor> alive = weak_from_this().lock();
    alive == nullptr ? nullptr : adopt(code);
  }
  return false;
}

bool Monitor::on_line(PyCodeObject* code, std::int64_t line) noexcept {
  TracedCode* const found = traced(code);
  if (found == nullptr) {
    return false;
  }
  try {
    const auto lock = lock_.hold();
    const std::int64_t line_in_code = line - found->first_line;
    if (is_recording_) [[unlikely]] {
      recorder_->line(found->number, line_in_code);
      return false;
    }
    if (found->silent_lines.insert(line_in_code).second) {
      count_event(*found);
      found->file->lines.insert(line);
      coverage_->mark(coverage_->add_edge(line_key(found->key, line_in_code)));
    }
  } catch (...) {
    keep_error();
  }
  return false;
}

bool Monitor::on_branch(PyCodeObject* code, std::int64_t from, std::int64_t to) noexcept {
  TracedCode* const found = traced(code);
  if (found == nullptr) {
    return false;
  }
  if (is_recording_) [[unlikely]] {
    return noted([&] { recorder_->branch(found->number, from, to); });
  }
  try {
    BranchSite& site = site_of(*found, from);
    if (is_silent(site, to)) {
      return false;
    }
    count_event(*found);
    Edge& edge = edge_of(*found, site, from, to);
    return level_ == TraceLevel::kCounts ? count_branch(*found, site, to, edge) : mark_branch(site, to, edge);
  } catch (...) {
    keep_error();
    return false;
  }
}

// Whether the location has more to report: it has while it can be recorded.
template <typename Note>
bool Monitor::noted(Note note) noexcept {
  try {
    const auto lock = lock_.hold();
    note();
    return true;
  } catch (...) {
    keep_error();
    return false;
  }
}

Monitor::TracedCode* Monitor::traced(PyCodeObject* code) const noexcept {
  return by_code_.find(reinterpret_cast<std::uintptr_t>(code));
}

Monitor::TracedCode* Monitor::find_key(std::uint64_t key) const {
  const auto found = by_key_.find(key);
  return found == by_key_.end() ? nullptr : found->second;
}

std::vector<py::object> Monitor::code_objects() const {
  const auto lock = lock_.hold();
  return references_.code_objects;
}

Monitor::TracedCode* Monitor::adopt(PyCodeObject* code) noexcept {
  const py::error_scope unrelated;  // errors in here are ours, and an earlier one is the user's
  try {
    return adopt_or_throw(code);
  } catch (...) {
    if (tool_id()) {  // else another thread has stopped the monitor meanwhile, and the code is not traced any more
      keep_error();
    }
    return nullptr;
  }
}

Monitor::TracedCode* Monitor::adopt_or_throw(PyCodeObject* code) {
  TracedFile* const file = file_of(code);
  if (file == nullptr) {
    return nullptr;
  }
  const auto object = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(code));
  TracedCode* const found = add_object(object, key_of(code, *file), *file);
  if (found != nullptr) {
    references_.set_local_events(int{tool_id_}, object, local_events_);
  }
  return found;
}

std::uint64_t Monitor::key_of(PyCodeObject* code, const TracedFile& file) {
  return code_key(file.source.module_name, utf8(code->co_qualname), hash_code_body(code));
}

// The state of a code object: a new one, or that of another code object of the same key. Null when full.
Monitor::TracedCode* Monitor::add_object(const py::object& object, std::uint64_t key, TracedFile& file) {
  auto* const code = reinterpret_cast<PyCodeObject*>(object.ptr());
  const auto lock = lock_.hold();
  if (TracedCode* const known = traced(code); known != nullptr) {
    return known;  // by another thread, just now
  }
  if (by_code_.size() >= kCodeObjectsMax) {
    return nullptr;
  }
  TracedCode* found = find_key(key);
  if (found == nullptr) {
    found = &add_code(key, code->co_firstlineno, file);
  }
  if (!std::exchange(found->is_met, true)) {
    restored_.erase(key);
    const auto instructions = static_cast<std::size_t>(Py_SIZE(code));
    found->site_at.resize(std::max(instructions, found->site_at.size()));
  } else {
    wake(*found);  // nothing of the second code object is silent yet
    if (recorder_) {
      recorder_->met_again(found->number);
    }
  }
  references_.code_objects.push_back(object);  // before its address is known
  by_code_.insert(reinterpret_cast<std::uintptr_t>(code), found);
  return found;
}

// Code that was not met yet, without a known code object. With the lock held.
Monitor::TracedCode& Monitor::add_code(std::uint64_t key, std::int64_t first_line, TracedFile& file) {
  TracedCode& made = codes_.emplace_back();
  try {
    made.key = key;
    made.number = static_cast<std::uint32_t>(codes_.size() - 1);
    made.first_line = first_line;
    made.file = &file;
    made.entry_edge = &coverage_->add_edge(entry_key(key));
    made.is_met = false;
    if (const auto state = restored_.find(key); state != restored_.end()) {
      put_back(made, state->second);
    }
    by_key_.emplace(key, &made);
  } catch (...) {
    codes_.pop_back();
    throw;
  }
  return made;
}

// The answer is cached by name, not by code object: an ignored code object may be freed and its address reused.
Monitor::TracedFile* Monitor::file_of(PyCodeObject* code) { return add_file(filename_of(code)); }

// Null when it is outside the targets.
Monitor::TracedFile* Monitor::add_file(const std::string& name) {
  const auto lock = lock_.hold();
  if (const auto known = file_by_name_.find(name); known != file_by_name_.end()) {
    return known->second;
  }
  const auto source = targets_.source_of(name);
  TracedFile* file = nullptr;
  if (source) {
    const auto same =
        std::ranges::find_if(files_, [&](const TracedFile& other) { return other.source.path == source->path; });
    if (same == files_.end()) {
      const auto id = static_cast<std::uint32_t>(files_.size());
      touched_.reserve(files_.size() + 1);
      file = &files_.emplace_back(TracedFile{.source = *source, .lines = {}, .id = id});
    } else {
      file = &*same;
    }
  }
  file_by_name_.emplace(name, file);
  return file;
}

Monitor::BranchSite& Monitor::site_of(TracedCode& code, std::int64_t from) {
  const auto instruction = static_cast<std::size_t>(from / kInstructionSize);
  if (from >= 0 && instruction < code.site_at.size()) [[likely]] {
    if (BranchSite* const known = code.site_at[instruction]; known != nullptr) [[likely]] {
      return *known;
    }
  }
  const auto lock = lock_.hold();
  if (!code.is_met && from >= 0 && instruction >= code.site_at.size() && instruction < kInstructionsMax) {
    code.site_at.resize(instruction + 1);  // the total is not known yet
  }
  ORDEAL_CHECK(from >= 0 && instruction < code.site_at.size(), "from=" << from << " size=" << code.site_at.size());
  Shared<BranchSite*>& place = code.site_at[instruction];
  if (place == nullptr) {
    place = &code.sites.emplace_back();
  }
  return *place;
}

Monitor::Edge& Monitor::edge_of(const TracedCode& code, BranchSite& site, std::int64_t from, std::int64_t to) {
  for (const Side& side : site.sides) {
    if (side.to == to) {
      return *side.edge;
    }
  }
  const auto lock = lock_.hold();
  for (Side& side : site.sides) {
    if (side.to == to) {
      return *side.edge;
    }
    if (side.to < 0) {
      side.edge = &coverage_->add_edge(branch_key(code.key, from, to));
      side.to = to;
      return *side.edge;
    }
  }
  return coverage_->add_edge(branch_key(code.key, from, to));  // a branch with more than two ways has no slot for each
}

void Monitor::count_event(const TracedCode& code) noexcept {
  add_events(1);
  touch(*code.file);
}

void Monitor::add_events(std::uint64_t count) noexcept {
  Shared<std::uint64_t>& events = counters_[kHasGil ? 0 : counter_of_thread() % kCounters].events;
  events = events + count;
}

void Monitor::touch(TracedFile& file) noexcept {
  if (file.touched) {
    return;
  }
  const auto lock = lock_.hold();
  if (!file.touched) {
    file.touched = true;
    touched_.push_back(file.id);
  }
}

// Called from a catch block.
void Monitor::keep_error() noexcept {
  const auto lock = lock_.hold();
  if (error_) {
    return;
  }
  try {
    throw;
  } catch (const std::exception& error) {
    error_ = error.what();
  } catch (...) {
    error_ = "an exception that is not one of C++ or Python";
  }
}

}  // namespace ordeal::bindings
