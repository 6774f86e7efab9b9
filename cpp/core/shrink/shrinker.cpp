#include "core/shrink/shrinker.h"

#include <utility>

#include "core/base/check.h"
#include "core/shrink/shrink_choices.h"
#include "core/shrink/shrink_faults.h"
#include "core/shrink/shrink_merges.h"
#include "core/shrink/shrink_references.h"
#include "core/shrink/shrink_steps.h"
#include "core/shrink/shrink_trades.h"
#include "core/shrink/shrink_values.h"

namespace ordeal {
namespace {

// Cheap and large changes first; seldom useful passes last, when little is left to try them on.
std::vector<std::unique_ptr<ShrinkPass>> all_passes(bool thorough) {
  std::vector<std::unique_ptr<ShrinkPass>> passes;
  passes.push_back(std::make_unique<RemoveUnused>());
  passes.push_back(std::make_unique<RemoveChunks>());
  passes.push_back(std::make_unique<RemoveFaults>());
  passes.push_back(std::make_unique<RemoveSteps>());
  passes.push_back(std::make_unique<SimplifyArguments>());
  passes.push_back(std::make_unique<LowerFlags>());
  passes.push_back(std::make_unique<LowerBlocks>());
  passes.push_back(std::make_unique<CapIntegers>());
  passes.push_back(std::make_unique<PourIntegers>());
  passes.push_back(std::make_unique<DeleteChoices>());
  passes.push_back(std::make_unique<LowerTogether>());
  passes.push_back(std::make_unique<LowerValues>());
  passes.push_back(std::make_unique<NarrowFaults>());
  passes.push_back(std::make_unique<MergeReferences>());
  passes.push_back(std::make_unique<LowerTogether>(Effort::kThorough));
  passes.push_back(std::make_unique<LowerPairs>());
  passes.push_back(std::make_unique<LowerSizes>());
  passes.push_back(std::make_unique<SortValues>());
  passes.push_back(std::make_unique<LowerBranches>());
  passes.push_back(std::make_unique<DeleteCounted>());
  passes.push_back(std::make_unique<DeleteDecided>());
  passes.push_back(std::make_unique<LowerAndMakeUp>());
  passes.push_back(std::make_unique<MergeSteps>());
  passes.push_back(std::make_unique<RemoveAndLower>());
  passes.push_back(std::make_unique<ShortenUses>());
  passes.push_back(std::make_unique<RemovePairs>());
  passes.push_back(std::make_unique<RemoveRuns>());
  if (thorough) {
    passes.push_back(std::make_unique<ReplaceRuns>());
  }
  return passes;
}

}  // namespace

Shrinker::Shrinker(Tape failing, bool thorough) : current_(std::move(failing)), passes_(all_passes(thorough)) {
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
    if (is_new || looks()) {
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
void Shrinker::learn(const Tape& ran, const std::vector<Constraint>& constraints) {
  tried_.insert(fingerprint_of(ran));
  if (!knows_constraints_ && has_same_shape(ran, current_.tape)) {
    knows_constraints_ = true;
    current_.constraints = constraints;
    current_.constraints.resize(current_.tape.choice_count());
    progress_ = true;  // earlier passes did not know them
  }
}

// What ran may differ from the candidate, because a replay repairs what does not fit. So its own rank decides whether
// it is progress, and only then does the pass learn that it was accepted.
void Shrinker::accept(Tape realized, std::vector<Constraint> constraints) {
  take_verdict();
  FailingTape failing(std::move(realized), std::move(constraints));
  learn(failing.tape, failing.constraints);
  if (rank_order(failing, current_) >= 0) {
    if (looks()) {
      passes_[pass_]->saw(failing);
    }
    return;
  }
  current_ = std::move(failing);
  knows_constraints_ = true;
  progress_ = true;
  search_->accept(true);
}

void Shrinker::refuse() { take_verdict(); }

void Shrinker::refuse(const Tape& realized, const std::vector<Constraint>& constraints) {
  take_verdict();
  if (looks()) {
    passes_[pass_]->saw(FailingTape(realized, constraints));
  }
  learn(realized, constraints);
}

}  // namespace ordeal
