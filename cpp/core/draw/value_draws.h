// Draws of texts, bytes and unbounded integers from a source: choices that are more than a number in a range.
//
// They draw from a ChoiceSource, and belong to its thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/draw/choice_source.h"
#include "core/tape/alphabet.h"
#include "core/tape/choice.h"
#include "core/tape/wide_integer.h"

namespace ordeal {

// Each uses the suggested or recorded value as far as it fits, else a fresh value (live) or the nearest that fits
// (replaying, which counts as a misalignment), and records it.

// UTF-8, of `low` to `high` characters; empty if the alphabet is. One fresh draw in kWordPeriod is one of
// kInterestingStrings, if that fits; the others have draw_size's length and draw_alphabet_index's characters.
inline constexpr std::uint64_t kWordPeriod = 16;
std::string draw_text(ChoiceSource& source, const std::shared_ptr<const Alphabet>& alphabet, std::int64_t low,
                      std::int64_t high);

std::string draw_bytes(ChoiceSource& source, std::int64_t low, std::int64_t high);

// In [low, high], with bounds at most kWideMax from zero.
Choice draw_wide_integer(ChoiceSource& source, Wide low, Wide high, Wide toward);

// A missing bound is open.
Choice draw_open_integer(ChoiceSource& source, std::optional<std::int64_t> low, std::optional<std::int64_t> high,
                         std::int64_t toward);

}  // namespace ordeal
