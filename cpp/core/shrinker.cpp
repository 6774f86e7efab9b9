#include "core/shrinker.h"

#include <utility>

#include "core/check.h"

namespace ordeal {

Shrinker::Shrinker(Tape failing) : current_(std::move(failing)) {
  passes_.push_back(std::make_unique<RemoveSteps>(RemoveSteps::Grain::kChunks));
  passes_.push_back(std::make_unique<RemoveFaults>());
  passes_.push_back(std::make_unique<RemoveSteps>(RemoveSteps::Grain::kSingle));
  passes_.push_back(std::make_unique<RemovePairs>());
  passes_.front()->start(current_);
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
    if (++pass_ == passes_.size() && std::exchange(progress_, false)) {
      pass_ = 0;
    }
    if (pass_ < passes_.size()) {
      passes_[pass_]->start(current_);
    }
  }
  return std::nullopt;
}

// A tape that was tried before would fail or pass as it did then.
std::optional<Tape> Shrinker::fresh_candidate() {
  while (auto found = passes_[pass_]->next(current_)) {
    if (found->size() < current_.size() && tried_.insert(found->hash()).second) {
      return found;
    }
  }
  return std::nullopt;
}

void Shrinker::accept(const Tape& realized) {
  ORDEAL_CHECK(std::exchange(asked_, false), "no candidate waits for an answer");
  if (realized.size() >= current_.size()) {
    return;
  }
  current_ = realized;
  progress_ = true;
  passes_[pass_]->accepted(current_);
}

void Shrinker::refuse() { ORDEAL_CHECK(std::exchange(asked_, false), "no candidate waits for an answer"); }

}  // namespace ordeal
