#include "core/search/rule_stats.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <string_view>

#include "core/base/check.h"

namespace ordeal {
namespace {

// A rule or circumstance is proposed as usual if at most this share of its steps fail: what it does when it passes may
// be needed many times to get past its failures.
constexpr double kShareMin = 0.5;
// Counted as passed on top: one failure says little.
constexpr double kPassedBefore = 2;
constexpr double kPassedBeforeInCircumstance = 1;
// How many choices of a step count as circumstances.
constexpr std::size_t kChoicesMax = 8;
// A crash costs a process, so it counts as this many failures.
constexpr int kCrashWeight = 4;
// The first steps of a program import and fill caches.
constexpr double kStepsFew = 4;

// What a circumstance is about, as a part of its hash.
enum class About : std::uint8_t { kAfter, kValue, kSize };

// Draws in the body of a rule have the first name: they come too late to draw again.
constexpr std::uint32_t kBody = 0;

double share_of(double failed, double passed) noexcept { return failed / (failed + passed); }

std::size_t place_of(About about, std::uint32_t rule, std::uint64_t where, std::uint64_t what) noexcept {
  const std::uint64_t h = mix64((std::uint64_t{rule} << 8U) ^ static_cast<std::uint64_t>(about));
  return mix64(mix64(h ^ where) ^ what) % RuleStats::kPlaces;
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
  std::size_t left = kChoicesMax;
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

RuleStats::RuleStats(std::size_t rules, std::size_t faults, bool by_clock)
    : by_clock_(by_clock), columns_(faults + 1), rows_(rules), uses_(rules * columns_) {}

void RuleStats::passed_again(const Tape& tape) noexcept {
  const std::uint32_t rule = tape.last_step().target;
  ++rows_[rule].risk.passed;
  const auto count = [this](std::size_t place) {
    Steps& steps = circumstances_[place];
    steps.passed += steps.failed > 0 ? 1U : 0U;
  };
  count(place_after(tape, tape.size() - 1, rule));
  visit_values(tape, count);
}

void RuleStats::failed_again(const Tape& tape) noexcept {
  const std::uint32_t rule = tape.last_step().target;
  ++rows_[rule].risk.failed;
  const auto count = [this](std::size_t place) { ++circumstances_[place].failed; };
  count(place_after(tape, tape.size() - 1, rule));
  visit_values(tape, count);
}

void RuleStats::crashed(const Tape& tape, double seconds) noexcept {
  for (int i = 0; i < kCrashWeight; ++i) {
    failed_again(tape);
  }
  if (seconds > 0) {
    lost(tape.last_step().target, seconds);
  }
}

void RuleStats::took(std::uint32_t rule, double seconds) noexcept {
  for (Times* const times : {&steps_, &rows_[rule].times}) {
    times->seconds += seconds;
    times->steps += 1;
    times->slow += seconds > kSlowStepSeconds ? 1 : 0;
  }
}

double RuleStats::run_took(double seconds, std::uint64_t steps) noexcept {
  if (!(seconds > 0) || steps == 0) {
    return 1;
  }
  runs_.seconds += seconds;
  runs_.steps += static_cast<double>(steps);
  if (!runs_are_slow()) {
    return 1;
  }
  return std::min(kSlownessMax, seconds / static_cast<double>(steps) / (runs_.seconds / runs_.steps));
}

void RuleStats::lost(std::uint32_t rule, double seconds) noexcept {
  if (by_clock_) {
    rows_[rule].took_long = true;
    lost_seconds_ += std::max(seconds, 0.0);
  }
}

// Up to a share of one half nothing is avoided, and above it as often as steps failed.
double RuleStats::chance(const Steps& steps) noexcept {
  const double share = share_of(steps.failed, steps.passed + kPassedBeforeInCircumstance);
  return share > kShareMin ? std::min(share, kChanceMax) : 0;
}

// Up to a share of one half the rule is never avoided, and above it more and more often, but never always: what it
// needs to pass may come yet.
bool RuleStats::avoids_failed(const Tape& tape, std::uint32_t rule, Rng& rng) const noexcept {
  const RuleRiskCounts& risk = rows_[rule].risk;
  const double share = share_of(static_cast<double>(risk.failed), static_cast<double>(risk.passed) + kPassedBefore);
  if (share > kShareMin && rng.chance(std::min((share - kShareMin) / (1 - kShareMin), kChanceMax))) {
    return true;
  }
  const double after = chance(circumstances_[place_after(tape, tape.size(), rule)]);
  return after > 0 && rng.chance(after);
}

bool RuleStats::avoids_failed_values(const Tape& tape, Rng& rng) const noexcept {
  double avoided = 0;
  visit_values(tape, [&](std::size_t place) { avoided = std::max(avoided, chance(circumstances_[place])); });
  return avoided > 0 && rng.chance(avoided);
}

// To learn most in a given time, what costs c is tried in proportion to the inverse of the square root of c.
bool RuleStats::avoids_slow(std::uint32_t rule, Rng& rng) const noexcept {
  const Times& own = rows_[rule].times;
  const double other_steps = steps_.steps - own.steps;
  if (!own.most_are_slow() || own.steps < kStepsFew || other_steps < kStepsFew) {
    return false;
  }
  const double ratio = (steps_.seconds - own.seconds) / other_steps / (own.seconds / own.steps);
  return ratio < 1 && rng.chance(1 - std::max(std::sqrt(ratio), kKeptMin));
}

bool RuleStats::are_slow() const noexcept { return steps_.steps >= kStepsFew && steps_.most_are_slow(); }

std::vector<RuleRiskCounts> RuleStats::risk() const {
  std::vector<RuleRiskCounts> risk;
  risk.reserve(rows_.size());
  for (const Row& row : rows_) {
    risk.push_back(row.risk);
  }
  return risk;
}

std::vector<CircumstanceCounts> RuleStats::circumstances() const {
  std::vector<CircumstanceCounts> counts;
  for (std::uint32_t place = 0; place < kPlaces; ++place) {
    if (const Steps& steps = circumstances_[place]; steps.failed > 0) {
      counts.push_back({.place = place, .passed = steps.passed, .failed = steps.failed});
    }
  }
  return counts;
}

void RuleStats::restore(const std::vector<RuleRiskCounts>& risk, std::span<const CircumstanceCounts> circumstances) {
  ORDEAL_CHECK(risk.empty() || risk.size() == rows_.size(), risk.size() << " counts for " << rows_.size() << " rules");
  for (std::size_t rule = 0; rule < risk.size(); ++rule) {
    rows_[rule].risk = risk[rule];
  }
  for (const CircumstanceCounts& each : circumstances) {
    ORDEAL_CHECK(each.place < kPlaces && each.failed > 0, "place " << each.place << " failed " << each.failed);
    circumstances_[each.place] = {.passed = each.passed, .failed = each.failed};
  }
}

}  // namespace ordeal
