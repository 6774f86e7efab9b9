// An odometer over recorded choices: counts through every combination of what a test chooses, each exactly once.
//
// The idea is TigerBeetle's exhaustigen: the choices of one case are the digits, the last that can still be raised is,
// and what came after it starts again at zero. So bounds may depend on earlier choices, the order is lexicographic, and
// memory is one digit for each choice of the deepest case.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/base/error.h"
#include "core/base/rng.h"

namespace ordeal {

// A case made other choices than an earlier one that began alike: the test is not deterministic.
class ChangedBoundError : public Error {
 public:
  using Error::Error;
};

// A path that is replayed asks for more than a choice offers.
class PathError : public Error {
 public:
  using Error::Error;
};

// Thread-compatible. The owner calls next() before each case; a case calls choose() any number of times.
class Odometer {
 public:
  // Part `index` of `count`: all parts together visit every case.
  struct Shard {
    std::uint64_t index = 0;
    std::uint64_t count = 1;
  };

  struct Digit {
    std::uint64_t value = 0;
    std::uint64_t bound = 0;   // inclusive, as the test gave it
    std::uint64_t stride = 1;  // to the next value of this part; 0 where it has no other
    std::uint64_t site = 0;    // what the caller wants to know of it again
    bool is_last = false;      // no higher value leads anywhere
  };

  enum class Turn : std::uint8_t {
    kCase,   // choices may be made
    kDone,   // every case was visited
    kLimit,  // there are more cases than the limit allows
    kFewer,  // the case made fewer choices than an earlier one that began alike
  };

  // More choices than this in one case are a loop that does not end.
  static constexpr std::size_t kDigitsMax = std::size_t{1} << 22U;

  Odometer() = default;
  // Visits at most `limit` cases, dropped ones included; shard.index < shard.count.
  Odometer(std::uint64_t limit, Shard shard);

  // What the next cases are: all of them from the first, the one of `path` alone (zeros follow it), or one by chance.
  void restart();
  void replay(std::vector<std::uint64_t> path);
  void probe(Rng rng);

  // Ends the case before, if there was one. After anything but kCase no case is under way.
  Turn next();
  // The test rejected the case under way (assume): it is counted apart.
  void drop() noexcept { dropped_now_ = true; }

  // A value in [0, bound] of the case under way. Throws ChangedBoundError and PathError.
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

  // A stretch of choices that can turn out to lead nowhere, such as those of a filtered value. It begins at
  // position(). retry() goes on to the next combination of its choices alone; false when there is none.
  [[nodiscard]] std::size_t position() const noexcept { return cursor_; }
  // Nor is there one in a replay or a probe.
  bool retry(std::size_t begin);
  // Whether choices of the case from `begin` on are new: not a repetition of an earlier case.
  [[nodiscard]] bool is_new(std::size_t begin) const noexcept {
    return mode_ == Mode::kAll && cursor_ > begin && cursor_ > fresh_from_;
  }
  // hold() remembers the stretch, so that retry() may look for the one after it; release() brings it back, and when
  // `has_more` is false the stretch is taken to be the last.
  void hold(std::size_t begin);
  void release(bool has_more);
  // When the choices from `begin` on lead nowhere only because the others are another part's: takes one of those, so
  // that the case can end, and does not count it. keep() says that it was found. False when that is not why.
  bool borrow(std::size_t begin);
  void keep(std::size_t begin);

  [[nodiscard]] bool running() const noexcept { return running_; }
  [[nodiscard]] std::vector<std::uint64_t> path() const;
  // How much of the path that is replayed the case had no use for.
  [[nodiscard]] std::size_t unused() const noexcept { return path_.size() - std::min(path_.size(), cursor_); }
  [[nodiscard]] const std::vector<Digit>& digits() const noexcept { return digits_; }
  [[nodiscard]] std::uint64_t cases() const noexcept { return cases_; }
  [[nodiscard]] std::uint64_t dropped() const noexcept { return dropped_; }
  // The share of the combinations that lie before the case under way, as far as its choices tell: from 0 to 1.
  [[nodiscard]] double progress() const noexcept;
  // The number of cases, as the one under way suggests: one over the chance of getting here by uniform choices. Its
  // mean over probes is the number (Knuth, "Estimating the Efficiency of Backtrack Programs", 1975).
  [[nodiscard]] double suggested_size() const noexcept;

 private:
  enum class Mode : std::uint8_t { kAll, kReplay, kProbe };

  struct Held {
    std::size_t begin = 0;
    std::size_t fresh_from = 0;
    std::vector<Digit> digits;
    std::vector<Shard> shards;
  };

  std::uint64_t append(std::uint64_t bound, std::uint64_t site);
  [[nodiscard]] std::uint64_t first_value(const Digit& digit);
  void split(Digit& digit);
  void count_case() noexcept;
  bool raise_last(std::size_t begin);
  void begin(Mode mode);

  std::vector<Digit> digits_;
  std::size_t cursor_ = 0;
  std::size_t fresh_from_ = 0;          // what is chosen from here on was not chosen in the case before
  std::vector<Shard> shards_{Shard{}};  // shards_[i]: the part of what follows the first i digits, while it is split
  std::vector<Held> held_;
  std::vector<std::uint64_t> path_;
  Rng rng_{0};
  std::uint64_t limit_ = UINT64_MAX;
  std::uint64_t visited_ = 0;
  std::uint64_t cases_ = 0;
  std::uint64_t dropped_ = 0;
  Mode mode_ = Mode::kAll;
  bool started_ = false;
  bool running_ = false;
  bool dropped_now_ = false;
  bool is_foreign_ = false;  // the case is another part's
  bool is_kept_ = false;     // and its choices are for this once
};

}  // namespace ordeal
