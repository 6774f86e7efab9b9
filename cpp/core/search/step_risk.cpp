#include "core/search/step_risk.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

#include "core/base/check.h"

namespace ordeal {
namespace {

// What a circumstance is about, as a part of its hash.
enum class About : std::uint8_t { kAfter, kValue, kSize };

// Draws in the body of a rule have the first name: they come too late to draw anew.
constexpr std::uint32_t kBody = 0;
// A circumstance in which no more steps fail than this share is left as it is.
constexpr double kAvoidedShareMin = 0.5;
// One failure in a circumstance says little.
constexpr double kFailuresLittle = 1;

std::size_t place_of(About about, std::uint32_t rule, std::uint64_t where, std::uint64_t what) noexcept {
  const std::uint64_t h = mix64((std::uint64_t{rule} << 8U) ^ static_cast<std::uint64_t>(about));
  return mix64(mix64(h ^ where) ^ what) % StepRisk::kPlaces;
}

// The step before, or that there is none.
std::size_t place_after(const Tape& tape, std::size_t steps, std::uint32_t rule) noexcept {
  std::uint64_t before = ~std::uint64_t{0};
  if (steps > 0) {
    const TapeStep& step = tape.step(steps - 1);
    before = (std::uint64_t{step.target} << 8U) ^ static_cast<std::uint64_t>(step.kind);
  }
  return place_of(About::kAfter, rule, 0, before);
}

std::uint64_t value_of(const Choice& choice) noexcept {
  const auto number = static_cast<std::uint64_t>(choice.number);
  return hash_bytes(choice.blob(), mix64(number ^ static_cast<std::uint64_t>(choice.kind)));
}

// The sign and the order of magnitude.
std::uint64_t size_of(const Choice& choice) noexcept {
  switch (choice.kind) {
    case ChoiceKind::kBoolean:
      return 0;
    case ChoiceKind::kInteger:
      if (!choice.is_big()) {
        const bool is_negative = choice.number < 0;
        const auto number = static_cast<std::uint64_t>(choice.number);
        return (is_negative ? 128U : 0U) + static_cast<unsigned>(std::bit_width(is_negative ? ~number + 1 : number));
      }
      break;
    case ChoiceKind::kFloat: {
      const double number = choice.as_real();
      if (!std::isfinite(number) || number == 0) {
        return std::isnan(number) ? 1U : 2U + (std::signbit(number) ? 1U : 0U);
      }
      return 4096U + static_cast<std::uint64_t>(std::ilogb(number) + 2048) * 2 + (std::signbit(number) ? 1U : 0U);
    }
    case ChoiceKind::kString:
    case ChoiceKind::kBytes:
      break;
  }
  return 256U + static_cast<unsigned>(std::bit_width(choice.blob().size()));
}

// Calls `visit` with the place of each circumstance of the values of the last step.
template <typename Visit>
void visit_values(const Tape& tape, Visit visit) noexcept {
  const TapeStep& step = tape.last_step();
  std::size_t left = StepRisk::kChoicesMax;
  for (const TapeArgument& argument : tape.arguments(step)) {
    if (argument.name == kBody) {
      continue;
    }
    std::uint64_t where = std::uint64_t{argument.name} << 32U;
    for (const Choice& choice : tape.choices(argument)) {
      if (left-- == 0) {
        return;
      }
      visit(place_of(About::kValue, step.target, where, value_of(choice)));
      if (choice.kind != ChoiceKind::kBoolean) {
        visit(place_of(About::kSize, step.target, where, size_of(choice)));
      }
      ++where;
    }
  }
}

}  // namespace

void StepRisk::passed(const Tape& tape) noexcept {
  const auto count = [this](std::size_t place) { steps_[place].passed += steps_[place].failed > 0 ? 1U : 0U; };
  count(place_after(tape, tape.size() - 1, tape.last_step().target));
  visit_values(tape, count);
}

void StepRisk::failed(const Tape& tape) noexcept {
  const auto count = [this](std::size_t place) { ++steps_[place].failed; };
  count(place_after(tape, tape.size() - 1, tape.last_step().target));
  visit_values(tape, count);
}

// Up to a share of one half nothing is avoided, and above it as often as steps failed.
double StepRisk::chance(const Steps& steps) noexcept {
  const auto failed = static_cast<double>(steps.failed);
  const double share = failed / (failed + static_cast<double>(steps.passed) + kFailuresLittle);
  return share > kAvoidedShareMin ? std::min(share, kChanceMax) : 0;
}

bool StepRisk::avoids_next(const Tape& tape, std::uint32_t rule, Rng& rng) const noexcept {
  const double avoided = chance(steps_[place_after(tape, tape.size(), rule)]);
  return avoided > 0 && rng.chance(avoided);
}

bool StepRisk::avoids_values(const Tape& tape, Rng& rng) const noexcept {
  double avoided = 0;
  visit_values(tape, [&](std::size_t place) { avoided = std::max(avoided, chance(steps_[place])); });
  return avoided > 0 && rng.chance(avoided);
}

std::vector<CircumstanceCounts> StepRisk::counts() const {
  std::vector<CircumstanceCounts> counts;
  for (std::uint32_t place = 0; place < kPlaces; ++place) {
    if (const Steps& steps = steps_[place]; steps.failed > 0) {
      counts.push_back({.place = place, .passed = steps.passed, .failed = steps.failed});
    }
  }
  return counts;
}

void StepRisk::restore(std::span<const CircumstanceCounts> counts) {
  for (const CircumstanceCounts& each : counts) {
    ORDEAL_CHECK(each.place < kPlaces && each.failed > 0, "place " << each.place << " failed " << each.failed);
    steps_[each.place] = {.passed = each.passed, .failed = each.failed};
  }
}

}  // namespace ordeal
