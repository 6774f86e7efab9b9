// The traced code objects: maps the identity of a code object to a small dense number.
#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <optional>

namespace ordeal {

// Only traced code objects are registered, and the registrar keeps them alive: the identity of a freed code object can
// be reused for another, so a remembered "ignored" would one day hide a traced one. Thread-compatible: the owner's lock
// (in Python, the GIL) guards every call.
class CodeRegistry {
 public:
  // No more code objects than this are registered (a target may be reloaded over and over).
  static constexpr std::size_t kCodeObjectsMax = std::size_t{1} << 20U;

  // The dense number of a registered code object. Caches the last answer, because loops ask for the same one again.
  [[nodiscard]] std::optional<std::uint32_t> find(std::uintptr_t identity) noexcept {
    if (identity == last_identity_) {
      return last_number_;
    }
    const auto found = numbers_.find(identity);
    if (found == numbers_.end()) {
      return std::nullopt;
    }
    last_identity_ = identity;
    last_number_ = found->second;
    return last_number_;
  }

  // The number of a key, if it has one.
  [[nodiscard]] std::optional<std::uint32_t> find_key(std::uint64_t key) const noexcept {
    const auto found = numbers_by_key_.find(key);
    return found == numbers_by_key_.end() ? std::nullopt : std::optional(found->second);
  }

  // Gives a key a number before any code object of it is registered. Returns nothing when the registry is full.
  std::optional<std::uint32_t> add_key(std::uint64_t key);

  // Registers a code object under its stable key. A second code object with the same key (of a reloaded module) shares
  // the number of the first. Returns nothing when the registry is full; then, or when it throws, no number was
  // assigned.
  std::optional<std::uint32_t> add(std::uintptr_t identity, std::uint64_t key);

  // How many numbers were assigned: they are 0 to size() - 1.
  [[nodiscard]] std::size_t size() const noexcept { return numbers_by_key_.size(); }

 private:
  tsl::robin_map<std::uintptr_t, std::uint32_t> numbers_;
  tsl::robin_map<std::uint64_t, std::uint32_t> numbers_by_key_;
  std::uintptr_t last_identity_ = 0;  // no code object has the null address
  std::uint32_t last_number_ = 0;
};

}  // namespace ordeal
