// The edge tracer: raw sys.monitoring callbacks that report to the coverage map which code of the targets runs.
#pragma once

#include <tsl/robin_map.h>
#include <tsl/robin_set.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "core/base/shared.h"
#include "core/coverage/coverage_map.h"
#include "core/coverage/run_record.h"
#include "core/coverage/traced_targets.h"

namespace ordeal::bindings {

// How much a location reports. Novelty: that it ran, once; afterwards the interpreter runs it at full speed. Counts:
// how often function entries and branches ran.
enum class TraceLevel : std::uint8_t { kNovelty, kCounts };

// Paths as the system spells them: they need not be valid text.
py::object path_object(const std::string& path);
std::string path_text(py::handle path);

// What a monitor needs to continue in another process as if it had not stopped: what ran, and which locations have
// nothing more to report until they are armed again. A location that is silent here costs the new process one event,
// which does not count.
struct MonitorState {
  struct File {
    std::string path;
    std::vector<std::int64_t> lines;
  };
  struct Side {
    std::int64_t to = -1;
    bool silent = false;
  };
  struct Site {
    std::int64_t from = 0;
    std::uint32_t one_sided_hits = 0;
    bool silent = false;
    std::array<Side, 2> sides;
  };
  struct Code {
    std::uint64_t key = 0;
    bool entry_silent = false;
    std::vector<std::int64_t> silent_lines;  // from the first line of the code
    std::vector<Site> sites;
  };

  std::vector<File> files;  // by id
  std::vector<std::uint32_t> touched;
  std::vector<Code> codes;
  std::uint64_t events = 0;
};

// Traces the code objects of the targets and no others, on every thread of the interpreter.
//
// A global event at function entry decides once for each code object, by its file; the code objects of a target then
// get local events. So code that is imported later, nested functions, comprehensions, generators, coroutines and class
// bodies are all found, and code outside the targets costs one event each. What other threads are in the middle of was
// entered before: it is looked up when the monitor starts. A started monitor must be stopped; otherwise the destructor
// does it.
//
// Thread-safe, also without a GIL. Callbacks run in many threads at once; what one has met before it finds and changes
// without a lock, and what is new it adds under one. CPython stops all threads to change the events of a code object or
// a callback, so that after stop() no callback runs, except one that waits inside of adopt(): it keeps the monitor
// alive. Nothing calls Python with the lock held, as a thread that waits there for others would keep it.
class Monitor : public std::enable_shared_from_this<Monitor> {
 public:
  Monitor(std::shared_ptr<CoverageMap> coverage, const std::vector<TracedTarget>& targets, TraceLevel level);
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;
  ~Monitor();

  // Takes a tool id of sys.monitoring and starts to trace. Throws Error when both ids are taken.
  void start();
  // Releases the tool id and removes all events from all code objects. Does nothing when not started.
  void stop();

  // Resets the hit counts for a new run. `full` re-arms everything silenced, so that every location reports once more:
  // sides of a branch that was silenced with only one side seen, and the files that a run touches. At the counts level,
  // unless the run is to `count_all`, locations whose edges are stale are silenced at their first passage; a run that
  // counts all arms them again.
  void begin_run(bool full, bool count_all);

  // Changes the level from here on. At the counts level everything silenced is armed again.
  void set_level(TraceLevel level);

  // While paused, running code is not seen and nothing changes: nothing counts, and nothing is silenced.
  void set_paused(bool paused) noexcept { paused_ = paused; }
  [[nodiscard]] bool is_paused() const noexcept { return paused_; }

  // In a fork: from here on nothing counts, but what runs is recorded, for the monitor of the forking process.
  void record();
  // What has run since the last call, as bytes; empty if nothing is recorded.
  [[nodiscard]] std::string take_record();
  // Sees what a fork has recorded as if it had run here, at the level of this monitor. Throws Error for bytes that
  // take_record() cannot have made; then it has seen nothing.
  void replay(std::string_view bytes);

  [[nodiscard]] MonitorState save() const;
  // Resumes from the state of another monitor. After start() and before the first run. A file that is no longer part of
  // the targets is left out, and with it its id.
  void restore(const MonitorState& state);

