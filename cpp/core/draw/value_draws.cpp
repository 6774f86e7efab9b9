#include "core/draw/value_draws.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>

#include "core/base/check.h"
#include "core/draw/distributions.h"
#include "core/draw/interesting_strings.h"
#include "core/draw/wide_distribution.h"
#include "core/tape/text.h"

namespace ordeal {
namespace {

// Whether every character is in the alphabet.
bool is_over(std::u32string_view characters, const Alphabet& alphabet) {
  return std::ranges::all_of(characters, [&](char32_t c) { return alphabet.contains(c); });
}

bool fits(std::size_t size, std::int64_t low, std::int64_t high) {
  return std::cmp_less_equal(low, size) && std::cmp_less_equal(size, high);
}

// Lengths count characters, not bytes, as Hypothesis does.
bool is_text_of(std::string_view utf8, const Alphabet& alphabet, std::int64_t low, std::int64_t high) {
  const std::u32string characters = characters_of(utf8);
  return fits(characters.size(), low, high) && is_over(characters, alphabet);
}

// A suggestion first, then sometimes a string that confuses programs, else random characters. A suggestion that does
// not fit is a misalignment: the search for values to keep must not believe that it was used.
std::string live_text(ChoiceSource& source, const Alphabet& alphabet, std::int64_t low, std::int64_t high) {
  const std::optional<Choice> suggested = source.recorded(ChoiceKind::kString);
  if (suggested) {
    if (is_text_of(suggested->blob(), alphabet, low, high)) {
      return suggested->blob();
    }
    source.misalign();
  }
  if (alphabet.size() == 0) {
    return {};
  }
  if (source.rng().below(kWordPeriod) == 0) {
    const std::string_view word = kInterestingStrings[source.rng().below(kInterestingStrings.size())];
    if (is_text_of(word, alphabet, low, high)) {
      return std::string(word);
    }
  }
  const auto least = static_cast<std::size_t>(low);
  const auto most = static_cast<std::size_t>(high);
  std::u32string drawn(draw_size(source.rng(), least, most, average_size(least, most)), U'\0');
  for (char32_t& character : drawn) {
    character = alphabet.at(draw_alphabet_index(source.rng(), alphabet.size()));
  }
  return utf8_of(drawn);
}

// The recorded text, as far as it fits: other characters become the simplest, then it is cut or padded.
std::string replayed_text(ChoiceSource& source, const std::shared_ptr<const Alphabet>& characters, std::int64_t low,
                          std::int64_t high) {
  const std::optional<Choice> recorded = source.recorded(ChoiceKind::kString);
  const Alphabet& alphabet = *characters;
  const bool is_empty = alphabet.size() == 0;
  const char32_t simplest = is_empty ? U'0' : alphabet.at(0);
  if (!is_empty) {
    source.note({.low = low, .high = high, .alphabet = characters});
  }
  const auto least = is_empty ? 0 : static_cast<std::size_t>(low);
  if (!recorded) {
    return utf8_of(std::u32string(least, simplest));
  }
  const std::u32string before = characters_of(recorded->blob());
  std::u32string now = before;
  std::ranges::replace_if(now, [&](char32_t c) { return !alphabet.contains(c); }, simplest);
  now.resize(is_empty ? 0 : std::max(least, std::min(now.size(), static_cast<std::size_t>(high))), simplest);
  if (now == before) {
    return recorded->blob();
  }
  source.misalign();
  return utf8_of(now);
}

// Cut or padded with zeros to an allowed length.
std::string replayed_bytes(ChoiceSource& source, std::int64_t low, std::int64_t high) {
  const std::optional<Choice> recorded = source.recorded(ChoiceKind::kBytes);
  source.note({low, high});
  const auto least = static_cast<std::size_t>(low);
  if (!recorded) {
    const std::string zeros(least, '\0');
    return zeros;
  }
  std::string bytes = recorded->blob();
  bytes.resize(std::max(least, std::min(bytes.size(), static_cast<std::size_t>(high))), '\0');
  if (bytes != recorded->blob()) {
    source.misalign();
  }
  return bytes;
}

// Like live_text(), but without special strings: no list of interesting bytes exists.
std::string live_bytes(ChoiceSource& source, std::int64_t low, std::int64_t high) {
  std::optional<Choice> suggested = source.recorded(ChoiceKind::kBytes);
  if (suggested) {
    if (fits(suggested->blob().size(), low, high)) {
      return suggested->blob();
    }
    source.misalign();
  }
  return draw_bytes(source.rng(), static_cast<std::size_t>(low), static_cast<std::size_t>(high));
}

// The sign of a big integer is its highest bit.
bool is_negative(const Choice& integer) {
  return integer.is_big() ? (static_cast<unsigned char>(integer.blob().back()) & 0x80U) != 0 : integer.number < 0;
}

// For an integer beyond 64 bits only the sign matters, because the bounds are within them.
bool is_inside(const Choice& integer, std::optional<std::int64_t> low, std::optional<std::int64_t> high) {
  if (integer.is_big()) {
    return is_negative(integer) ? !low : !high;
  }
  return (!low || *low <= integer.number) && (!high || integer.number <= *high);
}

// Either bound may be open, so a suggestion of any size may fit.
Choice live_integer(ChoiceSource& source, std::optional<std::int64_t> low, std::optional<std::int64_t> high,
                    std::int64_t toward) {
  std::optional<Choice> suggested = source.recorded(ChoiceKind::kInteger);
  if (suggested) {
    if (is_inside(*suggested, low, high)) {
      return *std::move(suggested);
    }
    source.misalign();
  }
  return draw_unbounded_integer(source.rng(), low, high, toward);
}

// An open bound is noted as the end of 64 bits: the shrinker then proposes small values, as it should.
Choice replayed_integer(ChoiceSource& source, std::optional<std::int64_t> low, std::optional<std::int64_t> high,
                        std::int64_t toward) {
  constexpr std::int64_t kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  const std::int64_t simplest = std::clamp(toward, low.value_or(kLeast), high.value_or(kMost));
  source.note({low.value_or(kLeast), high.value_or(kMost), simplest});
  std::optional<Choice> recorded = source.recorded(ChoiceKind::kInteger);
  if (!recorded) {
    return Choice::integer(simplest);
  }
  if (is_inside(*recorded, low, high)) {
    return *std::move(recorded);
  }
  source.misalign();
  const bool is_below = recorded->is_big() ? is_negative(*recorded) : low && recorded->number < *low;
  return Choice::integer(is_below ? *low : *high);
}

}  // namespace

std::string draw_text(ChoiceSource& source, const std::shared_ptr<const Alphabet>& alphabet, std::int64_t low,
                      std::int64_t high) {
  ORDEAL_CHECK(0 <= low && low <= high, "low=" << low << " high=" << high);
  std::string text =
      source.is_live() ? live_text(source, *alphabet, low, high) : replayed_text(source, alphabet, low, high);
  source.put(Choice::text(text));
  return text;
}

// Bounds beyond 64 bits are noted as the ends of these, for the same reason.
Choice draw_wide_integer(ChoiceSource& source, Wide low, Wide high, Wide toward) {
  constexpr Wide kLeast = std::numeric_limits<std::int64_t>::min();
  constexpr Wide kMost = std::numeric_limits<std::int64_t>::max();
  const Wide simplest = std::clamp(toward, low, high);
  const auto held = [&](Wide value) { return static_cast<std::int64_t>(std::clamp(value, kLeast, kMost)); };
  if (!source.is_live()) {
    source.note({held(low), held(high), held(simplest)});
  }
  const std::optional<Choice> recorded = source.recorded(ChoiceKind::kInteger);
  const std::optional<Wide> given = recorded ? wide_of(*recorded) : std::nullopt;
  const bool is_inside = given && low <= *given && *given <= high;
  if (recorded && !is_inside) {
    source.misalign();
  }
  Wide value = simplest;
  if (is_inside) {
    value = *given;
  } else if (source.is_live()) {
    value = draw_wide(source.rng(), low, high, toward);
  } else if (recorded) {
    // For integers of more than 128 bits only the sign is known.
    value = given ? std::clamp(*given, low, high) : (is_negative(*recorded) ? low : high);
  }
  Choice choice = integer_choice(value);
  source.put(choice);
  return choice;
}

std::string draw_bytes(ChoiceSource& source, std::int64_t low, std::int64_t high) {
  ORDEAL_CHECK(0 <= low && low <= high, "low=" << low << " high=" << high);
  std::string bytes = source.is_live() ? live_bytes(source, low, high) : replayed_bytes(source, low, high);
  source.put(Choice::bytes(bytes));
  return bytes;
}

Choice draw_open_integer(ChoiceSource& source, std::optional<std::int64_t> low, std::optional<std::int64_t> high,
                         std::int64_t toward) {
  ORDEAL_CHECK(!low || !high || *low <= *high, "low=" << *low << " high=" << *high);
  Choice value =
      source.is_live() ? live_integer(source, low, high, toward) : replayed_integer(source, low, high, toward);
  source.put(value);
  return value;
}

}  // namespace ordeal
