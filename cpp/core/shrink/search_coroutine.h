// A search that asks one candidate at a time, written as a coroutine: it yields a candidate and gets a yes or a no.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <utility>

#include "core/base/check.h"

namespace ordeal {

// Loop: next() until it gives nothing; after each candidate, accept(). An unanswered candidate counts as a no.
// Thread-compatible. What the coroutine refers to must outlive it.
//
//   SearchCoroutine<int> smaller(int value) {
//     while (value > 0) {
//       const bool yes = co_yield value - 1;
//       ...
template <typename Candidate>
class [[nodiscard]] SearchCoroutine {
 public:
  struct Promise;
  using promise_type = Promise;  // the name that the language asks for
  using Handle = std::coroutine_handle<Promise>;

  // Gives the answer to the coroutine when it goes on.
  struct Verdict {
    Promise* promise;

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> /*asking*/) const noexcept {}
    [[nodiscard]] bool await_resume() const noexcept { return std::exchange(promise->accepted, false); }
  };

  struct Promise {
    std::optional<Candidate> candidate;
    bool accepted = false;
    std::exception_ptr error;

    SearchCoroutine get_return_object() noexcept { return SearchCoroutine(Handle::from_promise(*this)); }
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    Verdict yield_value(Candidate asked) {
      candidate = std::move(asked);
      return {this};
    }
    void return_void() noexcept {}
    void unhandled_exception() noexcept { error = std::current_exception(); }
  };

  SearchCoroutine(SearchCoroutine&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}
  SearchCoroutine& operator=(SearchCoroutine&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  SearchCoroutine(const SearchCoroutine&) = delete;
  SearchCoroutine& operator=(const SearchCoroutine&) = delete;
  ~SearchCoroutine() {
    if (handle_ != nullptr) {
      handle_.destroy();
    }
  }

  std::optional<Candidate> next() {
    if (handle_.done()) {
      return std::nullopt;
    }
    handle_.promise().candidate.reset();
    handle_.resume();
    if (handle_.promise().error != nullptr) {
      std::rethrow_exception(std::exchange(handle_.promise().error, nullptr));
    }
    return std::exchange(handle_.promise().candidate, std::nullopt);
  }

  void accept(bool accepted) noexcept { handle_.promise().accepted = accepted; }

 private:
  explicit SearchCoroutine(Handle handle) noexcept : handle_(handle) {}

  Handle handle_;
};

}  // namespace ordeal
