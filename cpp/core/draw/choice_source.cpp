#include "core/draw/choice_source.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <ranges>
#include <utility>

#include "core/base/check.h"
#include "core/draw/distributions.h"
#include "core/draw/mutator.h"

namespace ordeal {
namespace {

// How often a draw that mutates from an earlier one takes a fresh value anyway, if the value cannot be changed
// slightly.
constexpr double kFreshChance = 0.25;
// How often a reused text or bytes are changed.
constexpr double kChangeChance = 0.3;
// How many choices of an argument change on average: all of them may if there are no more. If each choice of a long
// collection were likely to change, none would stay like its model (syn_program in benchmarks/bugs).
constexpr double kChangesMean = 4;
// The most often that an argument goes back, by choice; a long one goes back as often as its choices change.
constexpr double kRepeatChance = 0.2;
// How many arguments of the run are searched for a value to draw again.
constexpr int kLooks = 4;
// Positions in fewer elements repeat by chance.
constexpr std::int64_t kPositionsFew = 16;

}  // namespace

// The constraints of a float draw. The core knows them, so it repairs floats itself; for texts it does not, see
// value_draws.cpp.
struct ChoiceSource::RealBounds {
  double low;
  double high;
  bool allow_nan;
  double smallest_nonzero;

  [[nodiscard]] bool permits(double value) const noexcept {
    if (std::isnan(value)) {
      return allow_nan;
    }
    if (is_below(value, low) || is_below(high, value)) {
      return false;
    }
    return value == 0 || std::abs(value) >= smallest_nonzero;
  }

  // For a value that is not permitted: the bound that it exceeds, else the simplest.
  [[nodiscard]] double nearest(double value) const {
    for (const double bound : {low, high}) {
      const bool is_beyond = bound == low ? is_below(value, low) : is_below(high, value);
      if (is_beyond && permits(bound)) {
        return bound;
      }
    }
    return simplest();
  }

  // Zero, else what is nearest to it.
  [[nodiscard]] double simplest() const {
    for (const double value : {0.0, -0.0, std::max(low, smallest_nonzero), std::min(high, -smallest_nonzero)}) {
      if (permits(value)) {
        return value;
      }
    }
    ORDEAL_CHECK(false, "no real number in [" << low << ", " << high << "], smallest_nonzero=" << smallest_nonzero);
    return low;
  }

