#include "bindings/cpython/stack_room.h"

#include <algorithm>
#include <cstddef>

#ifdef __linux__
#include <pthread.h>
#endif

namespace ordeal::bindings {
namespace {

// The reserve: a quarter of the stack, but no more than any hook needs.
constexpr std::size_t kFreeMax = std::size_t{1} << 20U;
constexpr std::size_t kFreeMin = std::size_t{1} << 16U;

}  // namespace

// Read each time: the stack of the main thread is as large as its present limit.
std::uintptr_t StackRoom::usable_end() noexcept {
#ifdef __linux__
  pthread_attr_t attributes;
  if (pthread_getattr_np(pthread_self(), &attributes) != 0) {
    return 0;
  }
  void* lowest = nullptr;
  std::size_t size = 0;
  const int failed = pthread_attr_getstack(&attributes, &lowest, &size);
  pthread_attr_destroy(&attributes);
  return failed != 0 ? 0 : reinterpret_cast<std::uintptr_t>(lowest) + std::clamp(size / 4, kFreeMin, kFreeMax);
#else
  return 0;
#endif
}

}  // namespace ordeal::bindings
