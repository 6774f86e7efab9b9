#include "core/tape/journal.h"

#include <atomic>
#include <bit>
#include <cstdlib>
#include <cstring>
#include <new>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/base/error.h"
#include "core/tape/text.h"

namespace ordeal {

// The header of the memory. Numbers have this machine's byte order: a journal never leaves it.
//
// `used` bytes of records follow. It is written after them, and the number of the run before those of a new run, so
// that everything read between two equal run numbers belongs to that run. Another process reads this memory, perhaps
// after this one was killed in the middle of a write. So every field is a lock-free atomic, and the count of bytes is
// published after the bytes.
struct JournalHeader {
  static constexpr std::uint64_t kMagic = 0x6F72646C'6A6E0001;  // the last two bytes are the version

  std::atomic<std::uint64_t> magic;
  std::atomic<std::uint64_t> capacity;  // of the records
  std::atomic<std::uint64_t> used;
  std::atomic<std::uint64_t> run;
  std::atomic<std::uint64_t> steps;
  std::atomic<std::uint32_t> stage;
  std::atomic<std::uint32_t> cut;
};

static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "a lock would be of one process");
static_assert(sizeof(JournalHeader) == 48 && alignof(JournalHeader) == Journal::kAlignment);
static_assert(sizeof(JournalHeader) < Journal::kBytesMin);

namespace {

// A fork invalidates all existing journals for the child.
std::uint32_t journal_forks = 0;

}  // namespace

// A record is one byte, with a detail in its upper half, and its content.
enum class Journal::Record : std::uint8_t {
  kStep = 1,    // of the kind in the detail: target, origin
  kArgument,    // name
  kProducer,    // producer
  kBoolean,     // in the detail
  kInteger,     // 64 bits
  kBigInteger,  // a blob, as the next ones: its size in 32 bits, and its bytes
  kString,
  kBytes,
  kFloat,     // 64 bits
  kDecision,  // in the detail: name
  kDrop,
  kEnd,
};

// ---------------------------------------------------------------------------------------------------------------------
// Writing

// The magic number comes last: memory that has it holds a complete header.
Journal::Journal(std::span<std::byte> memory) : owner_(journal_forks) {
  if (memory.size() < kBytesMin || memory.size() > kBytesMax) {
    throw ConfigError("a journal has " + std::to_string(memory.size()) + " bytes; it must have " +
                      std::to_string(kBytesMin) + " to " + std::to_string(kBytesMax));
  }
  if (std::bit_cast<std::uintptr_t>(memory.data()) % kAlignment != 0) {
    throw ConfigError("a journal begins at an address that is not a multiple of " + std::to_string(kAlignment));
  }
  header_ = new (memory.data()) JournalHeader{};
  begin_ = memory.data() + sizeof(JournalHeader);
  limit_ = memory.data() + memory.size();
  at_ = begin_;
  end_ = limit_;
  header_->capacity.store(static_cast<std::uint64_t>(limit_ - begin_), std::memory_order_relaxed);
  header_->magic.store(JournalHeader::kMagic, std::memory_order_release);
}

// After a fork, for the child's own journal.
void Journal::own() noexcept { owner_ = journal_forks; }

void Journal::forked() noexcept { ++journal_forks; }

std::uint32_t Journal::forks() noexcept { return journal_forks; }

// Runs no destructors and flushes no buffers: these belong to the parent process.
inline void Journal::check_owner() const noexcept {
  if (owner_ != journal_forks) [[unlikely]] {
    std::_Exit(0);
  }
}

// A sign of life for the watching process: a count that stands still means that a step hangs.
inline void Journal::beat() noexcept { header_->steps.store(++steps_, std::memory_order_relaxed); }

// Null when it is full. From then on nothing is written, because the tape would have a gap.
inline std::byte* Journal::claim(std::size_t size) noexcept {
  check_owner();
  if (std::cmp_less(end_ - at_, size)) [[unlikely]] {
    end_ = at_;
    header_->cut.store(1, std::memory_order_relaxed);
    return nullptr;
  }
  return at_;
}

// The release store pairs with the acquire load in read_journal(): a reader that sees the count sees the bytes.
inline void Journal::publish(std::byte* end) noexcept {
  ORDEAL_DCHECK(end >= at_ && end <= limit_, "a record ends outside of its journal");
  at_ = end;
  header_->used.store(static_cast<std::uint64_t>(end - begin_), std::memory_order_release);
}