 private:
  static bool is_below(double left, double right) noexcept {
    return left < right || (left == right && std::signbit(left) && !std::signbit(right));
  }
};

// Forgets the rest of a recorded argument: from here on nothing is read.
void ChoiceSource::live(Rng rng) noexcept {
  rng_ = rng;
  recorded_ = nullptr;
  model_ = nullptr;
  pending_ = {};
  producer_ = TapeArgument::kNoProducer;
}

// The step is copied: its tape may grow while the step is replayed.
void ChoiceSource::replay(const Tape& recorded, const TapeStep& step) noexcept {
  recorded_ = &recorded;
  model_ = nullptr;
  step_ = step;
  pending_ = {};
  producer_ = TapeArgument::kNoProducer;
}

// Keeps the generator; only the source of the draws changes.
void ChoiceSource::mutate_from(const Tape& model, const TapeStep& step) noexcept {
  ORDEAL_DCHECK(is_live(), "a replay cannot mutate from a step");
  model_ = &model;
  step_ = step;
  pending_ = {};
}

void ChoiceSource::stop_mutating() noexcept {
  model_ = nullptr;
  pending_ = {};
}

// In the middle of a run, the new journal gets the tape so far, so that its reader can replay the run.
void ChoiceSource::set_journal(std::shared_ptr<Journal> journal, bool in_run) noexcept {
  if (journal == journal_) {
    return;
  }
  if (in_run) {
    end_run();
  }
  journal_ = std::move(journal);
  if (in_run && journal_ != nullptr) {
    journal_->begin_run();
    journal_->append(*out_);
  }
}

void ChoiceSource::begin_run() noexcept {
  out_->clear();
  if (journal_ != nullptr) {
    journal_->begin_run();
  }
}

void ChoiceSource::take_prefix(const Tape& prefix, std::size_t steps) {
  *out_ = prefix;
  out_->truncate(steps);
  if (journal_ != nullptr) {
    journal_->append(*out_);
  }
}

void ChoiceSource::drop_step() {
  out_->drop_step();
  if (journal_ != nullptr) {
    journal_->drop_step();
  }
}

void ChoiceSource::end_run() noexcept {
  if (journal_ != nullptr) {
    journal_->end_run();
  }
}

void ChoiceSource::set_producer(std::int64_t producer) {
  out_->set_producer(producer);
  if (journal_ != nullptr) {
    journal_->set_producer(producer);
  }
}

// Searches for the argument by name, not by position: arguments added to a rule since leave the others in place. Draws
// without a record get the simplest value.
void ChoiceSource::begin_argument(std::uint32_t name) {
  out_->begin_argument(name);
  if (journal_ != nullptr) [[unlikely]] {
    journal_->begin_argument(name);
  }
  const Tape* const tape = is_live() ? model_ : recorded_;
  if (tape == nullptr) {
    return;
  }
  pending_ = {};
  may_go_beyond_ = false;
  producer_ = TapeArgument::kNoProducer;
  for (const TapeArgument& argument : tape->arguments(step_)) {
    if (argument.name == name) {
      may_go_beyond_ = step_ == tape->last_step();
      producer_ = argument.producer;
      pending_ = tape->choices(argument);
      change_prob_ = kChangesMean / static_cast<double>(std::max<std::size_t>(1, pending_.size()));
      read_.clear();
      return;
    }
  }
}

// A linear search: rules have few arguments.
std::span<const Choice> ChoiceSource::recorded_for(std::uint32_t name) const noexcept {
  if (is_live()) {
    return {};
  }
  const auto arguments = recorded_->arguments(step_);
  const auto found = std::ranges::find(arguments, name, &TapeArgument::name);
  return found == arguments.end() ? std::span<const Choice>() : recorded_->choices(*found);
}

// A choice of another kind stays in place, as it may fit the next draw. Past the end of the last step nothing counts as
// misaligned, because the recorded run may have failed there.
const Choice* ChoiceSource::take(ChoiceKind kind) noexcept {
  if (pending_.empty() || pending_.front().kind != kind) {
    misaligned_ += pending_.empty() && may_go_beyond_ ? 0U : 1U;
    return nullptr;
  }
  const Choice* choice = &pending_.front();
  pending_ = pending_.subspan(1);
  return choice;
}

// Mutating ends with the first choice of another kind: later choices of the model belong to something else.
const Choice* ChoiceSource::suggested(ChoiceKind kind) noexcept {
  if (pending_.empty() || pending_.front().kind != kind) {
    pending_ = {};
    return nullptr;
  }
  const Choice* choice = &pending_.front();
  pending_ = pending_.subspan(1);
  return choice;
}

// Now and then goes back to an earlier choice with the same constraints, so that what follows it comes again: elements
// of a collection, or a branch inside itself. Equal constraints mostly mean that the same part of a strategy draws, and
// they are the same for compiled strategies and Hypothesis.
const Choice* ChoiceSource::suggested_or_earlier(std::uint64_t constraints, ChoiceKind kind) {
  if (model_ == nullptr || pending_.empty() || change_prob_ >= 1) [[likely]] {
    return suggested(kind);
  }
  if (rng_.chance(std::min(kRepeatChance, change_prob_))) {
    const auto is_same = [=](const Read& read) { return read.constraints == constraints; };
    auto again = read_ | std::views::filter(is_same);
    if (const auto count = static_cast<std::uint64_t>(std::ranges::distance(again)); count > 0) {
      pending_ = std::ranges::next(again.begin(), static_cast<std::ptrdiff_t>(rng_.below(count)))->from;
      return suggested(kind);
    }
  }
  read_.push_back({constraints, pending_});
  return suggested(kind);
}

// Looks at one choice each of some arguments of the run: prefers a fitting one from an argument of the same name.
template <typename Fits>
const Choice* ChoiceSource::drawn_earlier(const Fits& fits) noexcept {
  const std::span<const TapeArgument> arguments = out_->arguments();
  const Choice* found = nullptr;
  for (int i = 0; i < kLooks && !arguments.empty(); ++i) {
    const TapeArgument& argument = arguments[rng_.below(arguments.size())];
    const std::span<const Choice> choices = out_->choices(argument);
    if (choices.empty()) {
      continue;
    }
    const Choice& choice = choices[rng_.below(choices.size())];
    if (!fits(choice)) {
      continue;
    }
    if (argument.name == arguments.back().name) {
      return &choice;
    }
    found = &choice;
  }
  return found;
}

// From the dictionary or from this run, each half of the time.
std::optional<std::int64_t> ChoiceSource::reused_integer(std::int64_t low, std::int64_t high) {
  if (rng_.below(2) == 0) {
    return dictionary_->pick_integer(rng_, low, high);
  }
  const Choice* const choice = drawn_earlier([=](const Choice& earlier) {
    return earlier.kind == ChoiceKind::kInteger && !earlier.is_big() && low <= earlier.number && earlier.number <= high;
  });
  return choice == nullptr ? std::nullopt : std::optional(choice->number);
}

// The same for kinds whose constraints the core does not know: the caller checks the value.
const Choice* ChoiceSource::reused(ChoiceKind kind) {
  if (rng_.below(2) == 0) {
    return dictionary_->pick(rng_, kind);
  }
  return drawn_earlier([=](const Choice& earlier) { return earlier.kind == kind; });
}

// A fresh value, the suggestion as it is, or a change of it, perhaps towards a value of the dictionary.
std::optional<Choice> ChoiceSource::mutated(const Choice& suggestion) {
  if (rng_.chance(kFreshChance)) {
    return std::nullopt;
  }
  if (!rng_.chance(kChangeChance)) {
    return suggestion;
  }
  const Choice* const other = dictionary_ == nullptr ? nullptr : dictionary_->pick(rng_, suggestion.kind);
  return mutate_choice(rng_, suggestion, other);
}

// Live, a suggestion from the step to mutate from takes precedence over reuse.
std::optional<Choice> ChoiceSource::recorded(ChoiceKind kind) {
  if (is_live()) {
    if (const Choice* choice = suggested(kind)) {
      return changes() ? mutated(*choice) : *choice;
    }
    const Choice* choice = reuses() ? reused(kind) : nullptr;
    return choice == nullptr ? std::nullopt : mutated(*choice);
  }
  const Choice* choice = take(kind);
  return choice == nullptr ? std::nullopt : std::optional<Choice>(*choice);
}

// For a boolean, the bounds say whether it could have been the other value.
const Choice* ChoiceSource::take_boolean(double p) {
  note({.low = p >= 1 ? 1 : 0, .high = p > 0 ? 1 : 0});
  return take(ChoiceKind::kBoolean);
}

bool ChoiceSource::boolean(double p) {
  // Impossible and certain outcomes are choices too: the record keeps its shape when p changes.
  bool value = false;
  if (is_live()) {
    const Choice* choice = suggested_or_earlier(std::bit_cast<std::uint64_t>(p), ChoiceKind::kBoolean);
    const bool keep = choice != nullptr && p > 0 && p < 1 && !(changes() && rng_.chance(kFreshChance));
    value = keep ? choice->number != 0 : rng_.chance(p < 1 ? p * (1 - simplest_prob_) : p);
  } else if (const Choice* choice = take_boolean(p)) {
    value = choice->number != 0;
    if ((value && p <= 0) || (!value && p >= 1)) {
      ++misaligned_;
      value = !value;
    }
  } else {
    value = p >= 1;
  }
  put(Choice::boolean(value));
  return value;
}

// A big integer has nothing in common with small bounds, so it becomes the simplest value instead of the nearest.
std::int64_t ChoiceSource::take_integer(std::int64_t low, std::int64_t high, std::int64_t simplest) {
  note({low, high, simplest});
  const Choice* choice = take(ChoiceKind::kInteger);
  if (choice == nullptr) {
    return simplest;
  }
  if (choice->is_big() || choice->number < low || choice->number > high) {
    ++misaligned_;
    return choice->is_big() ? simplest : std::clamp(choice->number, low, high);
  }
  return choice->number;
}

// A value outside the bounds is repaired to the nearest inside, and counted as misaligned.
double ChoiceSource::take_real(const RealBounds& bounds) {
  const double simplest = bounds.simplest();
  note({.simplest = std::bit_cast<std::int64_t>(simplest)});
  const Choice* choice = take(ChoiceKind::kFloat);
  if (choice == nullptr) {
    return simplest;
  }
  const double value = choice->as_real();
  if (bounds.permits(value)) {
    return value;
  }
  ++misaligned_;
  return bounds.nearest(value);
}

// Integers are changed by mutate_integer(), which knows the bounds, and not by mutated().
std::int64_t ChoiceSource::live_integer(std::int64_t low, std::int64_t high, std::int64_t simplest) {
  const std::uint64_t constraints = mix64(static_cast<std::uint64_t>(low)) ^ static_cast<std::uint64_t>(high);
  const Choice* choice = suggested_or_earlier(constraints, ChoiceKind::kInteger);
  if (choice == nullptr || choice->is_big() || choice->number < low || choice->number > high) {
    return new_integer(low, high, simplest);
  }
  return changes() ? mutate_integer(rng_, choice->number, low, high) : choice->number;
}

// In a small range chance finds every value often enough; only draws from a large one reuse values.
std::int64_t ChoiceSource::new_integer(std::int64_t low, std::int64_t high, std::int64_t simplest) {
  if (simplifies()) {
    return simplest;
  }
  const bool is_large = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low) > kUniformRange;
  if (is_large && reuses()) {
    if (const auto again = reused_integer(low, high)) {
      return *again;
    }
  }
  return draw_integer(rng_, low, high, simplest);
}

