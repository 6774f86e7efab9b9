#include "core/schedule/schedule.h"

#include <algorithm>
#include <bit>

#include "core/base/check.h"
#include "core/base/rng.h"

namespace ordeal {
namespace {

constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15ULL;
// The rarest that a kind of decision is drawn, in powers of two.
constexpr std::uint64_t kRarest = 6;
constexpr unsigned kWord = 32;
// The factor by which rare events are made more frequent, and their largest share: three quarters.
constexpr std::uint64_t kEvenly = 16;
constexpr std::uint64_t kOftenest = 3ULL << (kWord - 2);
// Of more values than this, half of the draws take a small one: each doubling is as likely as the others.
constexpr std::uint32_t kMany = 32;
constexpr unsigned kHalfWordBits = 16;
constexpr std::uint64_t kHalfWord = (std::uint64_t{1} << kHalfWordBits) - 1;

// The same for the same label in every run and every process: what a decision is drawn and overridden by.
std::uint64_t label_hash(std::uint64_t place, std::uint32_t occurrence) noexcept {
  return mix64(place + (occurrence * kGolden));
}

}  // namespace

ScheduleRates draw_schedule_rates(std::uint64_t key, std::size_t kinds) {
  ScheduleRates rates(kinds, 0);
  if (key == 0) {
    return rates;
  }
  // Each kind has its own stream, so that a new kind changes the rates of no other.
  for (std::size_t kind = 0; kind < kinds; ++kind) {
    Rng rng = Rng::stream(key, "schedule rates", kind);
    if (rng.chance(0.5)) {
      rates[kind] = static_cast<std::uint32_t>((std::uint64_t{1} << (kWord - 1)) >> rng.below(kRarest));
    }
  }
  return rates;
}

std::uint64_t schedule_run_seed(std::uint64_t seed, std::uint64_t number) {
  return seed == 0 ? number : std::max(Rng::stream(seed, "schedule run", number).next(), std::uint64_t{1});
}

std::uint64_t schedule_key(std::uint64_t seed) {
  return seed == 0 ? 0 : std::max(Rng::stream(seed, "schedule").next(), std::uint64_t{1});
}

std::uint64_t Schedule::place_hash(std::uint32_t kind, std::uint64_t actor, std::uint64_t site) noexcept {
  return mix64(mix64(actor + kind) ^ site);
}

void Schedule::set(const DecisionLabel& label, std::uint32_t value) {
  overrides_[label_hash(place_hash(label.kind, label.actor, label.site), label.occurrence)] = value;
}

std::uint32_t Schedule::decide(std::uint32_t kind, std::uint64_t actor, std::uint64_t site, std::uint32_t bound) {
  const std::uint64_t place = place_hash(kind, actor, site);
  const std::uint32_t occurrence = occurrences_[place]++;
  const std::uint64_t label = label_hash(place, occurrence);
  return settle({.kind = kind, .occurrence = occurrence, .actor = actor, .site = site}, label, bound,
                drawn(kind, label, bound));
}

std::uint32_t Schedule::decide_evenly(std::uint32_t kind, std::uint64_t actor, std::uint64_t site,
                                      std::uint32_t bound) {
  const std::uint64_t place = place_hash(kind, actor, site);
  const std::uint32_t occurrence = occurrences_[place]++;
  const std::uint64_t label = label_hash(place, occurrence);
  return settle({.kind = kind, .occurrence = occurrence, .actor = actor, .site = site}, label, bound,
                drawn_evenly(kind, label, bound));
}

std::uint32_t Schedule::settle(const DecisionLabel& label, std::uint64_t label_hash, std::uint32_t bound,
                               std::uint32_t value) {
  ORDEAL_CHECK(bound > 0, "a decision of kind " << label.kind << " has no value");
  if (!overrides_.empty()) {
    // A value from another run, where there may have been more to choose from, is nothing special here.
    if (const auto found = overrides_.find(label_hash); found != overrides_.end()) {
      value = found->second < bound ? found->second : 0;
    }
  }
  ORDEAL_CHECK(value < bound, "a decision of kind " << label.kind << " is " << value << " of " << bound);
  if (value != 0 || keeps_all_) {
    decisions_.push_back({.label = label, .bound = bound, .value = value});
    moments_.push_back(made_);
  }
  ++made_;
  if (label.kind < rates_.size()) {
    // A decision with a single value was not open; counting it would make its kind look more frequent than it is.
    made_of_kinds_[label.kind] += bound > 1 ? 1U : 0U;
    struck_of_kinds_[label.kind] += value != 0 ? 1U : 0U;
  }
  if (value != 0) {
    event(label_hash ^ value);
    interleaving_.struck(place_hash(label.kind, label.actor, label.site), label.occurrence, value);
  }
  return value;
}

std::uint32_t Schedule::drawn(std::uint32_t kind, std::uint64_t label, std::uint32_t bound) const noexcept {
  if (bound == 1 || made_ < drawn_from_ || kind >= rates_.size() || rates_[kind] == 0) {
    return 0;
  }
  const std::uint64_t first = mix64(label ^ key_);
  if (static_cast<std::uint32_t>(first) >= rates_[kind]) {
    return 0;
  }
  // The upper and the lower half of one hash decide apart: whether it is the mildest value, and which other one it is.
  const std::uint64_t second = mix64(first);
  if (bound == 2 || (second & 1U) != 0) {
    return 1;
  }
  return 2 + static_cast<std::uint32_t>(((second >> kWord) * (bound - 2)) >> kWord);
}

std::uint32_t Schedule::drawn_evenly(std::uint32_t kind, std::uint64_t label, std::uint32_t bound) const noexcept {
  if (bound == 1 || made_ < drawn_from_ || kind >= rates_.size() || rates_[kind] == 0) {
    return 0;
  }
  const std::uint64_t first = mix64(label ^ key_);
  const std::uint64_t rate = std::min(std::uint64_t{rates_[kind]} * kEvenly, kOftenest);
  if (static_cast<std::uint32_t>(first) >= rate) {
    return 0;
  }
  const std::uint64_t second = mix64(first);
  std::uint64_t low = 1;
  std::uint64_t end = bound;
  if (bound > kMany && (second & 1U) != 0) {
    const auto doublings = static_cast<std::uint64_t>(std::bit_width(bound - 1));
    low <<= (((second & kHalfWord) >> 1U) * doublings) >> (kHalfWordBits - 1);
    end = std::min(end, low * 2);
  }
  return static_cast<std::uint32_t>(low + (((second >> kWord) * (end - low)) >> kWord));
}

void Schedule::event(std::uint64_t what) noexcept {
  event_hash_ = mix64(event_hash_ ^ what);
  ++events_;
}

}  // namespace ordeal
