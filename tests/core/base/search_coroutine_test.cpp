// A coroutine that asks: it gets the answers, an unanswered candidate is a no, and what it throws comes out.
#include "core/base/search_coroutine.h"

#include <gtest/gtest.h>

#include <stdexcept>
#include <utility>
#include <vector>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

SearchCoroutine<int> countdown(int value) {
  while (value > 0) {
    const bool accepted = co_yield value - 1;
    value = accepted ? value - 1 : 0;
  }
}

SearchCoroutine<int> throwing() {
  const bool accepted = co_yield 1;
  throw std::runtime_error(accepted ? "yes" : "no");
}

TEST(SearchCoroutine, GivesTheAnswersToTheCoroutine) {
  auto inquiry = countdown(5);
  std::vector<int> asked;
  while (const auto candidate = inquiry.next()) {
    asked.push_back(*candidate);
    inquiry.accept(*candidate > 2);
  }
  EXPECT_EQ(asked, (std::vector<int>{4, 3, 2}));
  EXPECT_FALSE(inquiry.next());
}

TEST(SearchCoroutine, ACandidateWithoutAVerdictIsRefused) {
  auto inquiry = countdown(5);
  EXPECT_EQ(inquiry.next(), 4);
  inquiry.accept(true);
  EXPECT_EQ(inquiry.next(), 3);
  EXPECT_FALSE(inquiry.next());
}

SearchCoroutine<int> two_countdowns() {
  co_await countdown(3);
  const bool accepted = co_yield 9;
  co_await each_of(countdown(accepted ? 3 : 2), [](int value) { return -value; });
}

TEST(SearchCoroutine, ProposesTheCandidatesOfOthersAndPassesThemTheVerdicts) {
  auto search = two_countdowns();
  std::vector<int> asked;
  while (const auto candidate = search.next()) {
    asked.push_back(*candidate);
    search.accept(*candidate != 1);
  }
  EXPECT_EQ(asked, (std::vector<int>{2, 1, 9, -2, -1, 0}));
}

TEST(SearchCoroutine, MayBeLeftAndMoved) {
  auto inquiry = countdown(5);
  EXPECT_EQ(inquiry.next(), 4);
  auto moved = std::move(inquiry);
  moved.accept(true);
  EXPECT_EQ(moved.next(), 3);
  moved = countdown(2);
  EXPECT_EQ(moved.next(), 1);
}

TEST(SearchCoroutine, WhatTheCoroutineThrowsComesOut) {
  auto inquiry = throwing();
  EXPECT_EQ(inquiry.next(), 1);
  inquiry.accept(true);
  EXPECT_THROW(inquiry.next(), std::runtime_error);
  EXPECT_FALSE(inquiry.next());
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
