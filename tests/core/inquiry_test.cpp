// A coroutine that asks: it gets the answers, an unanswered question is a no, and what it throws comes out.
#include "core/inquiry.h"

#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <utility>
#include <vector>

namespace ordeal::ORDEAL_TEST_FILE {
namespace {

Inquiry<int> countdown(int value) {
  while (value > 0) {
    const bool yes = co_yield value - 1;
    value = yes ? value - 1 : 0;
  }
}

Inquiry<int> throwing() {
  const bool yes = co_yield 1;
  throw std::runtime_error(yes ? "yes" : "no");
}

TEST(Inquiry, GivesTheAnswersToTheCoroutine) {
  auto inquiry = countdown(5);
  std::vector<int> asked;
  while (const auto question = inquiry.next()) {
    asked.push_back(*question);
    inquiry.answer(*question > 2);
  }
  EXPECT_EQ(asked, (std::vector<int>{4, 3, 2}));
  EXPECT_FALSE(inquiry.next());
}

TEST(Inquiry, AnUnansweredQuestionIsANo) {
  auto inquiry = countdown(5);
  EXPECT_EQ(inquiry.next(), 4);
  inquiry.answer(true);
  EXPECT_EQ(inquiry.next(), 3);
  EXPECT_FALSE(inquiry.next());
}

TEST(Inquiry, MayBeLeftAndMoved) {
  auto inquiry = countdown(5);
  EXPECT_EQ(inquiry.next(), 4);
  auto moved = std::move(inquiry);
  moved.answer(true);
  EXPECT_EQ(moved.next(), 3);
  moved = countdown(2);
  EXPECT_EQ(moved.next(), 1);
}

TEST(Inquiry, WhatTheCoroutineThrowsComesOut) {
  auto inquiry = throwing();
  EXPECT_EQ(inquiry.next(), 1);
  inquiry.answer(true);
  EXPECT_THROW(inquiry.next(), std::runtime_error);
  EXPECT_FALSE(inquiry.next());
}

}  // namespace
}  // namespace ordeal::ORDEAL_TEST_FILE
