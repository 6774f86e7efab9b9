// Writes and reads the plain values of a binary file; every length is checked against what is left.
//
// Readers and writers are thread-compatible and cheap: a reader copies only what it returns.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/check.h"
#include "core/base/error.h"

namespace ordeal {

// Numbers take seven bits per byte, low bits first (LEB128): most numbers on a tape are small.
class ByteWriter {
 public:
  void byte(std::uint8_t value) { bytes_.push_back(static_cast<char>(value)); }

  void number(std::uint64_t value) {
    for (; value >= 0x80U; value >>= 7U) {
      byte(static_cast<std::uint8_t>(value | 0x80U));
    }
    byte(static_cast<std::uint8_t>(value));
  }

  // Zigzag-encoded, so that a small negative number is short as well.
  void integer(std::int64_t value) {
    const auto bits = static_cast<std::uint64_t>(value);
    number((bits << 1U) ^ (value < 0 ? UINT64_MAX : 0));
  }

  // Eight bytes, little endian: for values spread over all 64 bits.
  void word(std::uint64_t value) {
    for (unsigned shift = 0; shift < 64; shift += 8) {
      byte(static_cast<std::uint8_t>(value >> shift));
    }
  }

  void real(double value) { word(std::bit_cast<std::uint64_t>(value)); }

  void text(std::string_view value) {
    number(value.size());
    bytes_.append(value);
  }

  // The number of flags, then eight per byte, the first in the lowest bit.
  void flags(const std::vector<bool>& values) {
    number(values.size());
    std::uint8_t bits = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      bits = static_cast<std::uint8_t>(bits | (static_cast<unsigned>(values[i]) << (i % 8)));
      if (i % 8 == 7 || i + 1 == values.size()) {
        byte(std::exchange(bits, std::uint8_t{0}));
      }
    }
  }

  // Ends the writer; the caller owns the bytes.
  [[nodiscard]] std::string take() && noexcept { return std::move(bytes_); }

 private:
  std::string bytes_;
};

// Reads what a ByteWriter wrote. Throws TraceError for bytes that no ByteWriter wrote; results are within the requested
// range. `what` names the value in the error.
class ByteReader {
 public:
  // The bytes must outlive the reader.
  explicit ByteReader(std::string_view bytes) : left_(bytes) {}

  std::uint8_t byte(const char* what) {
    require(1, what);
    const auto value = static_cast<std::uint8_t>(left_.front());
    left_.remove_prefix(1);
    return value;
  }

  // Accepts only the shortest encoding of a number, so that equal values are equal bytes.
  std::uint64_t number(const char* what, std::uint64_t value_max = UINT64_MAX) {
    std::uint64_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
      const std::uint8_t next = byte(what);
      // The tenth byte has room for one bit, and a last byte of zero would be a second encoding of the same number.
      const bool is_last = next < 0x80U;
      if ((shift == 63 && next > 1) || (is_last && next == 0 && shift > 0)) {
        throw TraceError(std::string(what) + " is not a number");
      }
      value |= static_cast<std::uint64_t>(next & 0x7FU) << shift;
      if (is_last) {
        break;
      }
    }
    if (value > value_max) {
      throw TraceError(std::string(what) + " is " + std::to_string(value) + "; at most " + std::to_string(value_max) +
                       " is possible");
    }
    return value;
  }

  std::uint32_t number32(const char* what, std::uint32_t value_max = UINT32_MAX) {
    return static_cast<std::uint32_t>(number(what, value_max));
  }

  std::int64_t integer(const char* what) {
    const std::uint64_t folded = number(what);
    return static_cast<std::int64_t>((folded >> 1U) ^ ((folded & 1U) != 0 ? UINT64_MAX : 0));
  }

  std::uint64_t word(const char* what) {
    require(8, what);
    std::uint64_t value = 0;
    for (unsigned i = 0; i < 8; ++i) {
      value |= static_cast<std::uint64_t>(static_cast<std::uint8_t>(left_[i])) << (8 * i);
    }
    left_.remove_prefix(8);
    return value;
  }

  double real(const char* what) { return std::bit_cast<double>(word(what)); }

  // Returns a view into the bytes.
  std::string_view text(const char* what) {
    const std::size_t size = count(what, 1);
    const std::string_view value = left_.substr(0, size);
    left_.remove_prefix(size);
    return value;
  }

  // How many items follow, each of at least `item_size_min` bytes. Throws when fewer bytes are left.
  std::size_t count(const char* what, std::size_t item_size_min) {
    ORDEAL_DCHECK(item_size_min > 0, what << " would take no bytes");
    const std::uint64_t items = number(what);
    if (items > left_.size() / item_size_min) {
      throw TraceError(std::string(what) + " claims " + std::to_string(items) + " items in the last " +
                       std::to_string(left_.size()) + " bytes");
    }
    return static_cast<std::size_t>(items);
  }

  // Reads that many items, at most `items_max`, each with `read`. Memory grows as they are read: an item takes more
  // memory than bytes, and most false counts are refused at the first item.
  template <typename Item, typename Read>
  std::vector<Item> items(const char* what, std::size_t item_size_min, std::size_t items_max, Read read) {
    const std::size_t size = count(what, item_size_min);
    if (size > items_max) {
      throw TraceError(std::string(what) + " are " + std::to_string(size) + "; at most " + std::to_string(items_max) +
                       " are possible");
    }
    std::vector<Item> items;
    items.reserve(std::min(size, kItemsReserved));
    for (std::size_t i = 0; i < size; ++i) {
      items.push_back(read());
    }
    return items;
  }

  // Eight in a byte, the first in the lowest bit.
  std::vector<bool> flags(const char* what, std::size_t size) {
    if (number(what) != size) {
      throw TraceError(std::string(what) + " are not " + std::to_string(size));
    }
    require((size + 7) / 8, what);
    std::vector<bool> values(size);
    for (std::size_t i = 0; i < size; ++i) {
      values[i] = ((static_cast<unsigned>(static_cast<std::uint8_t>(left_[i / 8])) >> (i % 8)) & 1U) != 0;
    }
    left_.remove_prefix((size + 7) / 8);
    return values;
  }

  // The last call of every reader: bytes left over are a sign of another format.
  void check_end() const {
    if (!left_.empty()) {
      throw TraceError(std::to_string(left_.size()) + " bytes follow the end");
    }
  }

 private:
  static constexpr std::size_t kItemsReserved = 64;

  // Before every read: the bytes are from a file, and nothing is known of them.
  void require(std::size_t size, const char* what) const {
    if (left_.size() < size) {
      throw TraceError("ends in the middle of " + std::string(what));
    }
  }

  std::string_view left_;
};

}  // namespace ordeal
