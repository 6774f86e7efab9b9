#include "core/corpus/power_schedule.h"

#include <cmath>

#include "core/base/check.h"

namespace ordeal {

// Draws one uniform number below the sum, and walks to where it falls.
std::size_t pick_weighted(Rng& rng, std::span<const double> weights) {
  double total = 0;
  for (const double weight : weights) {
    ORDEAL_DCHECK(weight >= 0, "weight=" << weight);
    total += weight;
  }
  ORDEAL_CHECK(total > 0 && std::isfinite(total), "total=" << total << " weights=" << weights.size());

  const double target = rng.unit() * total;
  double reached = 0;
  // The product may be rounded up to the total; then the last index with a weight is the answer.
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] > 0) {
      last = i;
      reached += weights[i];
      if (target < reached) {
        break;
      }
    }
  }
  return last;
}

}  // namespace ordeal
