// Reads Python source without a parser: the expressions of constants in it, and which lines are whose.
//
// A parser takes seconds for a large package; this reads it as fast as it can be copied. What it finds is compiled
// afterwards by the interpreter, which has the last word: in source that is not valid it may find anything.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ordeal {

// A function or a class, or what else holds an indented block ("if", "try"); and an import outside of these two,
// because a function compiles differently when the module imports a name.
struct SourceBlock {
  enum class Kind : std::uint8_t { kFunction, kClass, kOther, kImport };
  static constexpr std::uint32_t kNoParent = UINT32_MAX;

  Kind kind = Kind::kOther;
  std::string_view name;          // of a function or class
  std::uint32_t first = 0;        // line, counted from one; of the first decorator where there is one
  std::uint32_t header_last = 0;  // the line on which the header ends
  std::uint32_t last = 0;
  std::uint32_t indent = 0;          // characters before the header
  std::uint32_t parent = kNoParent;  // its index among the blocks
};

// Views into `source`, each text once and in order: numbers, texts and bytes, and what is computed from numbers alone.
// Texts for people are left out (docstrings, messages of exceptions, f-strings), and so are the names in __all__ and
// __slots__. O(n).
std::vector<std::string_view> constant_expressions(std::string_view source);

// All blocks, in the order of their first lines. Views into `source`. O(n).
std::vector<SourceBlock> source_blocks(std::string_view source);

}  // namespace ordeal
