// The journal: the choices of the current run, in memory that another process can read when this one is gone.
//
// A tape dies with its process. Its journal lies in shared memory and records everything as soon as the tape does:
// even if the process ends in the middle of a step, the run can be replayed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/tape/choice.h"
#include "core/tape/step_source.h"
#include "core/tape/tape.h"

namespace ordeal {

struct JournalHeader;

// What the process is doing.
enum class JournalStage : std::uint8_t {
  kIdle,        // between two runs
  kMaking,      // before the first step, while the machine is made or restored
  kStep,        // from the first step on
  kTeardown,    // after the last
  kInspecting,  // while code of an inspected object runs: to get the text of an exception, for example
};

// The writing side, for one run at a time. Thread-compatible. It allocates nothing, makes no system call and never
// fails: what does not fit is left out, and the tape is then marked as cut.
//
// A process forked by the program under test has the same memory and would write to it. So each of these functions ends
// a process that was forked after the journal was made, or after own() was called: it has no other purpose.
class Journal {
 public:
  // Including the header; a run of a few steps fits.
  static constexpr std::size_t kBytesMin = 4096;
  // The content of a record is counted in 32 bits.
  static constexpr std::size_t kBytesMax = std::size_t{1} << 30U;
  static constexpr std::size_t kAlignment = 8;

  // The memory must outlive the journal; its previous content is lost. ConfigError for a size out of range, or for a
  // misaligned start.
  explicit Journal(std::span<std::byte> memory);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal() = default;

  // Makes the calling process the one that writes from now on.
  void own() noexcept;
  // Must be called in the child after a fork.
  static void forked() noexcept;
  // How many forks lie between the first process and this one.
  [[nodiscard]] static std::uint32_t forks() noexcept;

  // Records what a tape records, in the same order.
  void begin_run() noexcept;
  void begin_step(StepKind kind, std::uint32_t target, std::uint32_t origin) noexcept;
  void begin_argument(std::uint32_t name) noexcept;
  void set_producer(std::int64_t producer) noexcept;
  void add(const Choice& choice) noexcept;
  void drop_step() noexcept;
  // Records all steps of a tape, from which the run continues.
  void append(const Tape& tape) noexcept;
  // Records a boolean that the tape gets when its step has ended, as a choice of the argument `name`. If the step does
  // not end, the reader adds it to the tape.
  void add_decision(std::uint32_t name, bool decision) noexcept;
  void end_run() noexcept;
  // Sets the stage. Runs and steps change it as well.
  void enter(JournalStage stage) noexcept;
  [[nodiscard]] JournalStage stage() const noexcept;

  // Increases with every proposed step, and with every beginning and end of a run: while it does, the process makes
  // progress.
  [[nodiscard]] std::uint64_t steps() const noexcept { return steps_; }

 private:
  enum class Record : std::uint8_t;
  friend class JournalReader;

  void check_owner() const noexcept;
  void beat() noexcept;
  std::byte* claim(std::size_t size) noexcept;
  void publish(std::byte* end) noexcept;
  template <typename... Numbers>
  void write(Record record, std::uint8_t detail, Numbers... numbers) noexcept;
  void write_blob(Record record, const std::string& blob) noexcept;

  JournalHeader* header_;
  std::byte* begin_;
  std::byte* limit_;
  std::byte* at_;
  std::byte* end_;  // the limit, or where the tape was cut, so that nothing more fits
  std::uint64_t runs_ = 0;
  std::uint64_t steps_ = 0;
  std::uint32_t owner_;  // the fork count of the process that may write
};

// What a journal says about its process. `tape` is the latest run as far as it came, and `run` the number of that run,
// from 1; `steps` is as in Journal.
struct JournalRecord {
  Tape tape;
  bool cut = false;    // there was no room for the end of the tape
  bool ended = false;  // the run finished
  std::uint64_t run = 0;
  std::uint64_t steps = 0;
  JournalStage stage = JournalStage::kIdle;
};

// Reads the memory of a journal once, and trusts nothing there: another process could write anything to it. Throws
// TraceError for content that no journal of a machine of this shape has, and if another run began meanwhile.
JournalRecord read_journal(std::span<const std::byte> memory, const MachineShape& shape, std::uint32_t argument_names);

// The steps of the process that writes there; TraceError without a journal.
std::uint64_t read_journal_steps(std::span<const std::byte> memory);

}  // namespace ordeal
