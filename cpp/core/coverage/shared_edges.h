// The edges seen by the processes of one machine, in memory that all of them share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ordeal {

// A set of exact 64-bit keys: two edges never count as one, as they do where a byte stands for a hash [AFL "bitmap"].
// No locks: a key is written in one store, so each process may write and read at any time.
//
// Zeroed memory is an empty set, and any other content is a set as well: a faulty process may have written anything,
// but can only have added keys. keys() leaves out those in impossible places.
class SharedEdges {
 public:
  static constexpr std::size_t kDefaultBytes = 65536;
  static constexpr std::size_t kBytesMax = std::size_t{1} << 30U;
  static constexpr std::size_t kAlignment = 8;
  // An edge is kept in one of this many places, starting from its own. A set that is half full has room there.
  static constexpr std::size_t kProbes = 64;

  // The memory must outlive the set. Its size is rounded down to a power of two. ConfigError for a size below the
  // default or above the largest, and for a misaligned start.
  explicit SharedEdges(std::span<std::byte> memory);
  SharedEdges(const SharedEdges&) = delete;
  SharedEdges& operator=(const SharedEdges&) = delete;
  ~SharedEdges() = default;

  // Returns whether the set now holds the key. It does not if there was no room, and never holds 0 and 2^64 - 1.
  bool insert(std::uint64_t key) noexcept;
  // The place is never reused, so that keys behind it are still found.
  void erase(std::uint64_t key) noexcept;
  [[nodiscard]] bool holds(std::uint64_t key) const noexcept;
  // Sorted, each once.
  [[nodiscard]] std::vector<std::uint64_t> keys() const;
  // How many keys it has places for.
  [[nodiscard]] std::size_t capacity() const noexcept { return places_.size(); }

 private:
  static constexpr std::uint64_t kFree = 0;
  static constexpr std::uint64_t kErased = ~std::uint64_t{0};

  [[nodiscard]] std::size_t place(std::uint64_t key, std::size_t probe) const noexcept {
    return (static_cast<std::size_t>(key) + probe) & (places_.size() - 1);  // keys are well mixed: see edge.h
  }

  std::span<std::uint64_t> places_;
};

}  // namespace ordeal
