#include "core/tape/tape.h"

#include <algorithm>
#include <utility>

#include "core/base/check.h"
#include "core/base/rng.h"

namespace ordeal {
namespace {

// Strings are hashed by content; small kinds are complete in the number.
std::uint64_t hash_choice(const Choice& choice, std::uint64_t h) noexcept {
  h = mix64(h ^ static_cast<std::uint64_t>(choice.kind));
  h = mix64(h ^ static_cast<std::uint64_t>(choice.number));
  return choice.blob().empty() ? h : hash_bytes(choice.blob(), h);
}

}  // namespace

// Offsets are 32 bits wide, and kChoicesMax keeps them from overflowing. O(1).
void Tape::begin_step(StepKind kind, std::uint32_t target, std::uint32_t origin) {
  ORDEAL_CHECK(steps_.size() < kChoicesMax, "steps=" << steps_.size());
  const auto at = static_cast<std::uint32_t>(arguments_.size());
  steps_.push_back({kind, target, origin, at, at});
}

// An argument without choices is one as well: its name says that the rule was given it. O(1).
void Tape::begin_argument(std::uint32_t name) {
  ORDEAL_CHECK(!steps_.empty(), "an argument needs a step");
  ORDEAL_CHECK(arguments_.size() < kChoicesMax, "arguments=" << arguments_.size());
  const auto at = static_cast<std::uint32_t>(choices_.size());
  arguments_.push_back({.name = name, .choices_begin = at, .choices_end = at});
  steps_.back().arguments_end = static_cast<std::uint32_t>(arguments_.size());
}

// The step that made the value of a bundle which this argument takes: its origin, which stays when steps are left out.
void Tape::set_producer(std::int64_t producer) {
  ORDEAL_CHECK(has_open_argument(), "a producer needs an argument, steps=" << steps_.size());
  arguments_.back().producer = producer;
}

void Tape::drop_step() {
  ORDEAL_CHECK(!steps_.empty(), "no step to drop");
  truncate(steps_.size() - 1);
}

// Steps, arguments and choices are three arrays, each in order: the content of the last steps is at the end of each.
void Tape::truncate(std::size_t count) {
  ORDEAL_CHECK(count <= steps_.size(), "count=" << count << " size=" << steps_.size());
  if (count == steps_.size()) {
    return;
  }
  arguments_.resize(steps_[count].arguments_begin);
  choices_.resize(arguments_.empty() ? 0 : arguments_.back().choices_end);
  steps_.resize(count);
  ORDEAL_DCHECK(steps_.empty() || steps_.back().arguments_end == arguments_.size(), "arguments of a step that is gone");
}

void Tape::clear() noexcept {
  steps_.clear();
  arguments_.clear();
  choices_.clear();
}

std::span<const TapeArgument> Tape::arguments(const TapeStep& step) const noexcept {
  ORDEAL_DCHECK(step.arguments_end <= arguments_.size(), "a step of another tape");
  return std::span(arguments_).subspan(step.arguments_begin, step.arguments_end - step.arguments_begin);
}

std::span<const Choice> Tape::choices(const TapeArgument& argument) const noexcept {
  ORDEAL_DCHECK(argument.choices_end <= choices_.size(), "an argument of another tape");
  return std::span(choices_).subspan(argument.choices_begin, argument.choices_end - argument.choices_begin);
}

// Costs as much as the step has choices.
void Tape::append(const Tape& from, const TapeStep& step) {
  // Copies, never references: `from` may be this tape, whose vectors grow below.
  const TapeStep source = step;
  ORDEAL_CHECK(source.arguments_end <= from.arguments_.size(), "a step of another tape");
  begin_step(source.kind, source.target, source.origin);
  for (std::uint32_t a = source.arguments_begin; a < source.arguments_end; ++a) {
    const TapeArgument argument = from.arguments_[a];
    begin_argument(argument.name);
    arguments_.back().producer = argument.producer;
    for (std::uint32_t c = argument.choices_begin; c < argument.choices_end; ++c) {
      add(Choice(from.choices_[c]));
    }
  }
}

// Copies each of the three rows and shifts the offsets by the difference in length. That may be negative: unsigned
// numbers wrap around and come out right.
void Tape::append(const Tape& from, std::size_t first, std::size_t end) {
  ORDEAL_CHECK(&from != this, "a tape cannot be appended to itself");
  ORDEAL_CHECK(first <= end && end <= from.size(), "steps " << first << " to " << end << " of " << from.size());
  if (first == end) {
    return;
  }
  const std::uint32_t arguments_begin = from.steps_[first].arguments_begin;
  const std::uint32_t arguments_end = from.steps_[end - 1].arguments_end;
  const bool has_arguments = arguments_begin < arguments_end;
  const std::uint32_t choices_begin = has_arguments ? from.arguments_[arguments_begin].choices_begin : 0;
  const std::uint32_t choices_end = has_arguments ? from.arguments_[arguments_end - 1].choices_end : 0;
  ORDEAL_CHECK(choices_.size() + (choices_end - choices_begin) <= kChoicesMax, "choices=" << choices_.size());
  const auto arguments_moved = static_cast<std::uint32_t>(arguments_.size()) - arguments_begin;
  const auto choices_moved = static_cast<std::uint32_t>(choices_.size()) - choices_begin;
  for (const TapeStep& step : from.steps().subspan(first, end - first)) {
    steps_.push_back(step);
    steps_.back().arguments_begin += arguments_moved;
    steps_.back().arguments_end += arguments_moved;
  }
  for (std::uint32_t a = arguments_begin; a < arguments_end; ++a) {
    arguments_.push_back(from.arguments_[a]);
    arguments_.back().choices_begin += choices_moved;
    arguments_.back().choices_end += choices_moved;
  }
  const std::span<const Choice> added = from.choices().subspan(choices_begin, choices_end - choices_begin);
  choices_.insert(choices_.end(), added.begin(), added.end());
}

// Compares content, not offsets: the same steps lie elsewhere in another tape. Stops at the first difference.
bool Tape::has_steps(std::size_t at, const Tape& other) const noexcept {
  if (at + other.size() > size()) {
    return false;
  }
  for (std::size_t i = 0; i < other.size(); ++i) {
    const TapeStep& here = steps_[at + i];
    const TapeStep& there = other.steps_[i];
    const std::span<const TapeArgument> mine = arguments(here);
    const std::span<const TapeArgument> theirs = other.arguments(there);
    if (here.kind != there.kind || here.target != there.target || here.origin != there.origin ||
        mine.size() != theirs.size()) {
      return false;
    }
    for (std::size_t a = 0; a < mine.size(); ++a) {
      if (mine[a].name != theirs[a].name || mine[a].producer != theirs[a].producer ||
          !std::ranges::equal(choices(mine[a]), other.choices(theirs[a]))) {
        return false;
      }
    }
  }
  return true;
}

// A blob costs a string object besides its bytes.
std::size_t Tape::bytes() const noexcept {
  std::size_t sum = (steps_.size() * sizeof(TapeStep)) + (arguments_.size() * sizeof(TapeArgument)) +
                    (choices_.size() * sizeof(Choice));
  for (const Choice& choice : choices_) {
    const std::size_t size = choice.blob().size();
    sum += size > 0 ? sizeof(std::string) + size : 0;
  }
  return sum;
}

// O(choices that stay).
Tape Tape::subset(const std::vector<bool>& keep) const {
  ORDEAL_CHECK(keep.size() == steps_.size(), "keep=" << keep.size() << " steps=" << steps_.size());
  Tape result;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (keep[i]) {
      result.append(*this, steps_[i]);
    }
  }
  return result;
}

