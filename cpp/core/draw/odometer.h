// An odometer over recorded choices: counts through every combination of a test's choices, each exactly once.
//
// The idea is TigerBeetle's exhaustigen: the choices of one case are digits; the last digit that can still be raised is
// raised, and those after it restart at zero. So bounds may depend on earlier choices, the order is lexicographic, and
// memory is one digit for each choice of the deepest case.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/error.h"

namespace ordeal {

// A case made other choices than an earlier one with the same beginning: the test is not deterministic.
class ChangedBoundError : public Error {
 public:
  using Error::Error;
};

// A replayed path asks for more than a choice offers.
class PathError : public Error {
 public:
  using Error::Error;
};

// The owner calls next() before each case; a case calls choose() any number of times.
class Odometer {
 public:
  struct Digit {
    std::uint64_t value = 0;
    std::uint64_t bound = 0;  // inclusive, as the test gave it
    std::uint64_t site = 0;   // set by the caller, and returned to it
    bool is_last = false;     // no higher value leads anywhere
  };

  enum class Turn : std::uint8_t {
    kCase,   // choices may be made
    kDone,   // every case was visited
    kLimit,  // there are more cases than the limit allows
    kFewer,  // the case made fewer choices than an earlier one with the same beginning
  };

  // A case with more choices than this is an endless loop.
  static constexpr std::size_t kDigitsMax = std::size_t{1} << 22U;

  Odometer() = default;
  // Visits at most `limit` cases, including dropped ones.
  explicit Odometer(std::uint64_t limit) : limit_(limit) {}

  // Selects the next cases: all from the first on, or the one of `path` alone (zeros follow it).
  void restart();
  void replay(std::vector<std::uint64_t> path);

  // Ends the previous case, if there was one. After anything but kCase no case is under way.
  Turn next();
  // Notes that the test rejected the current case (assume): it is counted separately.
  void drop() noexcept { dropped_now_ = true; }

  // A value in [0, bound] for the current case. Throws ChangedBoundError and PathError.
  std::uint64_t choose(std::uint64_t bound, std::uint64_t site) {
    if (cursor_ < digits_.size()) [[likely]] {
      const Digit& digit = digits_[cursor_];
      if (digit.bound == bound) [[likely]] {
        ++cursor_;
        return digit.value;
      }
    }
    return append(bound, site);
  }
  // Whether the next choice repeats one of an earlier case; its site is then known already.
  [[nodiscard]] bool repeats() const noexcept { return cursor_ < digits_.size(); }

  // A stretch of choices that may turn out to lead nowhere, such as those of a filtered value. It begins at position().
  // retry() advances to the next combination of these choices alone; false when there is none.
  [[nodiscard]] std::size_t position() const noexcept { return cursor_; }
  // Always false in a replay.
  bool retry(std::size_t begin);
  // Whether the case has new choices from `begin` on, rather than repeating an earlier case.
  [[nodiscard]] bool is_new(std::size_t begin) const noexcept {
    return mode_ == Mode::kAll && cursor_ > begin && cursor_ > fresh_from_;
  }
  // hold() saves the stretch, so that retry() may look for the one after it; release() restores it, and when `has_more`
  // is false takes it to be the last.
  void hold(std::size_t begin);
  void release(bool has_more);

  [[nodiscard]] bool running() const noexcept { return running_; }
  [[nodiscard]] std::vector<std::uint64_t> path() const;
  // How much of the replayed path the case did not use.
  [[nodiscard]] std::size_t unused() const noexcept { return path_.size() - std::min(path_.size(), cursor_); }
  [[nodiscard]] const std::vector<Digit>& digits() const noexcept { return digits_; }
  [[nodiscard]] std::uint64_t cases() const noexcept { return cases_; }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }

 private:
  enum class Mode : std::uint8_t { kAll, kReplay };

  struct Held {
    std::size_t begin = 0;
    std::size_t fresh_from = 0;
    std::vector<Digit> digits;
  };

  std::uint64_t append(std::uint64_t bound, std::uint64_t site);
  [[nodiscard]] std::uint64_t first_value(std::uint64_t bound) const;
  bool raise_last(std::size_t begin);
  void begin(Mode mode);

  std::vector<Digit> digits_;
  std::size_t cursor_ = 0;
  std::size_t fresh_from_ = 0;  // choices from here on were not made in the previous case
  std::vector<Held> held_;
  std::vector<std::uint64_t> path_;
  std::uint64_t limit_ = UINT64_MAX;
  std::uint64_t visited_ = 0;
  std::uint64_t cases_ = 0;
  std::uint64_t dropped_ = 0;
  Mode mode_ = Mode::kAll;
  bool started_ = false;
  bool running_ = false;
  bool dropped_now_ = false;
};

}  // namespace ordeal