  // Executed lines by file, in ascending order.
  [[nodiscard]] py::dict lines() const;
  // The files of targets that have run so far; a file's id is its index here.
  [[nodiscard]] py::list files() const;
  // The code objects of targets that have run, in the order of their first event, without the first `begin` ones.
  [[nodiscard]] py::list codes(std::size_t begin) const;
  // The ids of files that reported an event since the last call, in the order of their first event.
  [[nodiscard]] std::vector<std::uint32_t> take_files();

  // For a code object of the targets: the instruction of each branch that ran, and whether both of its sides did.
  // Nothing if none of it ran.
  struct BranchSides {
    std::int64_t from = 0;
    bool both = false;
  };
  [[nodiscard]] std::optional<std::vector<BranchSides>> branch_sides(PyCodeObject* code);

  // Events of target code since the monitor was made: a measure of tracing cost that does not depend on time. A lower
  // bound, but exact while no more than kCounters threads send events.
  [[nodiscard]] std::uint64_t events() const noexcept;
  [[nodiscard]] std::optional<int> tool_id() const noexcept {
    const int tool_id = tool_id_;
    return tool_id == kNoTool ? std::nullopt : std::optional(tool_id);
  }
  [[nodiscard]] TraceLevel level() const noexcept { return level_; }
  // The first error inside a callback, which the program under test must not see. Tracing continues without that
  // location. That other code has taken the tool id away is an error too: nothing is traced from then on.
  [[nodiscard]] std::optional<std::string> error();

  // The callbacks. Each returns whether the location has more to report; false silences it.
  bool on_entry(PyCodeObject* code) noexcept;
  bool on_resume(PyCodeObject* code) noexcept;
  bool on_line(PyCodeObject* code, std::int64_t line) noexcept;
  bool on_branch(PyCodeObject* code, std::int64_t from, std::int64_t to) noexcept;

 private:
  static constexpr std::uint32_t kUnknown = UINT32_MAX;
  // Offsets of instructions are in bytes, and every instruction starts at an even one.
  static constexpr std::int64_t kInstructionSize = 2;
  // Above the code of any function.
  static constexpr std::size_t kInstructionsMax = std::size_t{1} << 22U;
  // A branch that went one way this often is silenced: its other side is mostly a line that is still armed.
  static constexpr std::uint32_t kOneSidedHitsMax = 256;

  // A target may be reloaded over and over.
  static constexpr std::size_t kCodeObjectsMax = std::size_t{1} << 20U;
  static constexpr int kNoTool = -1;
  static constexpr std::size_t kCounters = kHasGil ? 1 : 64;

  using Edge = CoverageMap::Cell;
  struct Side {
    Shared<std::int64_t> to = -1;  // set last
    Shared<Edge*> edge = nullptr;
    Shared<bool> silent = false;
  };
  struct BranchSite {
    std::array<Side, 2> sides;
    Shared<std::uint32_t> one_sided_hits = 0;  // since the last full run
    Shared<bool> silent = false;               // both sides together, before Python 3.14
  };
  struct TracedFile {
    TracedSource source;
    tsl::robin_set<std::int64_t> lines;
    std::uint32_t id = 0;
    Shared<bool> touched = false;
  };
  // The state of a traced code object. Code objects with the same key (of a reloaded module) share it. It stays where
  // it is, and so do its sites.
  struct TracedCode {
    std::uint64_t key = 0;
    std::uint32_t number = 0;  // dense
    std::int64_t first_line = 0;
    TracedFile* file = nullptr;
    Edge* entry_edge = nullptr;
    Shared<bool> entry_silent = false;
    tsl::robin_set<std::int64_t> silent_lines;  // from the first line
    std::vector<Shared<BranchSite*>> site_at;   // by instruction: in sites, or null
    std::deque<BranchSite> sites;
    bool is_met = true;  // false while only forks have run it; then site_at grows
  };
  // On a separate cache line, as mostly one thread counts there.
  struct alignas(64) Counter {
    Shared<std::uint64_t> events = 0;
  };
  // Every reference to an object of CPython that the monitor holds.
  struct References {
    py::object name;  // identifies our tool id: only its owner has this very object
    py::object self;  // the callbacks receive it: a capsule that leads to the monitor
    py::object monitoring;
    py::object set_local_events;
    std::vector<std::pair<py::object, py::object>> callbacks;  // event, callable
    std::vector<py::object> code_objects;  // traced ones: kept so that their addresses are not reused
  };