// One claim and one publication for each record, so that a reader sees all of it or nothing.
template <typename... Numbers>
inline void Journal::write(Record record, std::uint8_t detail, Numbers... numbers) noexcept {
  std::byte* at = claim(1 + (sizeof(Numbers) + ... + 0));
  if (at == nullptr) [[unlikely]] {
    return;
  }
  *at++ = static_cast<std::byte>(static_cast<unsigned>(record) | (static_cast<unsigned>(detail) << 4U));
  ((std::memcpy(at, &numbers, sizeof(Numbers)), at += sizeof(Numbers)), ...);
  publish(at);
}

// A string is written completely or not at all.
void Journal::write_blob(Record record, const std::string& blob) noexcept {
  const auto size = static_cast<std::uint32_t>(blob.size());  // one that is too long does not fit anyway
  std::byte* at = claim(1 + sizeof(size) + blob.size());
  if (at == nullptr) [[unlikely]] {
    return;
  }
  *at++ = static_cast<std::byte>(record);
  std::memcpy(at, &size, sizeof(size));
  std::memcpy(at + sizeof(size), blob.data(), size);
  publish(at + sizeof(size) + size);
}

// First no records, then the new number, then records: a reader that sees the same number before and after has read
// records of one run.
void Journal::begin_run() noexcept {
  check_owner();
  at_ = begin_;
  end_ = limit_;
  header_->used.store(0, std::memory_order_release);
  header_->run.store(++runs_, std::memory_order_release);
  std::atomic_thread_fence(std::memory_order_release);
  header_->cut.store(0, std::memory_order_relaxed);
  enter(JournalStage::kMaking);
  beat();
}

void Journal::begin_step(StepKind kind, std::uint32_t target, std::uint32_t origin) noexcept {
  write(Record::kStep, static_cast<std::uint8_t>(kind), target, origin);
  header_->stage.store(static_cast<std::uint32_t>(JournalStage::kStep), std::memory_order_relaxed);
  beat();
}

void Journal::begin_argument(std::uint32_t name) noexcept { write(Record::kArgument, 0, name); }

void Journal::set_producer(std::int64_t producer) noexcept { write(Record::kProducer, 0, producer); }

void Journal::add(const Choice& choice) noexcept {
  switch (choice.kind) {
    case ChoiceKind::kBoolean:
      write(Record::kBoolean, choice.number != 0 ? 1 : 0);
      break;
    case ChoiceKind::kInteger:
      choice.is_big() ? write_blob(Record::kBigInteger, choice.blob()) : write(Record::kInteger, 0, choice.number);
      break;
    case ChoiceKind::kFloat:
      write(Record::kFloat, 0, choice.number);
      break;
    case ChoiceKind::kString:
      write_blob(Record::kString, choice.blob());
      break;
    case ChoiceKind::kBytes:
      write_blob(Record::kBytes, choice.blob());
      break;
  }
}

void Journal::drop_step() noexcept { write(Record::kDrop, 0); }

// The start of a run. No beat: nothing ran.
void Journal::append(const Tape& tape) noexcept {
  for (const TapeStep& step : tape.steps()) {
    write(Record::kStep, static_cast<std::uint8_t>(step.kind), step.target, step.origin);
    for (const TapeArgument& argument : tape.arguments(step)) {
      begin_argument(argument.name);
      if (argument.producer != TapeArgument::kNoProducer) {
        set_producer(argument.producer);
      }
      for (const Choice& choice : tape.choices(argument)) {
        add(choice);
      }
    }
  }
}

void Journal::add_decision(std::uint32_t name, bool decision) noexcept {
  write(Record::kDecision, decision ? 1 : 0, name);
}

// An end distinguishes a finished run from one whose process died.
void Journal::end_run() noexcept {
  write(Record::kEnd, 0);
  enter(JournalStage::kIdle);
  beat();
}

void Journal::enter(JournalStage stage) noexcept {
  check_owner();
  header_->stage.store(static_cast<std::uint32_t>(stage), std::memory_order_relaxed);
}

JournalStage Journal::stage() const noexcept {
  return static_cast<JournalStage>(header_->stage.load(std::memory_order_relaxed));
}

// ---------------------------------------------------------------------------------------------------------------------
// Reading

