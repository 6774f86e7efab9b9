// What one drawn value costs, by kind and by range.
#include "core/draw/distributions.h"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>

namespace ordeal {
namespace {

constexpr std::size_t kAnySize = 10'000'000'000;
constexpr std::uint32_t kUnicode = 1'112'064;

void draw_integer_below(benchmark::State& state) {
  Rng rng(1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(draw_integer(rng, 0, state.range(0), 0));
  }
}
BENCHMARK(draw_integer_below)->Arg(100)->Arg(1000)->Arg(1'000'000)->Arg(std::numeric_limits<std::int64_t>::max());

void draw_integer_unbounded(benchmark::State& state) {
  Rng rng(1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(draw_unbounded_integer(rng, std::nullopt, std::nullopt, 0));
  }
}
BENCHMARK(draw_integer_unbounded);

void draw_real_between(benchmark::State& state) {
  const double high =
      state.range(0) == 0 ? std::numeric_limits<double>::infinity() : static_cast<double>(state.range(0));
  Rng rng(1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(draw_real(rng, -high, high, true, std::numeric_limits<double>::denorm_min()));
  }
}
BENCHMARK(draw_real_between)->ArgName("high_or_infinity")->Arg(1000)->Arg(0);

void draw_size_up_to(benchmark::State& state) {
  const auto high = static_cast<std::size_t>(state.range(0));
  const double average = average_size(0, high);
  Rng rng(1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(draw_size(rng, 0, high, average));
  }
}
BENCHMARK(draw_size_up_to)->Arg(10)->Arg(100)->Arg(kAnySize);

void draw_letter(benchmark::State& state) {
  Rng rng(1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(draw_alphabet_index(rng, kUnicode));
  }
}
BENCHMARK(draw_letter);

void draw_bytes_of_any_size(benchmark::State& state) {
  Rng rng(1);
  for (auto _ : state) {
    benchmark::DoNotOptimize(draw_bytes(rng, 0, kAnySize));
  }
}
BENCHMARK(draw_bytes_of_any_size);

}  // namespace
}  // namespace ordeal
