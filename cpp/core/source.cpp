#include "core/source.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "core/check.h"
#include "core/distributions.h"
#include "core/mutator.h"

namespace ordeal {
namespace {

// How often a draw that leans on an earlier one takes a fresh value all the same, where there is no way to change it a
// little.
constexpr double kFreshChance = 0.25;

}  // namespace

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

  // Of a value that is not permitted: the bound that it is beyond, else the simplest.
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

void ChoiceSource::live(Rng rng) noexcept {
  rng_ = rng;
  recorded_ = nullptr;
  model_ = nullptr;
  pending_ = {};
  producer_ = TapeArgument::kNoProducer;
}

void ChoiceSource::replay(const Tape& recorded, const TapeStep& step) noexcept {
  recorded_ = &recorded;
  model_ = nullptr;
  step_ = step;
  pending_ = {};
  producer_ = TapeArgument::kNoProducer;
}

void ChoiceSource::lean_on(const Tape& model, const TapeStep& step) noexcept {
  model_ = &model;
  step_ = step;
  pending_ = {};
}

void ChoiceSource::stop_leaning() noexcept {
  model_ = nullptr;
  pending_ = {};
}

void ChoiceSource::begin_argument(std::uint32_t name) {
  out_->begin_argument(name);
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
      return;
    }
  }
}

std::span<const Choice> ChoiceSource::recorded_for(std::uint32_t name) const noexcept {
  if (is_live()) {
    return {};
  }
  const auto arguments = recorded_->arguments(step_);
  const auto found = std::ranges::find(arguments, name, &TapeArgument::name);
  return found == arguments.end() ? std::span<const Choice>() : recorded_->choices(*found);
}

const Choice* ChoiceSource::take(ChoiceKind kind) noexcept {
  if (pending_.empty() || pending_.front().kind != kind) {
    misaligned_ += pending_.empty() && may_go_beyond_ ? 0U : 1U;
    return nullptr;
  }
  const Choice* choice = &pending_.front();
  pending_ = pending_.subspan(1);
  return choice;
}

void ChoiceSource::put(Choice choice) { out_->add(std::move(choice)); }

// Leaning ends with the first choice of another kind: what follows in the model belongs to something else.
const Choice* ChoiceSource::suggested(ChoiceKind kind) noexcept {
  if (pending_.empty() || pending_.front().kind != kind) {
    pending_ = {};
    return nullptr;
  }
  const Choice* choice = &pending_.front();
  pending_ = pending_.subspan(1);
  return choice;
}

std::optional<Choice> ChoiceSource::recorded(ChoiceKind kind) {
  if (is_live()) {
    const Choice* choice = suggested(kind);
    return choice == nullptr || rng_.chance(kFreshChance) ? std::nullopt : std::optional<Choice>(*choice);
  }
  const Choice* choice = take(kind);
  return choice == nullptr ? std::nullopt : std::optional<Choice>(*choice);
}

const Choice* ChoiceSource::take_boolean(double p) {
  note({.low = p >= 1 ? 1 : 0, .high = p > 0 ? 1 : 0});
  return take(ChoiceKind::kBoolean);
}

bool ChoiceSource::boolean(double p) {
  // Impossible and certain outcomes are choices too: the record keeps its shape when p changes.
  bool value = false;
  if (is_live()) {
    const Choice* choice = suggested(ChoiceKind::kBoolean);
    const bool keep = choice != nullptr && p > 0 && p < 1 && !rng_.chance(kFreshChance);
    value = keep ? choice->number != 0 : rng_.chance(p);
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

std::int64_t ChoiceSource::live_integer(std::int64_t low, std::int64_t high, std::int64_t simplest) {
  const Choice* choice = suggested(ChoiceKind::kInteger);
  if (choice == nullptr || choice->is_big() || choice->number < low || choice->number > high) {
    return draw_integer(rng_, low, high, simplest);
  }
  return mutate_integer(rng_, choice->number, low, high);
}

std::int64_t ChoiceSource::integer(std::int64_t low, std::int64_t high, std::int64_t toward) {
  ORDEAL_CHECK(low <= high, "low=" << low << " high=" << high);
  const std::int64_t simplest = std::clamp(toward, low, high);
  const std::int64_t value = is_live() ? live_integer(low, high, simplest) : take_integer(low, high, simplest);
  put(Choice::integer(value));
  return value;
}

std::int64_t ChoiceSource::position(std::int64_t size) {
  ORDEAL_CHECK(size > 0, "size=" << size);
  const std::int64_t value = is_live() ? rng_.between(0, size - 1) : take_integer(0, size - 1, 0);
  put(Choice::integer(value));
  return value;
}

double ChoiceSource::real(double low, double high, bool allow_nan, double smallest_nonzero) {
  ORDEAL_CHECK(low <= high, "low=" << low << " high=" << high);
  const RealBounds bounds{low, high, allow_nan, smallest_nonzero};
  double value = 0;
  if (is_live()) {
    const Choice* choice = suggested(ChoiceKind::kFloat);
    const bool keep = choice != nullptr && bounds.permits(choice->as_real()) && !rng_.chance(kFreshChance);
    value = keep ? choice->as_real() : draw_real(rng_, low, high, allow_nan, smallest_nonzero);
  } else {
    value = take_real(bounds);
  }
  put(Choice::real(value));
  return value;
}

}  // namespace ordeal
