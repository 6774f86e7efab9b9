// A search for something simpler, written as a coroutine: it yields one candidate at a time and receives whether that
// was accepted.
#pragma once

#include <coroutine>
#include <exception>
#include <optional>
#include <type_traits>
#include <utility>

#include "core/base/check.h"

namespace ordeal {

// Loop: next() until it returns nothing; after each candidate, accept(whether it still fails). A candidate without a
// verdict counts as refused, so a caller may skip a known one. Thread-compatible. What the coroutine refers to must
// outlive it.
//
//   SearchCoroutine<int> smaller(int value) {
//     while (value > 0) {
//       const bool yes = co_yield value - 1;
//       ...
// A coroutine, because a search is a loop whose state is its position: written by hand, each pass would be a state
// machine with its loop variables as members. A search costs one allocation when it begins, and none for a candidate.
template <typename Candidate>
class [[nodiscard]] SearchCoroutine {
 public:
  struct Promise;
  using promise_type = Promise;  // the name that the language requires
  using Handle = std::coroutine_handle<Promise>;

  // What `co_yield` awaits: the verdict, when the coroutine continues.
  struct Verdict {
    Promise* promise;

    [[nodiscard]] bool await_ready() const noexcept { return false; }
    void await_suspend(std::coroutine_handle<> /*asking*/) const noexcept {}
    bool await_resume() noexcept { return std::exchange(promise->accepted, false); }
  };

  // Shared by the coroutine and its owner: carries the candidate one way and the verdict the other.
  struct Promise {
    std::optional<Candidate> candidate;
    bool accepted = false;
    SearchCoroutine* inner = nullptr;  // asked in place of the coroutine until it has no candidate
    std::exception_ptr error;

    SearchCoroutine get_return_object() noexcept { return SearchCoroutine(Handle::from_promise(*this)); }
    // Starts with the first next(), and stays suspended at its end so that done() can be called.
    std::suspend_always initial_suspend() noexcept { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    Verdict yield_value(Candidate asked) {
      candidate = std::move(asked);
      return {this};
    }
    // `co_await search` proposes all candidates of another search. A temporary lives until that is done.
    std::suspend_always await_transform(SearchCoroutine&& search) noexcept {
      inner = &search;
      return {};
    }
    void return_void() noexcept {}
    // Kept until the owner asks for the next candidate, which rethrows it.
    void unhandled_exception() noexcept { error = std::current_exception(); }
  };

  // Move-only: two owners of one coroutine would each resume it.
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

  // Runs the coroutine to its next candidate. Rethrows its exceptions.
  std::optional<Candidate> next() {
    ORDEAL_CHECK(handle_ != nullptr, "the search was moved from");
    Promise& promise = handle_.promise();
    while (!handle_.done()) {
      if (promise.inner != nullptr) {
        if (auto found = promise.inner->next()) {
          return found;
        }
        promise.inner = nullptr;
      }
      promise.candidate.reset();
      handle_.resume();
      if (promise.error != nullptr) {
        std::rethrow_exception(std::exchange(promise.error, nullptr));
      }
      if (promise.candidate) {
        return std::exchange(promise.candidate, std::nullopt);
      }
    }
    return std::nullopt;
  }

  // The verdict on the latest candidate.
  void accept(bool accepted) noexcept {
    ORDEAL_DCHECK(handle_ != nullptr && !handle_.done(), "no candidate waits for a verdict");
    Promise& promise = handle_.promise();
    if (promise.inner != nullptr) {
      promise.inner->accept(accepted);
    } else {
      promise.accepted = accepted;
    }
  }

 private:
  explicit SearchCoroutine(Handle handle) noexcept : handle_(handle) {}

  Handle handle_;
};

// Proposes what `make` makes of each candidate of another search.
template <typename From, typename Make>
SearchCoroutine<std::invoke_result_t<Make, From>> each_of(SearchCoroutine<From> search, Make make) {
  while (auto found = search.next()) {
    const bool accepted = co_yield make(*std::move(found));
    search.accept(accepted);
  }
}

}  // namespace ordeal
