// Caches that need no lock: the only one where a GIL lets one thread at a time use it, and one for each thread
// otherwise.
#pragma once

#include "bindings/bindings.h"

namespace ordeal::bindings {

// It is never freed, because what it holds of Python must not outlive the interpreter: few threads draw or copy.
template <typename Cache>
Cache& thread_cache() {
#ifdef Py_GIL_DISABLED
  static thread_local auto* const kCache = new Cache();
#else
  static auto* const kCache = new Cache();
#endif
  return *kCache;
}

}  // namespace ordeal::bindings
