// What a journal costs the core: the records of a step, and of a prefix that a run goes on from.
#include "core/tape/journal.h"

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ordeal {
namespace {

constexpr std::size_t kWords = (std::size_t{1} << 20U) / sizeof(std::uint64_t);
constexpr std::uint32_t kSteps = 50;

// A step of a rule with an argument from a bundle, a number and a short text.
void write_step(Journal& journal, std::uint32_t number, const Choice& text) noexcept {
  journal.begin_step(StepKind::kRule, 3, number);
  journal.begin_argument(1);
  journal.set_producer(number);
  journal.add(Choice::integer(7));
  journal.begin_argument(2);
  journal.add(Choice::boolean(true));
  journal.add(Choice::real(0.5));
  journal.add(text);
  journal.add_decision(3, false);
}

void journal_run(benchmark::State& state) {
  std::vector<std::uint64_t> words(kWords);
  Journal journal(std::as_writable_bytes(std::span(words)));
  const Choice text = Choice::text("a short text");
  for (auto _ : state) {
    journal.begin_run();
    for (std::uint32_t i = 0; i < kSteps; ++i) {
      write_step(journal, i, text);
      journal.begin_step(StepKind::kRule, 4, i);
      journal.drop_step();
    }
    journal.enter(JournalStage::kTeardown);
    journal.end_run();
  }
  state.SetItemsProcessed(state.iterations() * kSteps);
}
BENCHMARK(journal_run);

void journal_prefix(benchmark::State& state) {
  std::vector<std::uint64_t> words(kWords);
  Journal journal(std::as_writable_bytes(std::span(words)));
  Tape prefix;
  for (std::uint32_t i = 0; i < kSteps; ++i) {
    prefix.begin_step(StepKind::kRule, 3, i);
    prefix.begin_argument(1);
    prefix.add(Choice::integer(7));
    prefix.begin_argument(2);
    prefix.add(Choice::text("a short text"));
  }
  for (auto _ : state) {
    journal.begin_run();
    journal.append(prefix);
  }
  state.SetItemsProcessed(state.iterations() * kSteps);
}
BENCHMARK(journal_prefix);

}  // namespace
}  // namespace ordeal