  // Every location of the code reports again.
  template <typename Code>
  static void wake(Code& code) {
    code.entry_silent = false;
    code.silent_lines.clear();
    for (auto& site : code.sites) {
      site.one_sided_hits = 0;
      site.silent = false;
      for (auto& side : site.sides) {
        side.silent = false;
      }
    }
  }

  int take_tool_id();
  // Whether other code has left the tool id to this monitor; keeps an error if not.
  bool holds(int tool_id) noexcept;
  void arm();
  void adopt_running();
  void restart_events();
  void wake_all();
  [[nodiscard]] bool is_any_silent() const;
  void disarm(int tool_id) noexcept;

  // Null where nothing is known.
  [[nodiscard]] TracedCode* find_key(std::uint64_t key) const;
  [[nodiscard]] static std::uint64_t key_of(PyCodeObject* code, const TracedFile& file);
  [[nodiscard]] std::vector<BranchSides> branch_sides(const TracedCode& code) const;
  template <typename Note>
  bool noted(Note note) noexcept;
  bool enter(TracedCode& code) noexcept;
  [[nodiscard]] TracedCode* traced(PyCodeObject* code) const noexcept;
  TracedCode* add_object(const py::object& object, std::uint64_t key, TracedFile& file);
  [[nodiscard]] std::vector<py::object> code_objects() const;
  [[nodiscard]] std::vector<MonitorState::File> saved_files() const;
  TracedCode* adopt(PyCodeObject* code) noexcept;
  TracedCode* adopt_or_throw(PyCodeObject* code);
  TracedCode& add_code(std::uint64_t key, std::int64_t first_line, TracedFile& file);
  TracedCode* recorded_code(const RunRecord::Code& recorded);
  void replay_entry(TracedCode& code, std::uint32_t hits);
  void replay_line(TracedCode& code, std::int64_t line_in_code);
  void replay_branch(TracedCode& code, const RunRecord::Passage& passage);
  bool on_first_entry(PyCodeObject* code) noexcept;
  TracedFile* file_of(PyCodeObject* code);
  TracedFile* add_file(const std::string& name);
  [[nodiscard]] static MonitorState::Code saved(const TracedCode& code);
  void put_back(TracedCode& code, const MonitorState::Code& state);
  BranchSite& site_of(TracedCode& code, std::int64_t from);
  Edge& edge_of(const TracedCode& code, BranchSite& site, std::int64_t from, std::int64_t to);
  bool mark_branch(BranchSite& site, std::int64_t to, Edge& edge) noexcept;
  [[nodiscard]] bool is_silent(const BranchSite& site, std::int64_t to) const noexcept;
  [[nodiscard]] bool has_more_to_tell(BranchSite& site) const noexcept;
  bool count_entry(TracedCode& code) noexcept;
  bool count_branch(const TracedCode& code, BranchSite& site, std::int64_t to, Edge& edge) noexcept;
  void count_event(const TracedCode& code) noexcept;
  void add_events(std::uint64_t count) noexcept;
  void touch(TracedFile& file) noexcept;
  void keep_error() noexcept;

  std::shared_ptr<CoverageMap> coverage_;
  TracedTargets targets_;
  Shared<TraceLevel> level_;
  Shared<int> tool_id_ = kNoTool;
  int global_events_ = 0;
  int local_events_ = 0;
  bool sides_apart_ = false;  // since Python 3.14 each side of a branch is a separate event
  Shared<bool> paused_ = false;
  Shared<bool> silences_counted_ = false;  // at the counts level, in this run
  Shared<bool> has_silenced_ = false;      // maybe, at the counts level, since everything was armed
  Shared<bool> is_recording_ = false;
  AddressMap<TracedCode> by_code_;
  mutable std::array<Counter, kCounters> counters_;
  // What follows is guarded by the lock.
  mutable ThreadLock lock_;
  std::optional<RunRecorder> recorder_;
  std::deque<TracedCode> codes_;  // by number
  tsl::robin_map<std::uint64_t, TracedCode*> by_key_;
  tsl::robin_map<std::uint64_t, MonitorState::Code> restored_;  // by key, until the code is met
  std::deque<TracedFile> files_;                                // by id
  tsl::robin_map<std::string, TracedFile*> file_by_name_;  // as code objects spell it; null when outside the targets
  std::vector<std::uint32_t> touched_;
  std::optional<std::string> error_;
  References references_;
};

}  // namespace ordeal::bindings
