// The transformations of the shrinker: each proposes smaller tapes and is told which of them still fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "core/tape.h"

namespace ordeal {

// One transformation over a tape. start() begins a sweep; next() gives the next candidate made from `current`, or
// nothing when the sweep is over; accepted() says that the last candidate failed and `current` is now what it became.
class ShrinkPass {
 public:
  ShrinkPass() = default;
  ShrinkPass(const ShrinkPass&) = delete;
  ShrinkPass& operator=(const ShrinkPass&) = delete;
  virtual ~ShrinkPass() = default;

  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  virtual void start(const Tape& current) = 0;
  virtual std::optional<Tape> next(const Tape& current) = 0;
  virtual void accepted(const Tape& current) = 0;
};

// Removes runs of adjacent steps, the largest power of two within half the tape first, then half of that and so on down
// to two, or single steps only (Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002).
// Sweeps from the end, because the steps that a failure depends on are mostly the last ones and what comes before them
// goes in large pieces. A sweep has at most twice as many candidates as the tape has steps.
class RemoveSteps final : public ShrinkPass {
 public:
  enum class Grain : std::uint8_t { kChunks, kSingle };
  explicit RemoveSteps(Grain grain) noexcept : grain_(grain) {}

  [[nodiscard]] std::string_view name() const noexcept override;
  void start(const Tape& current) override;
  std::optional<Tape> next(const Tape& current) override;
  void accepted(const Tape& current) override;

 private:
  Grain grain_;
  std::size_t size_ = 0;
  std::size_t end_ = 0;  // the chunk ends before this step
};

// Removes every toggle of one fault, then of the next. A sweep has a candidate for each fault.
class RemoveFaults final : public ShrinkPass {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "faults"; }
  void start(const Tape& current) override;
  std::optional<Tape> next(const Tape& current) override;
  void accepted(const Tape& current) override;

 private:
  std::vector<std::uint32_t> faults_;  // still to try
};

// Removes two steps at once: a fault with its end, a thing made with its use. Neighbours first, then steps further
// apart, up to a distance at which a sweep has kCandidatesMax candidates: all pairs of a tape of up to 32 steps,
// neighbours alone in one of a thousand.
class RemovePairs final : public ShrinkPass {
 public:
  static constexpr std::size_t kCandidatesMax = 1024;

  [[nodiscard]] std::string_view name() const noexcept override { return "pairs"; }
  void start(const Tape& current) override;
  std::optional<Tape> next(const Tape& current) override;
  void accepted(const Tape& current) override;

 private:
  std::size_t distance_ = 0;
  std::size_t distance_max_ = 0;
  std::size_t second_ = 0;  // the next pair lies before this step
};

}  // namespace ordeal
