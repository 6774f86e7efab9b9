// What a pick by weight costs, by the number of operations.
#include "core/swarm/rule_weights.h"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <vector>

namespace ordeal {
namespace {

void op_pick(benchmark::State& state) {
  Rng rng(1);
  const std::vector<Operation> operations(static_cast<std::size_t>(state.range(0)));
  const RulePicker picker(draw_weights(rng, operations, std::vector<bool>(operations.size(), true)));
  std::uint64_t sum = 0;
  for (auto _ : state) {
    sum += picker.pick(rng);
  }
  benchmark::DoNotOptimize(sum);
}
BENCHMARK(op_pick)->ArgName("operations")->Arg(5)->Arg(50)->Arg(1000);

}  // namespace
}  // namespace ordeal
