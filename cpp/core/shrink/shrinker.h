// Makes a failing tape simpler by proposing simpler tapes; the caller reports whether they still fail. It never runs
// anything.
//
// Many passes have a counterpart in Hypothesis' shrinker, here on the tape of a rule machine instead of a flat
// sequence. The caller, who sees the failure, must reject tapes that fail differently.
#pragma once

#include <tsl/robin_set.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "core/base/search_coroutine.h"
#include "core/shrink/failing_tape.h"
#include "core/shrink/shrink_pass.h"
#include "core/tape/tape.h"

namespace ordeal {

// Loop: candidate() until it returns nothing; after each, accept(…) if the candidate failed in the
// same bucket, else refuse(…). The current tape was always seen to fail, so the loop may end at any time.
//
// It ends when no pass helps. What is accepted is always simpler than before (see rank_order), no tape is proposed
// twice unless a pass wants to see its draws, and each pass proposes finitely many, so the end is always reached.
class Shrinker {
 public:
  explicit Shrinker(Tape failing);
  Shrinker(const Shrinker&) = delete;
  Shrinker& operator=(const Shrinker&) = delete;

  std::optional<Tape> candidate();
  // `realized` is what ran of the latest candidate, `constraints` are those of its draws, as far as known. A tape that
  // is not simpler than the current one is not taken.
  void accept(Tape realized, std::vector<Constraint> constraints = {}, std::vector<Span> spans = {});
  void refuse();
  // The realized tape is not proposed again either. Its constraints may be left out unless needs_constraints().
  void refuse(const Tape& realized, const std::vector<Constraint>& constraints = {},
              const std::vector<Span>& spans = {});
  // Whether the constraints of the current tape are not known yet, or those of the candidate are of interest.
  [[nodiscard]] bool needs_constraints() const noexcept { return !knows_constraints_ || wants_outcome(); }

  [[nodiscard]] const Tape& current() const noexcept { return current_.tape; }
  [[nodiscard]] std::string_view phase() const noexcept;
  [[nodiscard]] std::uint64_t candidates() const noexcept { return candidates_; }

 private:
  // The next untried candidate of the pass; nothing when the pass is finished.
  std::optional<Tape> untried_candidate();
  void next_pass();
  // Whether the pass wants to see what the candidate draws.
  [[nodiscard]] bool wants_outcome() const noexcept {
    return pass_ < passes_.size() && passes_[pass_]->wants_outcome();
  }
  // Each candidate gets one verdict: accept() or refuse().
  void take_verdict();
  void learn(const FailingTape& ran);

  FailingTape current_;
  bool knows_constraints_ = false;  // of the current tape
  std::vector<std::unique_ptr<ShrinkPass>> passes_;
  std::size_t pass_ = 0;
  std::optional<SearchCoroutine<Tape>> search_;
  bool progress_ = false;    // in this round of all passes, which is then not the last
  bool is_pending_ = false;  // a candidate waits for its verdict
  // Hashes of all tried tapes. A collision would skip one candidate in 2^64 and do no harm.
  tsl::robin_set<std::uint64_t> tried_;
  std::uint64_t candidates_ = 0;
};

}  // namespace ordeal
