// How much of the C stack is left to the calling thread.
#pragma once

#include <cstdint>

namespace ordeal::bindings {

// For recursion as deep as an object of the program. CPython counts calls, as if each were small and all threads had
// equal stacks, so a deep object would end the process, above all in a thread with a small stack.
//
// Belongs to the thread that made it, for the duration of one call.
class StackRoom {
 public:
  // Whether there is room for another call, and what it may call in turn. False well before the end: hooks of the
  // program continue from here.
  [[nodiscard]] bool is_left() {
    if (depth_ < kDepthFree) {
      return true;
    }
    if (end_ == kUnknown) {
      end_ = usable_end();
    }
    return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0)) > end_;
  }
  void enter() noexcept { ++depth_; }
  void leave() noexcept { --depth_; }

 private:
  // This many calls fit in any stack: finding its bounds takes longer than most copies.
  static constexpr int kDepthFree = 24;
  static constexpr std::uintptr_t kUnknown = UINTPTR_MAX;

  // The lowest address that may be in use; 0 where the system does not say.
  static std::uintptr_t usable_end() noexcept;

  std::uintptr_t end_ = kUnknown;
  int depth_ = 0;
};

}  // namespace ordeal::bindings
