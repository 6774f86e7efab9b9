#include "core/cmplog/cmplog.h"

#include <algorithm>

#include "core/base/check.h"
#include "core/base/rng.h"

namespace ordeal {
namespace {

// Choices after the comparison had no part in it.
Tape first_steps(const Tape& tape, std::size_t count) {
  Tape result = tape;
  result.truncate(std::min(count, tape.size()));
  return result;
}

// Identifies an edit of an argument, wherever in a run it is.
std::uint64_t key_of(const Tape& tape, const ChoiceEdit& edit) {
  std::uint64_t key = 0;
  for (const TapeStep& step : tape.steps()) {
    for (const TapeArgument& argument : tape.arguments(step)) {
      if (argument.choices_begin <= edit.index && edit.index < argument.choices_end) {
        key = mix64((static_cast<std::uint64_t>(step.target) << 32U) ^ argument.name);
        key = mix64(key ^ (static_cast<std::uint64_t>(step.kind) << 32U) ^ (edit.index - argument.choices_begin));
      }
    }
  }
  return hash_bytes(edit.value.blob(), mix64(key ^ static_cast<std::uint64_t>(edit.value.number)));
}

}  // namespace

// Code behind a turned comparison runs in this run and hardly any other.
void Cmplog::end_run(std::uint32_t new_edges, bool follows_solution) {
  if (new_edges > 0 && follows_solution) {
    watches_run_ = true;
  }
}

// Only checkpoints kept for new edges: comparisons are on the way to code.
const Checkpoint* Cmplog::checkpoint_to_watch(const Corpus& corpus) const {
  if (watches_run_) {
    return nullptr;
  }
  const Checkpoint* newest = nullptr;
  const Checkpoint* next = nullptr;
  for (const Checkpoint* checkpoint : corpus.entries()) {
    if (std::ranges::any_of(checkpoint->shows, [](const Feature& shown) { return shown.kind == FeatureKind::kEdge; })) {
      newest = checkpoint;
      next = checkpoint->id < watched_ ? checkpoint : next;
    }
  }
  return next == nullptr ? newest : next;
}

// Operands go to the dictionary whether or not an edit is found: a draw may use them directly.
std::size_t Cmplog::learn(const Tape& tape, std::uint64_t checkpoint, std::span<const Comparison> comparisons,
                          Dictionary& dictionary) {
  watched_ = watches_run_ ? watched_ : checkpoint;
  watches_run_ = false;
  std::size_t queued = 0;
  const std::size_t bytes = tape.bytes();
  for (const Comparison& comparison : comparisons) {
    dictionary.add(DictionarySource::kOperand, comparison.left);
    dictionary.add(DictionarySource::kOperand, comparison.right);
    for (ChoiceEdit& edit : edits_toward(tape, comparison)) {
      if (!has_room_for(bytes) || !is_worth_trying(tape, edit)) {
        continue;
      }
      Tape edited = first_steps(tape, comparison.steps);
      edited.replace_choice(edit.index, std::move(edit.value));
      enqueue(std::move(edited));
      ++queued;
    }
  }
  return queued;
}

bool Cmplog::has_room_for(std::size_t bytes) const noexcept {
  return queue_.size() < kQueueMax && bytes_ + bytes <= kBytesMax;
}

void Cmplog::enqueue(Tape tape) {
  bytes_ += tape.bytes();
  queue_.push_back(std::move(tape));
}

// Clears the record when it is full: trying a few edits again is cheaper than keeping a list in order.
bool Cmplog::is_worth_trying(const Tape& tape, const ChoiceEdit& edit) {
  if (tried_.size() >= kTriedMax) {
    tried_.clear();
  }
  std::uint8_t& tries = tried_[key_of(tape, edit)];
  if (tries >= kTriesMax) {
    return false;
  }
  ++tries;
  return true;
}

// Every other run at most, while there are tapes.
std::optional<Tape> Cmplog::next() {
  turn_ = !turn_ && !queue_.empty();
  if (!turn_) {
    return std::nullopt;
  }
  Tape tape = std::move(queue_.front());
  queue_.pop_front();
  const std::size_t bytes = tape.bytes();
  ORDEAL_DCHECK(bytes <= bytes_, "a tape of " << bytes << " bytes in a queue of " << bytes_);
  bytes_ -= bytes;
  return tape;
}

// Sorted, so that equal states are equal bytes.
CmplogState Cmplog::save() const {
  CmplogState state{.watches_run = watches_run_,
                    .watched = watched_,
                    .turn = turn_,
                    .queue = {queue_.begin(), queue_.end()},
                    .tried = {tried_.begin(), tried_.end()}};
  std::ranges::sort(state.tried);
  return state;
}

// From a file: no state of this can do harm.
void Cmplog::restore(CmplogState state) {
  watches_run_ = state.watches_run;
  watched_ = state.watched;
  turn_ = state.turn;
  queue_.clear();
  bytes_ = 0;
  for (Tape& tape : state.queue) {
    if (has_room_for(tape.bytes())) {
      enqueue(std::move(tape));
    }
  }
  tried_.clear();
  for (const auto& [key, tries] : state.tried) {
    tried_[key] = tries;
  }
}

}  // namespace ordeal
