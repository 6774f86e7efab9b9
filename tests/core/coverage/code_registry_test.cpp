// The registry of traced code objects.
#include "core/coverage/code_registry.h"

#include <gtest/gtest.h>

#include "core/base/check.h"

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

TEST(CodeRegistry, GivesDenseNumbers) {
  CodeRegistry registry;
  EXPECT_EQ(registry.find(0x1000), std::nullopt);
  EXPECT_EQ(registry.add(0x1000, 11), 0U);
  EXPECT_EQ(registry.add(0x2000, 22), 1U);
  EXPECT_EQ(registry.find(0x1000), 0U);
  EXPECT_EQ(registry.find(0x2000), 1U);
  EXPECT_EQ(registry.size(), 2U);
}

TEST(CodeRegistry, AddingTwiceChangesNothing) {
  CodeRegistry registry;
  EXPECT_EQ(registry.add(0x1000, 11), 0U);
  EXPECT_EQ(registry.add(0x1000, 11), 0U);
  EXPECT_EQ(registry.size(), 1U);
}

TEST(CodeRegistry, AReloadedCodeObjectSharesTheNumber) {
  CodeRegistry registry;
  registry.add(0x1000, 11);
  EXPECT_EQ(registry.add(0x3000, 11), 0U);
  EXPECT_EQ(registry.find(0x3000), 0U);
  EXPECT_EQ(registry.size(), 1U);
}

TEST(CodeRegistry, TheLastAnswerIsNotGivenForAnother) {
  CodeRegistry registry;
  registry.add(0x1000, 11);
  EXPECT_EQ(registry.find(0x1000), 0U);
  EXPECT_EQ(registry.find(0x1010), std::nullopt);
  EXPECT_EQ(registry.find(0x1000), 0U);
}

TEST(CodeRegistry, TheNullAddressIsNoCodeObject) {
  CodeRegistry registry;
  EXPECT_EQ(registry.find(1), std::nullopt);
  EXPECT_THROW(registry.add(0, 11), CheckFailure);
}

TEST(CodeRegistry, RefusesPastItsLimit) {
  CodeRegistry registry;
  for (std::uintptr_t identity = 1; identity <= CodeRegistry::kCodeObjectsMax; ++identity) {
    registry.add(identity, 11);
  }
  EXPECT_EQ(registry.add(CodeRegistry::kCodeObjectsMax + 1, 11), std::nullopt);
  EXPECT_EQ(registry.add(1, 11), 0U) << "a registered one is still found";
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
