// What a drawn and reported swarm configuration costs; the larger machine has a full history.
#include "core/swarm/swarm.h"

#include <benchmark/benchmark.h>

#include <cstddef>

namespace ordeal {
namespace {

void swarm_draw_and_report(benchmark::State& state) {
  const auto rules = static_cast<std::size_t>(state.range(0));
  Swarm swarm(rules, rules / 2);
  Rng rng(1);
  for (std::size_t i = 0; i < 8 * Swarm::kHistoryMax; ++i) {
    swarm.report(swarm.draw(rng), 0);
  }
  for (auto _ : state) {
    swarm.report(swarm.draw(rng), 0);
  }
  state.counters["history"] = static_cast<double>(swarm.counts().configurations);
}
BENCHMARK(swarm_draw_and_report)->ArgName("rules")->Arg(4)->Arg(40);

}  // namespace
}  // namespace ordeal
