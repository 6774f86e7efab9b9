#include "core/search/rule_risk.h"

#include <algorithm>

#include "core/base/check.h"

namespace ordeal {
namespace {

// So many steps must fail before most of them are avoided: one failure says little about a rule.
constexpr double kFailuresFew = 2;
// A rule that fails no more often than this is proposed as ever: what it does when it passes may be needed, many times
// over, for what lies behind its failures.
constexpr double kShareMin = 0.5;

}  // namespace

// Up to a share of one half a rule is never avoided, and above it more and more often, but never always: what it needs
// to pass may come yet. Nothing is drawn for a rule that has not failed.
bool RuleRisk::avoids(std::uint32_t rule, Rng& rng) const noexcept {
  const RuleRiskCounts& counts = counts_[rule];
  if (counts.failed == 0) [[likely]] {
    return false;
  }
  const auto failed = static_cast<double>(counts.failed);
  const double share = failed / (failed + static_cast<double>(counts.passed) + kFailuresFew);
  return share > kShareMin && rng.chance(std::min((share - kShareMin) / (1 - kShareMin), kChanceMax));
}

void RuleRisk::restore(std::vector<RuleRiskCounts> counts) {
  ORDEAL_CHECK(counts.empty() || counts.size() == counts_.size(), counts.size()
                                                                      << " counts for " << counts_.size() << " rules");
  if (!counts.empty()) {
    counts_ = std::move(counts);
  }
}

}  // namespace ordeal
