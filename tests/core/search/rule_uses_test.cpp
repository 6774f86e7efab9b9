// What is counted of each rule, under each fault.
#include "core/search/rule_uses.h"

#include <gtest/gtest.h>

#include <vector>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

TEST(RuleUses, CountsAStepUnderEachFaultThatWasOn) {
  RuleUses uses(2, 2);
  uses.count(0, {false, false}, false);
  uses.count(1, {true, false}, false);
  uses.count(1, {true, true}, true);
  const std::vector<RuleUseCounts> expected{{.steps = 1, .failed = 0}, {}, {}, {}, {.steps = 2, .failed = 1},
                                            {.steps = 1, .failed = 1}};
  EXPECT_EQ(uses.columns(), 3U);
  EXPECT_EQ(uses.counts(), expected);
}

TEST(RuleUses, AMachineWithoutFaultsHasOneColumn) {
  RuleUses uses(1, 0);
  uses.count(0, {}, true);
  EXPECT_EQ(uses.counts(), (std::vector<RuleUseCounts>{{.steps = 1, .failed = 1}}));
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
