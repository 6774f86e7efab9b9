// Checks of invariants: a broken one is our bug, never the caller's.
//
// A check costs a comparison and a branch that is never taken. So there is one wherever a bug of ours would otherwise
// show far from its cause; hot paths use ORDEAL_DCHECK, which a release leaves out. Safe on any thread.
#pragma once

#include <sstream>
#include <stdexcept>
#include <string>

namespace ordeal {

// Thrown by ORDEAL_CHECK. It ends the session; the bindings turn it into an internal error with file and line.
class CheckFailure : public std::logic_error {
 public:
  using std::logic_error::logic_error;
};

namespace detail {

[[noreturn]] inline void check_failed(const char* file, int line, const char* condition, const std::string& detail) {
  std::ostringstream text;
  text << file << ":" << line << ": check failed: " << condition;
  if (!detail.empty()) {
    text << " (" << detail << ")";
  }
  throw CheckFailure(text.str());
}

}  // namespace detail
}  // namespace ordeal

// Never compiled out. The message is an ostream expression: ORDEAL_CHECK(a < b, "a=" << a << " b=" << b). It is
// composed in a separate function, because a function with a check would otherwise be too large to inline.
#define ORDEAL_CHECK(condition, message)                                                            \
  do {                                                                                              \
    if (!(condition)) [[unlikely]] {                                                                \
      [&]() __attribute__((cold, noinline)) {                                                       \
        std::ostringstream ordeal_check_text;                                                       \
        ordeal_check_text << message; /* NOLINT(bugprone-macro-parentheses): a stream expression */ \
        ::ordeal::detail::check_failed(__FILE__, __LINE__, #condition, ordeal_check_text.str());    \
      }();                                                                                          \
    }                                                                                               \
  } while (false)

// For hot paths: only in debug and sanitizer builds.
#if defined(NDEBUG) && !defined(ORDEAL_DCHECKS)
#define ORDEAL_DCHECK(condition, message) \
  do {                                    \
  } while (false)
#else
#define ORDEAL_DCHECK(condition, message) ORDEAL_CHECK(condition, message)
#endif
