// The callbacks of sys.monitoring, and starting and stopping them.
#include "bindings/monitor/monitor.h"

#include <algorithm>
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

// The pointer of the capsule has no meaning; its context is the monitor, or null once that has stopped. If other code
// frees our tool id, the callbacks stay registered and may be called after the monitor is gone.
char capsule_pointer = 0;

Monitor* monitor_of(PyObject* self) noexcept { return static_cast<Monitor*>(PyCapsule_GetContext(self)); }

// Runs one callback, which returns whether the location has more to report.
template <typename Event>
PyObject* dispatch(PyObject* self, Event event) noexcept {
  Monitor* const monitor = monitor_of(self);
  const bool has_more = monitor == nullptr || monitor->is_paused() || event(*monitor);
  return Py_NewRef(has_more ? Py_None : monitor->disable());
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
  references_.monitoring = py::module_::import("sys").attr("monitoring");
  references_.disable = references_.monitoring.attr("DISABLE");
  references_.set_local_events = references_.monitoring.attr("set_local_events");
  references_.name = py::reinterpret_steal<py::object>(PyUnicode_FromString("ordeal"));
  references_.self = py::reinterpret_steal<py::object>(PyCapsule_New(&capsule_pointer, nullptr, nullptr));
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

Monitor::~Monitor() {
  if (tool_id_) {
    disarm(*std::exchange(tool_id_, std::nullopt));
  }
}

void Monitor::start() {
  if (tool_id_) {
    throw Error("the monitor is already started; call stop() before start()");
  }
  const int tool_id = take_tool_id();
  tool_id_ = tool_id;
  try {
    arm();
    adopt_running();
  } catch (...) {
    stop();
    throw;
  }
}

void Monitor::stop() {
  if (tool_id_) {
    disarm(*std::exchange(tool_id_, std::nullopt));
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
  PyCapsule_SetContext(references_.self.ptr(), this);
  for (const auto& [event, callback] : references_.callbacks) {
    references_.monitoring.attr("register_callback")(*tool_id_, event, callback);
  }
  for (const py::object& code : references_.code_objects) {
    references_.set_local_events(*tool_id_, code, local_events_);
  }
  references_.monitoring.attr("set_events")(*tool_id_, global_events_);
  // A location that an earlier holder of this tool id silenced would stay silent for us.
  restart_events();
}

// The loop of a thread that an import started is never entered again, so no event at its entry would tell of it.
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

// A monitor that goes on from the state of another knows no more than this.
bool Monitor::is_any_silent() const {
  const auto is_silent = [](const auto& code) {
    return code.entry_silent || std::ranges::any_of(code.sites, [](const auto& site) {
             return site.silent || site.sides[0].silent || site.sides[1].silent;
           });
  };
  return std::ranges::any_of(codes_, is_silent) ||
         std::ranges::any_of(restored_, [&](const auto& entry) { return is_silent(entry.second); });
}

void Monitor::wake_all() {
  const auto wake_one = [](auto& code) { wake(code); };
  std::ranges::for_each(codes_, wake_one);
  for (auto code = restored_.begin(); code != restored_.end(); ++code) {
    wake(code.value());
  }
}

void Monitor::disarm(int tool_id) noexcept {
  const py::error_scope unrelated;  // stop() may run while an exception of the user propagates
  PyCapsule_SetContext(references_.self.ptr(), nullptr);
  const auto attempt = [this](const auto& step) {
    try {
      step();
    } catch (...) {
      keep_error();
    }
  };
  const py::object& monitoring = references_.monitoring;
  bool is_ours = false;
  attempt([&] { is_ours = monitoring.attr("get_tool")(tool_id).is(references_.name); });
  if (!is_ours) {
    return;  // other code freed the id; removing events now would disturb its next holder
  }
  attempt([&] { monitoring.attr("set_events")(tool_id, 0); });
  for (const py::object& code : references_.code_objects) {
    attempt([&] { references_.set_local_events(tool_id, code, 0); });
  }
  for (const auto& [event, callback] : references_.callbacks) {
    attempt([&, &event = event] { monitoring.attr("register_callback")(tool_id, event, py::none()); });
  }
  attempt([&] { monitoring.attr("free_tool_id")(tool_id); });
}

void Monitor::begin_run(bool full, bool count_all) {
  coverage_->begin_run();
  const bool counts = level_ == TraceLevel::kCounts;
  silences_counted_ = counts && !full && !count_all;
  coverage_->sample({.hits = counts && !silences_counted_, .marks = full && !counts});
  const bool arms = full || (counts && !silences_counted_ && has_silenced_ && is_any_silent());
  if (arms && tool_id_) {
    restart_events();
  }
}

void Monitor::set_level(TraceLevel level) {
  const bool needs_silent_ones = level == TraceLevel::kCounts && level_ != level;
  level_ = level;
  if (needs_silent_ones && tool_id_) {
    restart_events();
  }
}

py::dict Monitor::lines() const {
  py::dict by_file;
  for (const TracedFile& file : files_) {
    std::vector<std::int64_t> lines(file.lines.begin(), file.lines.end());
    std::ranges::sort(lines);
    by_file[path_object(file.source.path)] = lines;
  }
  return by_file;
}

py::list Monitor::files() const {
  py::list paths;
  for (const TracedFile& file : files_) {
    paths.append(path_object(file.source.path));
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
    if (const std::uint32_t place = code.site_at[instruction]; place != kUnknown) {
      const auto from = static_cast<std::int64_t>(instruction) * kInstructionSize;
      branches.push_back({from, code.sites[place].sides[1].edge != kUnknown});
    }
  }
  return branches;
}

// Code that only ran in another process is known by its key alone.
std::optional<std::vector<Monitor::BranchSides>> Monitor::branch_sides(PyCodeObject* code) {
  if (const TracedCode* const found = traced(code)) {
    return branch_sides(*found);
  }
  const auto file = file_of(code);
  if (!file) {
    return std::nullopt;
  }
  const std::uint64_t key = code_key(files_[*file].source.module_name, utf8(code->co_qualname), hash_code_body(code));
  if (const auto number = registry_.find_key(key)) {
    return branch_sides(codes_[*number]);
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
  TracedCode* found = traced(code);
  if (found == nullptr) {
    found = adopt(code);
  }
  if (found == nullptr) {
    return false;
  }
  if (recorder_) [[unlikely]] {
    return noted([&] { recorder_->entry(number_of(*found)); });
  }
  if (level_ == TraceLevel::kCounts) {
    return count_entry(*found);
  }
  if (!std::exchange(found->entry_silent, true)) {
    count_event(*found);
    coverage_->mark(found->entry_edge);
  }
  return false;
}

// A generator or coroutine that was entered before the monitor started is first seen here.
bool Monitor::on_resume(PyCodeObject* code) noexcept {
  if (traced(code) == nullptr) {
    adopt(code);
  }
  return false;
}

bool Monitor::on_line(PyCodeObject* code, std::int64_t line) noexcept {
  TracedCode* const found = traced(code);
  if (found == nullptr) {
    return false;
  }
  try {
    const std::int64_t line_in_code = line - found->first_line;
    if (recorder_) [[unlikely]] {
      recorder_->line(number_of(*found), line_in_code);
      return false;
    }
    if (found->silent_lines.insert(line_in_code).second) {
      count_event(*found);
      files_[found->file].lines.insert(line);
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
  if (recorder_) [[unlikely]] {
    return noted([&] { recorder_->branch(number_of(*found), from, to); });
  }
  try {
    BranchSite& site = site_of(*found, from);
    if (is_silent(site, to)) {
      return false;
    }
    count_event(*found);
    const std::uint32_t edge = edge_of(*found, site, from, to);
    return level_ == TraceLevel::kCounts ? count_branch(*found, site, to, edge) : mark_branch(site, to, edge);
  } catch (...) {
    keep_error();
    return false;
  }
}

std::uint32_t Monitor::number_of(const TracedCode& code) const noexcept {
  return static_cast<std::uint32_t>(&code - codes_.data());
}

// Whether the location has more to report: it has while it can be recorded.
template <typename Note>
bool Monitor::noted(Note note) noexcept {
  try {
    note();
    return true;
  } catch (...) {
    keep_error();
    return false;
  }
}

Monitor::TracedCode* Monitor::traced(PyCodeObject* code) noexcept {
  const auto number = registry_.find(reinterpret_cast<std::uintptr_t>(code));
  return number ? &codes_[*number] : nullptr;
}

Monitor::TracedCode* Monitor::adopt(PyCodeObject* code) noexcept {
  const py::error_scope unrelated;  // errors in here are ours, and an earlier one is the user's
  try {
    return adopt_or_throw(code);
  } catch (...) {
    keep_error();
    return nullptr;
  }
}

Monitor::TracedCode* Monitor::adopt_or_throw(PyCodeObject* code) {
  const auto file = file_of(code);
  if (!file) {
    return nullptr;
  }
  const auto object = py::reinterpret_borrow<py::object>(reinterpret_cast<PyObject*>(code));
  const std::uint64_t key = code_key(files_[*file].source.module_name, utf8(code->co_qualname), hash_code_body(code));
  // Everything that may fail comes before the number: from then on, numbers are looked up in `codes_`.
  const bool is_new = !registry_.find_key(key);
  if (is_new) {
    codes_.push_back(new_code(key, code->co_firstlineno, *file));
  }
  std::optional<std::uint32_t> number;
  try {
    references_.code_objects.push_back(object);  // before its address is registered
    number = registry_.add(reinterpret_cast<std::uintptr_t>(code), key);
  } catch (...) {
    codes_.resize(registry_.size());
    throw;
  }
  if (!number) {
    references_.code_objects.pop_back();
    codes_.resize(registry_.size());
    return nullptr;
  }
  ORDEAL_DCHECK(codes_.size() == registry_.size(), codes_.size() << " codes, " << registry_.size() << " numbers");
  TracedCode& found = codes_[*number];
  if (!std::exchange(found.is_met, true)) {
    restored_.erase(key);
    const auto instructions = static_cast<std::size_t>(Py_SIZE(code));
    found.site_at.resize(std::max(instructions, found.site_at.size()), kUnknown);
  } else {
    wake(found);  // nothing of the second code object is silent yet
    if (recorder_) {
      recorder_->met_again(*number);
    }
  }
  references_.set_local_events(*tool_id_, object, local_events_);
  return &codes_[*number];
}

// Code that was not met yet, without a known code object.
Monitor::TracedCode Monitor::new_code(std::uint64_t key, std::int64_t first_line, std::uint32_t file) {
  TracedCode made{.key = key,
                  .first_line = first_line,
                  .file = file,
                  .entry_edge = coverage_->add_edge(entry_key(key)),
                  .entry_silent = false,
                  .silent_lines = {},
                  .site_at = {},
                  .sites = {},
                  .is_met = false};
  if (const auto state = restored_.find(key); state != restored_.end()) {
    put_back(made, state->second);
  }
  return made;
}

// The answer is cached by name, not by code object: an ignored code object may be freed and its address reused.
std::optional<std::uint32_t> Monitor::file_of(PyCodeObject* code) { return add_file(filename_of(code)); }

std::optional<std::uint32_t> Monitor::add_file(const std::string& name) {
  if (const auto known = file_by_name_.find(name); known != file_by_name_.end()) {
    return known->second == kUnknown ? std::nullopt : std::optional(known->second);
  }
  const auto source = targets_.source_of(name);
  std::uint32_t file = kUnknown;
  if (source) {
    const auto same =
        std::ranges::find_if(files_, [&](const TracedFile& other) { return other.source.path == source->path; });
    file = static_cast<std::uint32_t>(same - files_.begin());
    if (same == files_.end()) {
      files_.push_back({.source = *source, .lines = {}, .touched = false});
      touched_.reserve(files_.size());
    }
  }
  file_by_name_.emplace(name, file);
  return source ? std::optional(file) : std::nullopt;
}

Monitor::BranchSite& Monitor::site_of(TracedCode& code, std::int64_t from) {
  const auto instruction = static_cast<std::size_t>(from / kInstructionSize);
  if (!code.is_met && from >= 0 && instruction >= code.site_at.size() && instruction < kInstructionsMax) {
    code.site_at.resize(instruction + 1, kUnknown);  // the total is not known yet
  }
  ORDEAL_CHECK(from >= 0 && instruction < code.site_at.size(), "from=" << from << " size=" << code.site_at.size());
  std::uint32_t& place = code.site_at[instruction];
  if (place == kUnknown) {
    code.sites.emplace_back();
    place = static_cast<std::uint32_t>(code.sites.size() - 1);
  }
  return code.sites[place];
}

std::uint32_t Monitor::edge_of(const TracedCode& code, BranchSite& site, std::int64_t from, std::int64_t to) {
  for (Side& side : site.sides) {
    if (side.to == to) {
      return side.edge;
    }
    if (side.edge == kUnknown) {
      side = {.to = to, .edge = coverage_->add_edge(branch_key(code.key, from, to))};
      return side.edge;
    }
  }
  return coverage_->add_edge(branch_key(code.key, from, to));  // a branch with more than two ways has no slot for each
}

void Monitor::count_event(const TracedCode& code) noexcept {
  ++events_;
  touch(code.file);
}

void Monitor::touch(std::uint32_t file) noexcept {
  if (!std::exchange(files_[file].touched, true)) {
    touched_.push_back(file);
  }
}

// Called from a catch block.
void Monitor::keep_error() noexcept {
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
