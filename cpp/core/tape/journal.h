// The journal: the choices of the run under way, in memory that another process can read when this one is gone.
//
// A tape dies with its process. Its journal lies in memory that both share, and holds all that the tape does as soon as
// it does: whatever ends the process in the middle of a step, the run can be replayed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "core/tape/choice.h"
#include "core/tape/step_source.h"
#include "core/tape/tape.h"

namespace ordeal {

struct JournalHeader;

// What the process does, as far as it is known without asking it.
enum class JournalStage : std::uint8_t {
  kIdle,      // between two runs
  kMaking,    // before the first step: the machine is made, or restored
  kStep,      // from the first step on
  kTeardown,  // after the last
  kTelling,   // what objects of the program say of themselves is asked: the text of an exception, for example
};

// The writing side, of one run at a time. Thread-compatible. It allocates nothing, asks nothing of the system and never
// fails: what does not fit is left out, and the tape is then marked as cut.
//
// A process that the program under test forks has the same memory and would write to it. So each of these functions
// ends a process that came out of a fork since the journal was made, or since own() was called: it has no other work.
class Journal {
 public:
  // With the header; a run of a few steps fits.
  static constexpr std::size_t kBytesMin = 4096;
  // What one record holds is counted in 32 bits.
  static constexpr std::size_t kBytesMax = std::size_t{1} << 30U;
  static constexpr std::size_t kAlignment = 8;

  // The memory must outlive the journal; what it held is gone. ConfigError for a size out of range, or when it does not
  // begin at a multiple of the alignment.
  explicit Journal(std::span<std::byte> memory);
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;
  ~Journal() = default;

  // The process that calls it is the one to write from now on.
  void own() noexcept;
  // To be called after a fork, in the child.
  static void forked() noexcept;

  // What a tape is told, in the same order.
  void begin_run() noexcept;
  void begin_step(StepKind kind, std::uint32_t target, std::uint32_t origin) noexcept;
  void begin_argument(std::uint32_t name) noexcept;
  void set_producer(std::int64_t producer) noexcept;
  void add(const Choice& choice) noexcept;
  void drop_step() noexcept;
  // All steps of a tape: the run goes on from there.
  void append(const Tape& tape) noexcept;
  // A boolean that the tape gets when its step has ended, as one of the choices of the argument `name`. Where the step
  // does not end, it is read as if the tape had it.
  void add_decision(std::uint32_t name, bool decision) noexcept;
  void end_run() noexcept;
  // Runs and steps change the stage as well.
  void enter(JournalStage stage) noexcept;
  [[nodiscard]] JournalStage stage() const noexcept;

  // Moves on with every step that is proposed, and with every beginning and end of a run: while it does, the process
  // makes progress.
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
  std::byte* end_;  // the limit, or where the tape was cut: nothing fits there any more
  std::uint64_t runs_ = 0;
  std::uint64_t steps_ = 0;
  std::uint32_t owner_;  // how many forks lay before the process that is to write
};

// What a journal says of its process. `tape` is that of the latest run as far as it came, and `run` the number of that
// run, from 1; `steps` is as in Journal.
struct JournalRecord {
  Tape tape;
  bool cut = false;    // there was no room for the end of the tape
  bool ended = false;  // the run came to its end
  std::uint64_t run = 0;
  std::uint64_t steps = 0;
  JournalStage stage = JournalStage::kIdle;
};

// Reads the memory of a journal once, and trusts nothing there: another process could write anything to it. TraceError
// for what no journal of a machine of this shape says, and for a journal that began another run meanwhile.
JournalRecord read_journal(std::span<const std::byte> memory, const MachineShape& shape, std::uint32_t argument_names);

// Of the process that writes there; TraceError where no journal is.
std::uint64_t read_journal_steps(std::span<const std::byte> memory);

}  // namespace ordeal
