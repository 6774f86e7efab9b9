// A session asks what the program compares, and follows tapes that turn a comparison.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/search/session.h"
#include "search/classic.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

constexpr std::int64_t kSecret = 0x1234'5678'9ABC;

SessionOptions options() { return classic({.seed = 7, .checkpoint_prob = 0.0, .steps_per_run = 5}); }

// One rule, which draws a number that is compared as a whole. Nothing it does brings an edge but the secret.
struct Vault {
  std::shared_ptr<CoverageMap> coverage = std::make_shared<CoverageMap>(64);
  Session session{{1, 0, 0}, options(), coverage};
  CoverageMap::Cell& edge = coverage->add_edge(1);

  // Whether the run met the secret.
  bool run() {
    bool open = false;
    session.begin_run();
    while (session.next().kind == NextKind::kRule) {
      session.source().begin_argument(1);
      if (session.source().integer(0, INT64_MAX, 0) == kSecret) {
        open = true;
        coverage->hit(edge);
      }
      session.done();
    }
    session.end_run();
    return open;
  }

  [[nodiscard]] std::vector<Comparison> comparisons() const {
    std::vector<Comparison> compared;
    const Tape& tape = session.tape_to_watch();
    for (std::size_t step = 0; step < tape.size(); ++step) {
      compared.push_back({step + 1, Relation::kEqual, tape.choices()[step], Choice::integer(kSecret)});
    }
    return compared;
  }
};

TEST(SessionValues, ASecretIsFoundByTurningAComparison) {
  Vault vault;
  std::optional<int> solved;
  for (int run = 1; run <= 100 && !solved; ++run) {
    if (vault.run()) {
      solved = run;
    }
    if (vault.session.wants_comparisons()) {
      vault.session.learn_comparisons(vault.comparisons());
    }
  }
  ASSERT_TRUE(solved);
  EXPECT_LT(*solved, 30);
}

TEST(SessionValues, WithoutWatchingNothingIsSolved) {
  Vault vault;
  for (int run = 1; run <= 1'000; ++run) {
    ASSERT_FALSE(vault.run());
  }
}

TEST(SessionValues, ConstantsAreDrawn) {
  Vault vault;
  vault.session.add_constant(Choice::integer(kSecret));
  bool open = false;
  for (int run = 1; run <= 100 && !open; ++run) {
    open = vault.run();
  }
  EXPECT_TRUE(open);
}

TEST(SessionValues, ASavedSessionGoesOnWithItsTapes) {
  Vault vault;
  vault.run();
  vault.session.learn_comparisons(vault.comparisons());
  Vault other;
  other.session.restore(vault.session.save());
  for (int run = 0; run < 20; ++run) {
    vault.run();
    other.run();
    ASSERT_EQ(vault.session.tape(), other.session.tape()) << run;
    ASSERT_EQ(vault.session.wants_comparisons(), other.session.wants_comparisons());
  }
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
