// The edges that the processes of one machine have seen, in memory that all of them share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace ordeal {

// A set of exact 64-bit keys: two edges never count as one, as they do where a byte stands for a hash [AFL "bitmap"].
// No locks: a key is written whole, so each process may write and read at any time.
//
// Memory of zeros is an empty set, and any other content is a set as well: a process that went wrong may have written
// anything, but that can only have added keys. Those that stand where no process puts them are left out by keys().
class SharedEdges {
 public:
  static constexpr std::size_t kDefaultBytes = 65536;
  static constexpr std::size_t kBytesMax = std::size_t{1} << 30U;
  static constexpr std::size_t kAlignment = 8;
  // An edge is kept in one of this many places, from its own on. A set that is half full has room there.
  static constexpr std::size_t kProbes = 64;

  // The memory must outlive the set. Its size counts up to the next lower power of two. ConfigError for a size below
  // the default or above the largest, and when it does not begin at a multiple of the alignment.
  explicit SharedEdges(std::span<std::byte> memory);
  SharedEdges(const SharedEdges&) = delete;
  SharedEdges& operator=(const SharedEdges&) = delete;
  ~SharedEdges() = default;

  // Whether the set holds it now. It does not where there was no room, nor ever the keys 0 and 2^64 - 1.
  bool insert(std::uint64_t key) noexcept;
  // Its place is never used again, so that those behind it are found.
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
    return (static_cast<std::size_t>(key) + probe) & (places_.size() - 1);  // keys are mixed well: see edge.h
  }

  std::span<std::uint64_t> places_;
};

}  // namespace ordeal
