// A search that asks one question at a time, written as a coroutine: it yields a question and gets a yes or a no.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "core/base/check.h"

namespace ordeal {

// Loop: next() until it gives nothing; after each question, answer(). An unanswered question counts as a no.
// Thread-compatible. What the coroutine refers to must outlive it.
//
//   Inquiry<int> smaller(int value) {
//     while (value > 0) {
//       const bool yes = co_yield value - 1;
//       ...
template <typename Question>
class [[nodiscard]] Inquiry {
 public:
  struct Promise;
  using promise_type = Promise;  // the name that the language asks for
  using Handle = std::coroutine_handle<Promise>;

  // Gives the answer to the coroutine when it goes on.
  struct Asked {
    Promise* promise;

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> /*asking*/) const noexcept {}
    [[nodiscard]] bool await_resume() const noexcept { return std::exchange(promise->yes, false); }
  };

  struct Promise {
    std::optional<Question> question;
    bool yes = false;
    std::exception_ptr error;

    Inquiry get_return_object() noexcept { return Inquiry(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    Asked yield_value(Question asked) {
      question = std::move(asked);
      return {this};
    }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { error = std::current_exception(); }
  };

  Inquiry(Inquiry&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  Inquiry& operator=(Inquiry&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  Inquiry(const Inquiry&) = delete;
  Inquiry& operator=(const Inquiry&) = delete;
  ~Inquiry() {
    if (handle_ != nullptr) {
      handle_.destroy();
    }
  }

  std::optional<Question> next() {
    if (handle_.done()) {
      return std::nullopt;
    }
    handle_.promise().question.reset();
    handle_.resume();
    if (handle_.promise().error != nullptr) {
      std::rethrow_exception(std::exchange(handle_.promise().error, nullptr));
    }
    return std::exchange(handle_.promise().question, std::nullopt);
  }

  void answer(bool yes) noexcept { handle_.promise().yes = yes; }

 private:
  explicit Inquiry(Handle handle) noexcept : handle_(handle) {}

  Handle handle_;
};

}  // namespace ordeal