// Makes a tape from records. The bytes are a copy that nothing else can change. The records come from a process that
// crashed, so any byte may be wrong: each is checked like untrusted input.
class JournalReader {
 public:
  JournalReader(std::string_view bytes, const MachineShape& shape, std::uint32_t argument_names)
      : left_(bytes), shape_(shape), argument_names_(argument_names) {}

  // Takes all records, or raises TraceError: the process that wrote them runs code of the user's, which may have
  // written anywhere.
  void read(JournalRecord& into) {
    while (!left_.empty()) {
      if (ended_) {
        throw TraceError("the journal goes on after the end of its run");
      }
      read_record();
    }
    settle();
    into.tape = std::move(tape_);
    into.ended = ended_;
  }

 private:
  using Record = Journal::Record;

  // The kinds that have a detail in their upper half, then the plain ones, whose upper half must be empty.
  void read_record() {
    const auto tag = number<std::uint8_t>();
    const auto detail = static_cast<std::uint8_t>(tag >> 4U);
    switch (static_cast<Record>(tag & 0x0FU)) {
      case Record::kStep:
        return read_step(below(detail, static_cast<std::uint32_t>(StepKind::kFaultOff) + 1, "a kind of step"));
      case Record::kDecision:
        return read_decision(is_true(detail));
      case Record::kBoolean:
        return add(Choice::boolean(is_true(detail)));
      default:
        below(detail, 1, "a detail");
        return read_plain(static_cast<Record>(tag));
    }
  }

  // What a record needs before it is checked here; the tape itself takes such calls as correct.
  void read_plain(Record record) {
    switch (record) {
      case Record::kArgument:
        require(!tape_.empty(), "an argument without a step");
        return tape_.begin_argument(below(number<std::uint32_t>(), argument_names_, "an argument"));
      case Record::kProducer:
        require(has_argument(), "a producer without an argument");
        return tape_.set_producer(number<std::int64_t>());
      case Record::kInteger:
        return add(Choice::integer(number<std::int64_t>()));
      case Record::kFloat:
        return add(Choice::real(number<double>()));
      case Record::kBigInteger:
        return add(read_big_integer());
      case Record::kString:
        return add(read_string());
      case Record::kBytes:
        return add(Choice::bytes(blob()));
      case Record::kDrop:
        require(!tape_.empty(), "nothing to drop");
        decisions_.clear();
        return tape_.drop_step();
      case Record::kEnd:
        ended_ = true;
        return;
      default:
        throw TraceError("the journal has a record of the unknown kind " + std::to_string(static_cast<int>(record)));
    }
  }

  // A step ends the one before it.
  void read_step(std::uint32_t kind) {
    settle();
    const auto target = number<std::uint32_t>();
    const auto origin = number<std::uint32_t>();
    const auto step = static_cast<StepKind>(kind);
    const std::uint32_t targets = is_fault(step)                  ? shape_.faults
                                  : step == StepKind::kInitialize ? shape_.initializers
                                                                  : shape_.rules;
    tape_.begin_step(step, below(target, targets, "a step"), origin);
  }

  // Decisions inside a step (buggify) are written at once, and their choices only when the step ends.
  void read_decision(bool decision) {
    const std::uint32_t name = below(number<std::uint32_t>(), argument_names_, "an argument");
    require(!tape_.empty(), "a decision without a step");
    require(decisions_.empty() || name == decided_, "decisions of two kinds in a step");
    decided_ = name;
    decisions_.push_back(decision);
  }

  // The step, or the process, has ended: its decisions belong to the tape, which may have none, some or all of them.
  void settle() {
    if (decisions_.empty()) {
      return;
    }
    std::size_t written = 0;
    if (has_argument() && tape_.arguments().back().name == decided_) {
      written = tape_.choices(tape_.arguments().back()).size();
    } else {
      tape_.begin_argument(decided_);
    }
    for (std::size_t i = written; i < decisions_.size(); ++i) {
      tape_.add(Choice::boolean(decisions_[i]));
    }
    decisions_.clear();
  }

  void add(Choice choice) {
    require(has_argument(), "a choice without an argument");
    tape_.add(std::move(choice));
  }

  Choice read_big_integer() {
    std::string digits = blob();
    require(digits.size() > sizeof(std::int64_t), "a big integer that is small");
    return Choice::big_integer(std::move(digits));
  }

