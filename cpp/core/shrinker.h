// Makes a failing tape smaller by asking whether smaller ones still fail. It asks; it never runs anything.
#pragma once

#include <tsl/robin_set.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/shrink_passes.h"
#include "core/tape.h"

namespace ordeal {

// Thread-compatible. Loop: candidate() until it gives nothing; after each, accept(realized) when the candidate failed
// in the same bucket, or refuse(). The current tape is always one that was seen to fail, so that a loop may end at any
// time.
//
// The end is reached when no pass helps: no single step, no fault and no pair of steps near each other can go. A round
// of all passes over n steps has at most 3n + faults + 1024 candidates, each round but the last makes the tape smaller,
// and no tape is asked about twice.
class Shrinker {
 public:
  explicit Shrinker(Tape failing);
  Shrinker(const Shrinker&) = delete;
  Shrinker& operator=(const Shrinker&) = delete;

  std::optional<Tape> candidate();
  // `realized` is what ran of the latest candidate. One that is no smaller than the current tape is not taken.
  void accept(const Tape& realized);
  void refuse();

  [[nodiscard]] const Tape& current() const noexcept { return current_; }
  [[nodiscard]] std::string_view phase() const noexcept;
  [[nodiscard]] std::uint64_t candidates() const noexcept { return candidates_; }

 private:
  std::optional<Tape> fresh_candidate();

  Tape current_;
  std::vector<std::unique_ptr<ShrinkPass>> passes_;
  std::size_t pass_ = 0;
  bool progress_ = false;  // in this round of all passes
  bool asked_ = false;     // about a candidate that waits for its answer
  tsl::robin_set<std::uint64_t> tried_;
  std::uint64_t candidates_ = 0;
};

}  // namespace ordeal
