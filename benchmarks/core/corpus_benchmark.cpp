// What a pick, an update and an eviction cost in a small and in a very large corpus.
#include "core/corpus/corpus.h"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace ordeal {
namespace {

constexpr std::int64_t kSmall = 256;
constexpr std::int64_t kLarge = 100'000;

Checkpoint checkpoint(std::uint64_t id, Rng& rng) {
  Checkpoint result;
  result.id = id;
  result.energy = kEnergyInitial + static_cast<double>(rng.below(100));
  return result;
}

Corpus full_corpus(std::int64_t size, CheckpointStrategy strategy, Rng& rng) {
  const auto count = static_cast<std::size_t>(size);
  Corpus corpus(count, strategy);
  for (std::uint64_t id = 0; id < count; ++id) {
    corpus.add(checkpoint(id, rng), rng);
  }
  return corpus;
}

void corpus_pick(benchmark::State& state, CheckpointStrategy strategy) {
  Rng rng(1);
  Corpus corpus = full_corpus(state.range(0), strategy, rng);
  for (auto _ : state) {
    benchmark::DoNotOptimize(corpus.pick(rng));
  }
}
BENCHMARK_CAPTURE(corpus_pick, energy, CheckpointStrategy::kEnergy)->Arg(kSmall)->Arg(kLarge);
BENCHMARK_CAPTURE(corpus_pick, uniform, CheckpointStrategy::kUniform)->Arg(kSmall)->Arg(kLarge);
BENCHMARK_CAPTURE(corpus_pick, recent, CheckpointStrategy::kRecent)->Arg(kSmall)->Arg(kLarge);

void corpus_reward(benchmark::State& state) {
  Rng rng(1);
  Corpus corpus = full_corpus(state.range(0), CheckpointStrategy::kEnergy, rng);
  const auto size = static_cast<std::uint64_t>(state.range(0));
  for (auto _ : state) {
    const std::uint64_t id = rng.below(size);
    corpus.reward(id, 1);
    corpus.decay(id);
  }
}
BENCHMARK(corpus_reward)->Arg(kSmall)->Arg(kLarge);

void corpus_add_and_evict(benchmark::State& state, CheckpointStrategy strategy) {
  Rng rng(1);
  Corpus corpus = full_corpus(state.range(0), strategy, rng);
  auto id = static_cast<std::uint64_t>(state.range(0));
  for (auto _ : state) {
    benchmark::DoNotOptimize(corpus.add(checkpoint(id++, rng), rng));
  }
}
BENCHMARK_CAPTURE(corpus_add_and_evict, energy, CheckpointStrategy::kEnergy)->Arg(kSmall)->Arg(kLarge);
BENCHMARK_CAPTURE(corpus_add_and_evict, uniform, CheckpointStrategy::kUniform)->Arg(kSmall)->Arg(kLarge);

}  // namespace
}  // namespace ordeal