  Choice read_string() {
    std::string text = blob();
    require(is_text(text), "a string that is not UTF-8");
    return Choice::text(std::move(text));
  }

  // Of the last step.
  [[nodiscard]] bool has_argument() const { return !tape_.empty() && !tape_.arguments(tape_.last_step()).empty(); }

  template <typename Number>
  Number number() {
    Number value{};
    take(sizeof(Number)).copy(reinterpret_cast<char*>(&value), sizeof(Number));
    return value;
  }

  std::string blob() { return std::string(take(number<std::uint32_t>())); }

  std::string_view take(std::size_t size) {
    require(size <= left_.size(), "half a record at its end");
    const std::string_view taken = left_.substr(0, size);
    left_.remove_prefix(size);
    return taken;
  }

  static bool is_true(std::uint8_t detail) { return below(detail, 2, "a boolean") == 1; }

  static std::uint32_t below(std::uint32_t value, std::uint32_t end, const char* what) {
    if (value >= end) {
      throw TraceError(std::string(what) + " in the journal is number " + std::to_string(value) + " of " +
                       std::to_string(end));
    }
    return value;
  }

  static void require(bool holds, const char* otherwise) {
    if (!holds) {
      throw TraceError("the journal has " + std::string(otherwise));
    }
  }

  std::string_view left_;
  MachineShape shape_;
  std::uint32_t argument_names_;
  Tape tape_;
  std::uint32_t decided_ = 0;
  std::vector<bool> decisions_;  // of the last step
  bool ended_ = false;
};

namespace {

// Treats the memory as a header only after its size and alignment are checked.
const JournalHeader& journal_header(std::span<const std::byte> memory) {
  const bool is_aligned = std::bit_cast<std::uintptr_t>(memory.data()) % Journal::kAlignment == 0;
  if (memory.size() < Journal::kBytesMin || memory.size() > Journal::kBytesMax || !is_aligned) {
    throw TraceError("no journal has " + std::to_string(memory.size()) + " bytes, or begins where this does");
  }
  const auto& header = *std::launder(reinterpret_cast<const JournalHeader*>(memory.data()));
  if (header.magic.load(std::memory_order_acquire) != JournalHeader::kMagic) {
    throw TraceError("the memory holds no journal of this version");
  }
  if (header.capacity.load(std::memory_order_relaxed) != memory.size() - sizeof(JournalHeader)) {
    throw TraceError("the journal is of another size than its memory");
  }
  return header;
}

// A number written by the other process, checked against its range.
std::uint32_t checked_number(const std::atomic<std::uint32_t>& number, std::uint32_t most, const char* what) {
  const std::uint32_t value = number.load(std::memory_order_relaxed);
  if (value > most) {
    throw TraceError("the " + std::string(what) + " of the journal is " + std::to_string(value) + "; at most " +
                     std::to_string(most) + " is possible");
  }
  return value;
}

}  // namespace

// Copies the records before reading them: the writer may continue meanwhile.
JournalRecord read_journal(std::span<const std::byte> memory, const MachineShape& shape, std::uint32_t argument_names) {
  const JournalHeader& header = journal_header(memory);
  JournalRecord record;
  record.run = header.run.load(std::memory_order_acquire);
  const std::uint64_t used = header.used.load(std::memory_order_acquire);
  if (used > memory.size() - sizeof(JournalHeader)) {
    throw TraceError("the journal claims " + std::to_string(used) + " bytes of " + std::to_string(memory.size()));
  }
  std::string bytes(static_cast<std::size_t>(used), '\0');
  if (!bytes.empty()) {
    std::memcpy(bytes.data(), memory.data() + sizeof(JournalHeader), bytes.size());
  }
  record.steps = header.steps.load(std::memory_order_relaxed);
  record.stage = static_cast<JournalStage>(
      checked_number(header.stage, static_cast<std::uint32_t>(JournalStage::kInspecting), "stage"));
  record.cut = checked_number(header.cut, 1, "mark of a cut") == 1;
  std::atomic_thread_fence(std::memory_order_acquire);
  if (header.run.load(std::memory_order_relaxed) != record.run) {
    throw TraceError("the journal began another run while it was read");
  }
  JournalReader(bytes, shape, argument_names).read(record);
  return record;
}

std::uint64_t read_journal_steps(std::span<const std::byte> memory) {
  return journal_header(memory).steps.load(std::memory_order_relaxed);
}

}  // namespace ordeal
