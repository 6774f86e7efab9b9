// How rules that fail become rarer.
#include "core/search/rule_risk.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <vector>

#include "core/base/check.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

double share_avoided(const RuleRisk& risk, std::uint32_t rule) {
  Rng rng(1);
  int avoided = 0;
  for (int i = 0; i < 10'000; ++i) {
    avoided += risk.avoids(rule, rng) ? 1 : 0;
  }
  return avoided / 10'000.0;
}

TEST(RuleRisk, ARuleThatNeverFailedIsNeverAvoidedAndDrawsNothing) {
  RuleRisk risk(2);
  risk.passed(0);
  risk.failed(1);
  Rng rng(1);
  EXPECT_FALSE(risk.avoids(0, rng));
  EXPECT_EQ(rng.state(), Rng(1).state());
  EXPECT_EQ(risk.counts()[0], RuleRiskCounts{}) << "nothing is counted before the first failure";
}

TEST(RuleRisk, ARuleOfWhichMostStepsFailedIsAvoidedTheMoreTheMoreOfThem) {
  RuleRisk risk(1);
  risk.failed(0);
  EXPECT_EQ(share_avoided(risk, 0), 0.0) << "one failure says little";
  for (int i = 0; i < 5; ++i) {
    risk.failed(0);
  }
  EXPECT_NEAR(share_avoided(risk, 0), 0.5, 0.02);
  for (int i = 0; i < 7; ++i) {
    risk.passed(0);
  }
  EXPECT_EQ(share_avoided(risk, 0), 0.0);
  for (int i = 0; i < 1'000; ++i) {
    risk.failed(0);
  }
  EXPECT_NEAR(share_avoided(risk, 0), RuleRisk::kChanceMax, 0.02);
}

TEST(RuleRisk, ContinuesFromSavedCounts) {
  RuleRisk risk(2);
  risk.restore({});
  EXPECT_EQ(risk.counts().size(), 2U) << "empty for none";
  const std::vector<RuleRiskCounts> counts{{.passed = 3, .failed = 1}, {}};
  risk.restore(counts);
  EXPECT_EQ(risk.counts(), counts);
  EXPECT_THROW(risk.restore({{}}), CheckFailure);
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