std::int64_t ChoiceSource::integer(std::int64_t low, std::int64_t high, std::int64_t toward) {
  ORDEAL_CHECK(low <= high, "low=" << low << " high=" << high);
  const std::int64_t simplest = std::clamp(toward, low, high);
  const std::int64_t value = is_live() ? live_integer(low, high, simplest) : take_integer(low, high, simplest);
  put(Choice::integer(value));
  return value;
}

// Uniform: which value of a bundle is taken says nothing about its simplicity.
std::int64_t ChoiceSource::position(std::int64_t size) {
  ORDEAL_CHECK(size > 0, "size=" << size);
  std::int64_t value = 0;
  if (!is_live()) {
    value = take_integer(0, size - 1, 0);
    note_selection();
  } else if (const Choice* again = size > kPositionsFew && reuses() ? earlier_position(size) : nullptr) {
    value = again->number;
  } else {
    value = rng_.between(0, size - 1);
  }
  put(Choice::integer(value));
  return value;
}

const Choice* ChoiceSource::earlier_position(std::int64_t size) noexcept {
  return drawn_earlier([=](const Choice& earlier) {
    return earlier.kind == ChoiceKind::kInteger && !earlier.is_big() && 0 <= earlier.number && earlier.number < size;
  });
}

double ChoiceSource::real(double low, double high, bool allow_nan, double smallest_nonzero) {
  ORDEAL_CHECK(low <= high, "low=" << low << " high=" << high);
  const RealBounds bounds{low, high, allow_nan, smallest_nonzero};
  const double value = is_live() ? live_real(bounds) : take_real(bounds);
  put(Choice::real(value));
  return value;
}

// A reused float may be out of bounds; then a new one is drawn.
double ChoiceSource::live_real(const RealBounds& bounds) {
  const Choice* choice = suggested(ChoiceKind::kFloat);
  if (choice != nullptr && !changes() && bounds.permits(choice->as_real())) {
    return choice->as_real();
  }
  if (choice == nullptr && reuses()) {
    choice = reused(ChoiceKind::kFloat);
  }
  if (choice != nullptr) {
    const auto again = mutated(*choice);
    if (again && bounds.permits(again->as_real())) {
      return again->as_real();
    }
  }
  return draw_real(rng_, bounds.low, bounds.high, bounds.allow_nan, bounds.smallest_nonzero);
}

}  // namespace ordeal
