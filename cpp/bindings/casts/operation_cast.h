// How Python describes a rule's weight: a tuple of base weight, cap, and whether it is always on.
#pragma once

#include <cstdint>
#include <tuple>
#include <vector>

#include "core/swarm/rule_weights.h"

namespace ordeal::bindings {

using OperationFields = std::tuple<std::uint32_t, std::uint32_t, bool>;

inline std::vector<Operation> to_operations(const std::vector<OperationFields>& fields) {
  std::vector<Operation> operations;
  operations.reserve(fields.size());
  for (const auto& [base, cap, always_on] : fields) {
    operations.push_back({.base = base, .cap = cap, .always_on = always_on});
  }
  return operations;
}

}  // namespace ordeal::bindings
