// The tape: every choice of a run in order, held step by step and keyed by the names of rules, faults and arguments.
//
// Replay feeds a tape back, a checkpoint is a prefix of one, shrinking edits one. No other record exists.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/tape/choice.h"

namespace ordeal {

enum class StepKind : std::uint8_t {
  kRule,
  kInitialize,
  kFaultOn,
  kFaultOff,
};

constexpr bool is_fault(StepKind kind) noexcept { return kind == StepKind::kFaultOn || kind == StepKind::kFaultOff; }

// `name` is an index into the alphabet's table of argument names. Draws made inside the body of a rule follow the
// arguments under separate names. If the argument is a value that an earlier step made, `producer` identifies it: the
// origin of its step and its index among the results. The choice itself is a position among the values at that time,
// which shifts when other steps are removed.
struct TapeArgument {
  static constexpr std::int64_t kNoProducer = -1;
  // A producer is an origin above this many bits, which hold the index among the results of the step.
  static constexpr int kPlaceBits = 20;

  std::uint32_t name = 0;
  std::uint32_t choices_begin = 0;
  std::uint32_t choices_end = 0;
  std::int64_t producer = kNoProducer;

  friend bool operator==(const TapeArgument&, const TapeArgument&) = default;
};

// `target` is the index of the rule, initialize rule or fault in the table of its kind. `origin` numbers the step in
// the run that first drew it and survives shrinking, so that a bundle value can be followed when steps before it are
// removed.
struct TapeStep {
  StepKind kind = StepKind::kRule;
  std::uint32_t target = 0;
  std::uint32_t origin = 0;
  std::uint32_t arguments_begin = 0;
  std::uint32_t arguments_end = 0;

  friend bool operator==(const TapeStep&, const TapeStep&) = default;
};

// A value type.
class Tape {
 public:
  // Far above any run; prevents overflow of the 32-bit offsets.
  static constexpr std::size_t kChoicesMax = std::size_t{1} << 30U;

  // Writing.
  // Each call belongs to what was begun last: an argument to the last step, a choice to the last argument. A choice
  // without an argument breaks a check, so a tape is always well-formed.
  void begin_step(StepKind kind, std::uint32_t target, std::uint32_t origin);
  void begin_argument(std::uint32_t name);
  void add(Choice choice) {
    ORDEAL_CHECK(has_open_argument(), "a choice needs an argument, steps=" << steps_.size());
    ORDEAL_CHECK(choices_.size() < kChoicesMax, "choices=" << choices_.size());
    choices_.push_back(std::move(choice));
    arguments_.back().choices_end = static_cast<std::uint32_t>(choices_.size());
  }
  // Of the last argument of the last step.
  void set_producer(std::int64_t producer);
  // Drops the last step with all its choices. There must be one.
  void drop_step();
  // Keeps the first `count` steps.
  void truncate(std::size_t count);
  void clear() noexcept;

  // Reading.
  [[nodiscard]] std::size_t size() const noexcept { return steps_.size(); }
  [[nodiscard]] bool empty() const noexcept { return steps_.empty(); }
  // Valid until the tape changes, as are the spans below: each of them looks into an array that may grow or move.
  [[nodiscard]] const TapeStep& step(std::size_t index) const {
    ORDEAL_CHECK(index < steps_.size(), "index=" << index << " size=" << steps_.size());
    return steps_[index];
  }
  // There must be one.
  [[nodiscard]] const TapeStep& last_step() const {
    ORDEAL_CHECK(!steps_.empty(), "no step");
    return steps_.back();
  }
  [[nodiscard]] std::span<const TapeStep> steps() const& noexcept { return steps_; }
  std::span<const TapeStep> steps() && = delete;  // would dangle
  // The step and the argument must belong to this tape.
  [[nodiscard]] std::span<const TapeArgument> arguments(const TapeStep& step) const noexcept;
  [[nodiscard]] std::span<const Choice> choices(const TapeArgument& argument) const noexcept;
  [[nodiscard]] std::size_t choice_count() const noexcept { return choices_.size(); }
  // The size of a copy, in bytes. O(choices).
  [[nodiscard]] std::size_t bytes() const noexcept;
  // Of all steps in order. The choices of a step are contiguous, and so are those of its arguments.
  [[nodiscard]] std::span<const TapeArgument> arguments() const& noexcept { return arguments_; }
  std::span<const TapeArgument> arguments() && = delete;
  [[nodiscard]] std::span<const Choice> choices() const& noexcept { return choices_; }
  std::span<const Choice> choices() && = delete;

  // Editing. The index counts through all steps.
  void replace_choice(std::size_t index, Choice choice);
  void replace_producer(std::size_t argument, std::int64_t producer);

  // Returns a tape of the steps whose flag is set; keep.size() == size().
  [[nodiscard]] Tape subset(const std::vector<bool>& keep) const;
  // Returns a tape of all steps and arguments with the choices whose flag is set; keep.size() == choice_count().
  [[nodiscard]] Tape subset_of_choices(const std::vector<bool>& keep) const;
  // Appends a copy of one step of another tape (which may be this one).
  void append(const Tape& from, const TapeStep& step);
  // Appends copies of the steps [first, end) of another tape.
  void append(const Tape& from, std::size_t first, std::size_t end);
  // Whether this tape holds all steps of the other one, from index `at` on.
  [[nodiscard]] bool has_steps(std::size_t at, const Tape& other) const noexcept;
  // A 64-bit hash of what happens when the tape is replayed: kinds, targets, names and choices, and origins only if a
  // producer refers to them. The same in every process.
  [[nodiscard]] std::uint64_t hash() const noexcept;

  friend bool operator==(const Tape&, const Tape&) = default;

 private:
  [[nodiscard]] bool has_open_argument() const noexcept {
    return !steps_.empty() && steps_.back().arguments_end > steps_.back().arguments_begin;
  }

  // Offsets instead of nested vectors: a tape of thousands of choices is three blocks of memory, and copying it takes
  // three copies.
  std::vector<TapeStep> steps_;
  std::vector<TapeArgument> arguments_;
  std::vector<Choice> choices_;
};

}  // namespace ordeal
