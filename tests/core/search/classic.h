// The classic policy for the tests that count on fixed shares of each kind of run.
#pragma once

#include "core/search/session_options.h"

namespace ordeal {

inline SessionOptions classic(SessionOptions options = {}) {
  options.policy = SwarmPolicy::kClassic;
  return options;
}

}  // namespace ordeal