void Tape::replace_choice(std::size_t index, Choice choice) {
  ORDEAL_CHECK(index < choices_.size(), "index=" << index << " choices=" << choices_.size());
  choices_[index] = std::move(choice);
}

void Tape::replace_producer(std::size_t argument, std::int64_t producer) {
  ORDEAL_CHECK(argument < arguments_.size(), "argument=" << argument << " arguments=" << arguments_.size());
  arguments_[argument].producer = producer;
}

// Steps and arguments stay, even without a choice: a replay then gives their draws the simplest value.
Tape Tape::subset_of_choices(const std::vector<bool>& keep) const {
  ORDEAL_CHECK(keep.size() == choices_.size(), "keep=" << keep.size() << " choices=" << choices_.size());
  Tape result;
  result.steps_ = steps_;
  result.arguments_ = arguments_;
  for (TapeArgument& argument : result.arguments_) {
    const auto begin = static_cast<std::uint32_t>(result.choices_.size());
    for (std::uint32_t c = argument.choices_begin; c < argument.choices_end; ++c) {
      if (keep[c]) {
        result.choices_.push_back(choices_[c]);
      }
    }
    argument.choices_begin = begin;
    argument.choices_end = static_cast<std::uint32_t>(result.choices_.size());
  }
  return result;
}

// Counts are hashed before what they count: otherwise two tapes could flatten to the same sequence.
std::uint64_t Tape::hash() const noexcept {
  const auto is_produced = [](const TapeArgument& argument) { return argument.producer != TapeArgument::kNoProducer; };
  const bool origins_matter = std::ranges::any_of(arguments_, is_produced);
  std::uint64_t h = mix64(steps_.size());
  for (const TapeStep& step : steps_) {
    h = mix64(h ^ (static_cast<std::uint64_t>(step.kind) << 32U) ^ step.target);
    h = mix64(h ^ (origins_matter ? step.origin : 0U));
    h = mix64(h ^ arguments(step).size());
    for (const TapeArgument& argument : arguments(step)) {
      h = mix64(h ^ argument.name);
      h = mix64(h ^ static_cast<std::uint64_t>(argument.producer));
      h = mix64(h ^ choices(argument).size());
      for (const Choice& choice : choices(argument)) {
        h = hash_choice(choice, h);
      }
    }
  }
  return h;
}

}  // namespace ordeal
