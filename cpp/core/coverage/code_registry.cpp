// The half of the registry that runs once for each code object.
#include "core/coverage/code_registry.h"

#include "core/base/check.h"

namespace ordeal {

// The registry never forgets a key: numbers are in saved states and in the records of forks.
std::optional<std::uint32_t> CodeRegistry::add_key(std::uint64_t key) {
  if (const auto known = find_key(key)) {
    return known;
  }
  if (numbers_by_key_.size() >= kCodeObjectsMax) {
    return std::nullopt;
  }
  return numbers_by_key_.try_emplace(key, static_cast<std::uint32_t>(numbers_by_key_.size())).first->second;
}

// A new key takes its number first and gives it back if storing the identity throws: a number without a code object
// would be counted as one that never ran.
std::optional<std::uint32_t> CodeRegistry::add(std::uintptr_t identity, std::uint64_t key) {
  ORDEAL_CHECK(identity != 0, "key=" << key);
  if (const auto known = find(identity)) {
    return known;
  }
  if (numbers_.size() >= kCodeObjectsMax) {
    return std::nullopt;
  }
  const auto next = static_cast<std::uint32_t>(numbers_by_key_.size());
  const auto [by_key, is_new] = numbers_by_key_.try_emplace(key, next);
  const std::uint32_t number = by_key->second;
  try {
    numbers_.emplace(identity, number);
  } catch (...) {
    if (is_new) {
      numbers_by_key_.erase(key);
    }
    throw;
  }
  return number;
}

}  // namespace ordeal
