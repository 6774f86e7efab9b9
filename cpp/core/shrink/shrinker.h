// Makes a failing tape simpler by proposing simpler ones, of which the caller says whether they still fail. It never
// runs anything.
//
// Many of the passes have a counterpart in Hypothesis' shrinker, here on the tape of a rule machine instead of a flat
// sequence; that a tape that still fails in another way is not taken is the caller's business, who sees the failure.
#pragma once

#include <tsl/robin_set.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/shrink/failing_tape.h"
#include "core/shrink/search_coroutine.h"
#include "core/shrink/shrink_pass.h"
#include "core/tape/tape.h"

namespace ordeal {

// Thread-compatible. Loop: candidate() until it gives nothing; after each, accept(…) when the candidate failed in the
// same bucket, or refuse(…). The current tape is always one that was seen to fail, so that a loop may end at any time.
//
// The end is reached when no pass helps. What is accepted is always simpler than before (see TapeRank), no tape is
// asked about twice, and a pass asks about finitely many, so that the end is always reached.
class Shrinker {
 public:
  explicit Shrinker(Tape failing);
  Shrinker(const Shrinker&) = delete;
  Shrinker& operator=(const Shrinker&) = delete;

  std::optional<Tape> candidate();
  // `realized` is what ran of the latest candidate, `constraints` what its draws allowed, as far as it is known. One
  // that is no simpler than the current tape is not taken.
  void accept(Tape realized, std::vector<Constraint> constraints = {});
  void refuse();
  // What ran is not asked about again.
  void refuse(Tape realized, std::vector<Constraint> constraints = {});

  [[nodiscard]] const Tape& current() const noexcept { return current_.tape; }
  [[nodiscard]] std::string_view phase() const noexcept;
  [[nodiscard]] std::uint64_t candidates() const noexcept { return candidates_; }

 private:
  // The next candidate of the pass that was not tried; nothing when the pass is through.
  std::optional<Tape> untried_candidate();
  void next_pass();
  // Each candidate has one verdict: accept() or refuse().
  void take_verdict();
  void learn(const FailingTape& ran);

  FailingTape current_;
  TapeRank rank_;
  bool knows_constraints_ = false;  // of the current tape
  std::vector<std::unique_ptr<ShrinkPass>> passes_;
  std::size_t pass_ = 0;
  std::optional<SearchCoroutine<Tape>> search_;
  bool progress_ = false;    // in this round of all passes, which then is not the last
  bool is_pending_ = false;  // a candidate waits for its verdict
  // Hashes of all tapes that were tried. A collision would leave out one candidate in 2^64 and do no harm.
  tsl::robin_set<std::uint64_t> tried_;
  std::uint64_t candidates_ = 0;
};

}  // namespace ordeal
