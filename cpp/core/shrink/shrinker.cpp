#include "core/shrink/shrinker.h"

#include <utility>

#include "core/base/check.h"
#include "core/shrink/shrink_decisions.h"
#include "core/shrink/shrink_faults.h"
#include "core/shrink/shrink_merges.h"
#include "core/shrink/shrink_references.h"
#include "core/shrink/shrink_spans.h"
#include "core/shrink/shrink_steps.h"
#include "core/shrink/shrink_values.h"

namespace ordeal {
namespace {

template <typename... Passes>
std::vector<std::unique_ptr<ShrinkPass>> made() {
  std::vector<std::unique_ptr<ShrinkPass>> passes;
  (passes.push_back(std::make_unique<Passes>()), ...);
  return passes;
}

// The order is that of what a pass saves for those behind it, which run on what it left:
//
// - Steps go first, from the end: each that is gone makes all later candidates shorter.
// - Then large blocks of values, whole arguments and elements: few candidates, and each removes many choices.
// - Then single values, fault windows and references, one candidate or more for each of them.
// - Then what costs a candidate for each pair: sums, the order of spans, spans inside spans.
// - Last what helps seldom, when little is left to try it on: choices that decide about others, and steps whose work
//   other steps take over.
//
// A pass that helps has all of them run again, so the order decides about replays, hardly about what is left.
//
// What is lost without a pass, of the minima of canonical_minima.py and the programs of shrink_quality.py: RemoveSteps
// a third of the programs, LowerPairs 3 % of the minima and 12 % of the programs, MergeSteps 8 % of the programs,
// ChangeDecisions 7 % of the minima, ReplaceByInner 3 %. Without LowerTogether there are 5 % more executions.
// RemovePairs, RemoveAndLower, NarrowFaults and MergeReferences are for what these suites do not have: an acquire with
// its release, a count of earlier steps, short fault windows, fewer values of bundles.
std::vector<std::unique_ptr<ShrinkPass>> all_passes() {
  return made<RemoveSteps, LowerMany, DeleteSpans,                          // large
              LowerTogether, LowerValues, NarrowFaults, MergeReferences,    // single
              LowerPairs, SortSpans, ReplaceByInner,                        // pairs
              ChangeDecisions, MergeSteps, RemoveAndLower, RemovePairs>();  // seldom
}

}  // namespace

Shrinker::Shrinker(Tape failing) : current_(std::move(failing)), passes_(all_passes()) {
  tried_.insert(fingerprint_of(current_.tape));
  search_ = passes_.front()->candidates(current_);
}

std::string_view Shrinker::phase() const noexcept {
  return pass_ < passes_.size() ? passes_[pass_]->name() : "minimal";
}

// Repeats all passes until a whole round has achieved nothing.
std::optional<Tape> Shrinker::candidate() {
  is_pending_ = false;
  while (pass_ < passes_.size()) {
    if (auto found = untried_candidate()) {
      ++candidates_;
      is_pending_ = true;
      return found;
    }
    next_pass();
  }
  return std::nullopt;
}

// A tape that was tried before would fail or pass as before, and only its draws are of interest.
std::optional<Tape> Shrinker::untried_candidate() {
  while (auto found = search_->next()) {
    const bool is_new = tried_.insert(fingerprint_of(*found)).second;
    if (is_new || wants_outcome()) {
      return found;
    }
  }
  return std::nullopt;
}

// After the last pass, starts again if anything became simpler in this round: a change by one pass enables others.
void Shrinker::next_pass() {
  ORDEAL_DCHECK(pass_ < passes_.size(), "every pass has run");
  if (++pass_ == passes_.size() && std::exchange(progress_, false)) {
    pass_ = 0;
  }
  if (pass_ < passes_.size()) {
    search_ = passes_[pass_]->candidates(current_);
  }
}

void Shrinker::take_verdict() { ORDEAL_CHECK(std::exchange(is_pending_, false), "no candidate waits for an answer"); }

// The initial tape comes without constraints. The realized tape of a tape of the same shape has them.
void Shrinker::learn(const FailingTape& ran) {
  tried_.insert(fingerprint_of(ran.tape));
  if (!knows_constraints_ && has_same_shape(ran.tape, current_.tape)) {
    knows_constraints_ = true;
    current_.constraints = ran.constraints;
    current_.spans = ran.spans;
    progress_ = true;  // earlier passes did not know them
  }
}

// What ran may differ from the candidate, because a replay repairs what does not fit. So its own rank decides whether
// it is progress, and only then does the pass learn that it was accepted.
void Shrinker::accept(Tape realized, std::vector<Constraint> constraints, std::vector<Span> spans) {
  take_verdict();
  FailingTape failing(std::move(realized), std::move(constraints), std::move(spans));
  learn(failing);
  if (rank_order(failing, current_) >= 0) {
    if (wants_outcome()) {
      passes_[pass_]->observe(failing);
    }
    return;
  }
  current_ = std::move(failing);
  knows_constraints_ = true;
  progress_ = true;
  search_->accept(true);
}

void Shrinker::refuse() { take_verdict(); }

void Shrinker::refuse(const Tape& realized, const std::vector<Constraint>& constraints,
                      const std::vector<Span>& spans) {
  take_verdict();
  if (!needs_constraints()) {
    tried_.insert(fingerprint_of(realized));
    return;
  }
  const FailingTape ran(realized, constraints, spans);
  if (wants_outcome()) {
    passes_[pass_]->observe(ran);
  }
  learn(ran);
}

}  // namespace ordeal
