// A session with a coverage map, for the tests of sessions: runs of steps that each draw an integer.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "core/search/session.h"

namespace ordeal {

struct Bench {
  std::shared_ptr<CoverageMap> coverage = std::make_shared<CoverageMap>(64);
  Session session;

  // Under the classic policy, where the test does not say another.
  explicit Bench(MachineShape shape, SessionOptions options = {}, SwarmPolicy policy = SwarmPolicy::kClassic)
      : session(shape, under(policy, std::move(options)), coverage) {}

  static SessionOptions under(SwarmPolicy policy, SessionOptions options) {
    options.policy = policy;
    return options;
  }

  // Runs the step with one drawn integer; false at the end of the run.
  bool step(int draws = 1) {
    const NextStep next = session.next();
    if (next.kind == NextKind::kEnd) {
      return false;
    }
    if (next.kind == NextKind::kRule) {
      session.source().begin_argument(7);
      for (int i = 0; i < draws; ++i) {
        session.source().integer(0, 1'000'000, 0);
      }
    }
    session.done();
    return true;
  }

  Tape run(int draws = 1) {
    session.begin_run();
    finish(draws);
    return session.tape();
  }

  void finish(int draws = 1) {
    while (step(draws)) {
    }
    session.end_run();
  }

  // A run with a checkpoint after its first step; the run is left to its end.
  std::uint64_t keep_one() {
    session.begin_run();
    step();
    const KeepResult kept = session.keep();
    finish();
    return kept.id;
  }

  void mark(std::uint64_t key) { coverage->mark(coverage->add_edge(key)); }
};

// Rejects all rules of one step; the order in which they were offered.
inline std::vector<std::uint32_t> reject_all(Session& session) {
  std::vector<std::uint32_t> offered;
  for (NextStep next = session.next(); next.kind != NextKind::kStuck; next = session.next()) {
    EXPECT_EQ(next.kind, NextKind::kRule);
    offered.push_back(next.target);
    session.reject();
  }
  return offered;
}

}  // namespace ordeal
