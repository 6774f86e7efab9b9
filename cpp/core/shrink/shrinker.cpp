#include "core/shrink/shrinker.h"

#include <utility>

#include "core/base/check.h"
#include "core/shrink/shrink_choices.h"
#include "core/shrink/shrink_faults.h"
#include "core/shrink/shrink_merges.h"
#include "core/shrink/shrink_references.h"
#include "core/shrink/shrink_steps.h"
#include "core/shrink/shrink_values.h"

namespace ordeal {
namespace {

// Cheap and large changes first; what helps seldom comes last, when there is little left to try it on.
std::vector<std::unique_ptr<ShrinkPass>> all_passes() {
  std::vector<std::unique_ptr<ShrinkPass>> passes;
  passes.push_back(std::make_unique<RemoveChunks>());
  passes.push_back(std::make_unique<RemoveFaults>());
  passes.push_back(std::make_unique<RemoveSteps>());
  passes.push_back(std::make_unique<SimplifyArguments>());
  passes.push_back(std::make_unique<LowerFlags>());
  passes.push_back(std::make_unique<DeleteChoices>());
  passes.push_back(std::make_unique<LowerTogether>());
  passes.push_back(std::make_unique<LowerValues>());
  passes.push_back(std::make_unique<NarrowFaults>());
  passes.push_back(std::make_unique<MergeReferences>());
  passes.push_back(std::make_unique<LowerPairs>());
  passes.push_back(std::make_unique<SortValues>());
  passes.push_back(std::make_unique<LowerBranches>());
  passes.push_back(std::make_unique<DeleteCounted>());
  passes.push_back(std::make_unique<MergeSteps>());
  passes.push_back(std::make_unique<RemovePairs>());
  return passes;
}

}  // namespace

Shrinker::Shrinker(Tape failing) : current_(std::move(failing)), rank_(current_), passes_(all_passes()) {
  tried_.insert(current_.tape.hash());
  sweep_ = passes_.front()->sweep(current_);
}

std::string_view Shrinker::phase() const noexcept {
  return pass_ < passes_.size() ? passes_[pass_]->name() : "minimal";
}

std::optional<Tape> Shrinker::candidate() {
  asked_ = false;
  while (pass_ < passes_.size()) {
    if (auto found = fresh_candidate()) {
      ++candidates_;
      asked_ = true;
      return found;
    }
    next_pass();
  }
  return std::nullopt;
}

// A tape that was tried before would fail or pass as it did then.
std::optional<Tape> Shrinker::fresh_candidate() {
  while (auto found = sweep_->next()) {
    if (tried_.insert(found->hash()).second) {
      return found;
    }
  }
  return std::nullopt;
}

void Shrinker::next_pass() {
  if (++pass_ == passes_.size() && std::exchange(progress_, false)) {
    pass_ = 0;
  }
  if (pass_ < passes_.size()) {
    sweep_ = passes_[pass_]->sweep(current_);
  }
}

void Shrinker::answered() { ORDEAL_CHECK(std::exchange(asked_, false), "no candidate waits for an answer"); }

// The tape that shrinking begins with comes without domains. What ran of a tape of the same shape has them.
void Shrinker::learn(const Failing& ran) {
  tried_.insert(ran.tape.hash());
  if (!knows_domains_ && has_same_shape(ran.tape, current_.tape)) {
    knows_domains_ = true;
    current_.domains = ran.domains;
    rank_ = TapeRank(current_);
    progress_ = true;  // passes that looked at the tape before did not know
  }
}

void Shrinker::accept(Tape realized, std::vector<Domain> domains) {
  answered();
  Failing failing(std::move(realized), std::move(domains));
  learn(failing);
  TapeRank rank(failing);
  if (rank >= rank_) {
    return;
  }
  current_ = std::move(failing);
  rank_ = std::move(rank);
  knows_domains_ = true;
  progress_ = true;
  sweep_->answer(true);
}

void Shrinker::refuse() { answered(); }

void Shrinker::refuse(Tape realized, std::vector<Domain> domains) {
  answered();
  learn(Failing(std::move(realized), std::move(domains)));
}

}  // namespace ordeal
