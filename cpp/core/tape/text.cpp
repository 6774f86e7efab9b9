#include "core/tape/text.h"

#include <cstddef>

#include "core/base/check.h"

namespace ordeal {
namespace {

// A character and its number of bytes.
struct Decoded {
  char32_t character;
  std::size_t size;
};

// Never fails: a byte that begins no character stands for itself, so any bytes become some text. Surrogates are
// accepted, because Python's strings can hold them.
Decoded decode_first(std::string_view utf8) {
  ORDEAL_DCHECK(!utf8.empty(), "no character in no bytes");
  const auto byte = [&](std::size_t i) { return static_cast<std::uint8_t>(utf8[i]); };
  const auto first = byte(0);
  std::size_t size = 1;
  if (first >= 0xF0 && first < 0xF8) {
    size = 4;
  } else if (first >= 0xE0) {
    size = 3;
  } else if (first >= 0xC0) {
    size = 2;
  }
  if (size == 1 || first >= 0xF8 || size > utf8.size()) {
    return {first, 1};
  }
  char32_t character = first & (0x7FU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0U) != 0x80U) {
      return {first, 1};
    }
    character = (character << 6U) | (byte(i) & 0x3FU);
  }
  return {character, size};
}

// Surrogates are written as three bytes, which is what Python calls surrogatepass.
void append_utf8(std::string& out, char32_t c) {
  const auto put = [&](std::uint32_t byte) { out.push_back(static_cast<char>(byte)); };
  if (c < 0x80) {
    put(c);
  } else if (c < 0x800) {
    put(0xC0U | (c >> 6U));
    put(0x80U | (c & 0x3FU));
  } else if (c < 0x10000) {
    put(0xE0U | (c >> 12U));
    put(0x80U | ((c >> 6U) & 0x3FU));
    put(0x80U | (c & 0x3FU));
  } else {
    put(0xF0U | (c >> 18U));
    put(0x80U | ((c >> 12U) & 0x3FU));
    put(0x80U | ((c >> 6U) & 0x3FU));
    put(0x80U | (c & 0x3FU));
  }
}

// The number of bytes of a character that begins with this one, 0 if none does.
std::size_t character_size(std::uint8_t first) noexcept {
  if (first < 0x80U) {
    return 1;
  }
  if (first >= 0xC2U && first < 0xE0U) {
    return 2;
  }
  if (first >= 0xE0U && first < 0xF0U) {
    return 3;
  }
  return first >= 0xF0U && first < 0xF5U ? 4 : 0;
}

}  // namespace

// Stricter than decoding: bytes from a file are text only in their canonical encoding. Surrogates are accepted.
bool is_text(std::string_view text) noexcept {
  const auto at = [&](std::size_t i) { return static_cast<std::uint8_t>(text[i]); };
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t size = character_size(at(i));
    if (size == 0 || i + size > text.size()) {
      return false;
    }
    for (std::size_t k = 1; k < size; ++k) {
      if ((at(i + k) & 0xC0U) != 0x80U) {
        return false;
      }
    }
    const bool is_too_long = (at(i) == 0xE0U && at(i + 1) < 0xA0U) || (at(i) == 0xF0U && at(i + 1) < 0x90U);
    const bool is_beyond_unicode = at(i) == 0xF4U && at(i + 1) >= 0x90U;
    if (is_too_long || is_beyond_unicode) {
      return false;
    }
    i += size;
  }
  return true;
}

// At most one character a byte, so that the reserve is enough.
std::u32string characters_of(std::string_view utf8) {
  std::u32string characters;
  characters.reserve(utf8.size());
  while (!utf8.empty()) {
    const Decoded decoded = decode_first(utf8);
    characters.push_back(decoded.character);
    utf8.remove_prefix(decoded.size);
  }
  return characters;
}

std::string utf8_of(std::u32string_view characters) {
  std::string utf8;
  utf8.reserve(characters.size());
  for (const char32_t c : characters) {
    append_utf8(utf8, c);
  }
  return utf8;
}

}  // namespace ordeal
