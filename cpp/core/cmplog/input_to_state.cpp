#include "core/cmplog/input_to_state.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "core/base/check.h"
#include "core/tape/text.h"
#include "core/tape/wide_integer.h"

namespace ordeal {
namespace {

using WideUnsigned = unsigned __int128;

// How many occurrences of a part in a text are replaced, each in a separate edit.
constexpr std::size_t kOccurrencesMax = 4;
// An offset or a mask between a choice and an operand is guessed only within the same step.
constexpr Wide kOffsetMax = 1 << 16;
// Shorter numbers occur in any bytes by accident.
constexpr std::array<std::size_t, 4> kFieldBytes{8, 4, 2, 1};

// Texts and bytes are matched by their bytes, everything else by its number.
bool is_blob(const Choice& choice) noexcept {
  return choice.kind == ChoiceKind::kString || choice.kind == ChoiceKind::kBytes;
}

// Texts compare with bytes by their UTF-8.
Choice with_blob(const Choice& like, std::string blob) {
  // Content placed in a text must be valid text.
  return like.kind == ChoiceKind::kString ? Choice::text(utf8_of(characters_of(blob))) : Choice::bytes(std::move(blob));
}

// For comparing a float with an integer, as programs do.
std::optional<double> number_of(const Choice& choice) noexcept {
  if (choice.kind == ChoiceKind::kFloat) {
    return choice.as_real();
  }
  const auto wide = wide_of(choice);
  return wide ? std::optional(static_cast<double>(*wide)) : std::nullopt;
}

// As Python writes an int.
std::optional<std::string> decimal_of(const Choice& choice) {
  if (choice.kind != ChoiceKind::kInteger || choice.is_big()) {
    return std::nullopt;
  }
  return std::to_string(choice.number);
}

// As Python's int() reads one, without spaces and underscores.
std::optional<Choice> parsed(std::string_view text) {
  std::int64_t value = 0;
  const std::string digits(text);
  const char* const end = digits.data() + digits.size();
  const auto [rest, error] = std::from_chars(digits.data(), end, value);
  return error == std::errc() && rest == end ? std::optional(Choice::integer(value)) : std::nullopt;
}

// ASCII alone: programs mostly fold keywords.
std::string folded(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return lower;
}

// `value` in this many bytes, the lowest first. Nothing if it does not fit.
std::optional<std::string> field_of(Wide value, std::size_t bytes) {
  ORDEAL_DCHECK(bytes < sizeof(Wide), "bytes=" << bytes);
  const Wide limit = Wide{1} << (8 * bytes);
  if (value < -(limit / 2) || value >= limit) {
    return std::nullopt;
  }
  auto word = static_cast<WideUnsigned>(value);
  std::string field;
  for (std::size_t i = 0; i < bytes; ++i) {
    field.push_back(static_cast<char>(word & 0xFFU));
    word >>= 8U;
  }
  ORDEAL_DCHECK(field.size() == bytes, "a field of " << field.size() << " bytes in place of " << bytes);
  return field;
}

// `row` with the difference inserted or removed just before `place`, or after it if nothing is left before it.
template <typename Row>
Row resized_at(const Row& row, std::size_t place, std::size_t size, typename Row::value_type filler) {
  ORDEAL_DCHECK(place <= row.size(), "place=" << place << " size=" << row.size());
  Row result = row;
  if (size >= row.size()) {
    result.insert(place, size - row.size(), place == 0 ? filler : row[place - 1]);
    return result;
  }
  const std::size_t surplus = row.size() - size;
  result.erase(place - std::min(place, surplus), surplus);
  ORDEAL_DCHECK(result.size() == size, "size=" << result.size() << " in place of " << size);
  return result;
}

// Finds edits of one choice: `seen` is the compared value, `wanted` the required one.
class ChoiceMatch {
 public:
  ChoiceMatch(const Choice& choice, const Choice& seen, const Choice& wanted, std::vector<Choice>& out)
      : choice_(choice), seen_(seen), wanted_(wanted), out_(out) {}

  // The choice is the compared value.
  // Case may differ: the program may have folded the text before it compared.
  void whole() {
    if (is_blob(choice_) && is_blob(seen_) && is_blob(wanted_)) {
      if (choice_.blob() == seen_.blob() || folded(choice_.blob()) == folded(seen_.blob())) {
        add(with_blob(choice_, wanted_.blob()));
      }
      return;
    }
    const auto drawn = number_of(choice_);
    const auto seen = number_of(seen_);
    if (!drawn || !seen || *drawn != *seen || !number_of(wanted_) || wide_of_number(choice_) != wide_of_number(seen_)) {
      return;
    }
    if (choice_.kind == ChoiceKind::kFloat) {
      add(Choice::real(*number_of(wanted_)));
    } else if (const auto wanted = wide_of_number(wanted_)) {
      add(integer_choice(*wanted));
    }
  }

  // The choice is a part of the compared value, or the other way round.
  void part() {
    if (is_blob(choice_)) {
      part_of_blob();
    } else if (choice_.kind == ChoiceKind::kInteger) {
      part_of_integer();
    }
  }

  // The compared value may be an offset or a mask away from the choice.
  void guess() {
    const auto drawn = wide_of(choice_);
    const auto seen = wide_of(seen_);
    const auto wanted = wide_of(wanted_);
    if (!drawn || !seen || !wanted || !is_small(*drawn) || !is_small(*seen) || !is_small(*wanted)) {
      return;
    }
    const Wide offset = *seen - *drawn;
    if (-kOffsetMax <= offset && offset <= kOffsetMax) {
      add(integer_choice(*wanted - offset));
    }
    add(integer_choice(*drawn ^ *seen ^ *wanted));
    if (*drawn != 0 && *seen % *drawn == 0 && *seen != 0 && *wanted % (*seen / *drawn) == 0) {
      add(integer_choice(*wanted / (*seen / *drawn)));
    }
  }

 private:
  // Small enough for sums, differences and products not to overflow.
  static bool is_small(Wide value) noexcept { return value > -(Wide{1} << 100U) && value < (Wide{1} << 100U); }

  // A float that is a whole number counts as one.
  static std::optional<Wide> wide_of_number(const Choice& choice) noexcept {
    if (choice.kind != ChoiceKind::kFloat) {
      return wide_of(choice);
    }
    const double value = choice.as_real();
    constexpr double kExact = 0x1p63;
    if (!(std::abs(value) < kExact) || std::trunc(value) != value) {
      return std::nullopt;
    }
    return static_cast<Wide>(value);
  }

  // Neither the unchanged choice nor an edit twice.
  void add(Choice value) {
    if (value != choice_ && std::ranges::find(out_, value) == out_.end()) {
      out_.push_back(std::move(value));
    }
  }

  // One edit for each occurrence, not one for all: only one of them became the compared value.
  void replace_all(std::string_view part, std::string_view instead) {
    std::size_t found = part.empty() ? std::string::npos : choice_.blob().find(part);
    for (std::size_t i = 0; i < kOccurrencesMax && found != std::string::npos; ++i) {
      std::string blob = choice_.blob();
      blob.replace(found, part.size(), instead);
      add(with_blob(choice_, std::move(blob)));
      found = choice_.blob().find(part, found + 1);
    }
  }

  // A text in a text, a length, a number as text, a number as bytes.
  void part_of_blob() {
    if (is_blob(seen_) && is_blob(wanted_)) {
      replace_all(seen_.blob(), wanted_.blob());
      middle();
      return;
    }
    const auto seen = wide_of(seen_);
    const auto wanted = wide_of(wanted_);
    if (!seen || !wanted) {
      return;
    }
    resize(*seen, *wanted);
    if (const auto digits = decimal_of(seen_); digits && decimal_of(wanted_)) {
      replace_all(*digits, *decimal_of(wanted_));
    }
    if (choice_.kind == ChoiceKind::kBytes) {
      fields(*seen, *wanted);
    }
  }

  // The compared value is the choice with something before and after it.
  void middle() {
    const std::size_t at = choice_.blob().empty() ? std::string::npos : seen_.blob().find(choice_.blob());
    if (at == std::string::npos) {
      return;
    }
    const std::string_view wanted = wanted_.blob();
    ORDEAL_DCHECK(at + choice_.blob().size() <= seen_.blob().size(), "a part is longer than the whole");
    const std::string_view before = std::string_view(seen_.blob()).substr(0, at);
    const std::string_view after = std::string_view(seen_.blob()).substr(at + choice_.blob().size());
    if (wanted.size() >= before.size() + after.size() && wanted.starts_with(before) && wanted.ends_with(after)) {
      add(with_blob(choice_, std::string(wanted.substr(before.size(), wanted.size() - before.size() - after.size()))));
    }
  }

  // The compared value is the length of the choice. The new length is made at its end, and in its middle as well: both
  // ends may have been found just before.
  void resize(Wide seen, Wide wanted) {
    constexpr Wide kSizeMax = 4096;
    if (wanted < 0 || wanted > kSizeMax) {
      return;
    }
    const auto length = static_cast<std::size_t>(wanted);
    if (choice_.kind == ChoiceKind::kString) {
      const std::u32string row = characters_of(choice_.blob());
      if (const Wide size = row.size(); size == seen) {
        add(Choice::text(utf8_of(resized_at(row, row.size(), length, U'0'))));
        add(Choice::text(utf8_of(resized_at(row, row.size() / 2, length, U'0'))));
      }
    } else if (const Wide size = choice_.blob().size(); size == seen) {
      add(Choice::bytes(resized_at(choice_.blob(), choice_.blob().size(), length, '\0')));
      add(Choice::bytes(resized_at(choice_.blob(), choice_.blob().size() / 2, length, '\0')));
    }
  }

  // The compared value is a number that some bytes of the choice hold, in either byte order.
  void fields(Wide seen, Wide wanted) {
    for (const std::size_t bytes : kFieldBytes) {
      auto part = field_of(seen, bytes);
      auto instead = field_of(wanted, bytes);
      if (!part || !instead) {
        continue;
      }
      replace_all(*part, *instead);
      std::ranges::reverse(*part);
      std::ranges::reverse(*instead);
      replace_all(*part, *instead);
    }
  }

  // The compared value is some bytes of the number, or its text.
  void part_of_integer() {
    if (is_blob(seen_) && is_blob(wanted_)) {
      const auto digits = decimal_of(choice_);
      const auto value = parsed(wanted_.blob());
      if (digits && *digits == seen_.blob() && value) {
        add(*value);
      }
      return;
    }
    const auto drawn = wide_of(choice_);
    const auto seen = wide_of(seen_);
    const auto wanted = wide_of(wanted_);
    if (!drawn || !seen || !wanted || *drawn < 0 || *seen < 0 || *wanted < 0) {
      return;
    }
    for (const unsigned bits : {32U, 16U, 8U}) {
      const Wide mask = (Wide{1} << bits) - 1;
      for (unsigned shift = 0; shift < 64 && *seen <= mask && *wanted <= mask; shift += 8) {
        if (((*drawn >> shift) & mask) == *seen) {
          add(integer_choice((*drawn & ~(mask << shift)) | (*wanted << shift)));
        }
      }
    }
  }

  const Choice& choice_;
  const Choice& seen_;
  const Choice& wanted_;
  std::vector<Choice>& out_;
};

// The value that the seen side needs for the comparison to turn out otherwise.
std::vector<Choice> wanted_values(Relation relation, const Choice& seen, const Choice& other, bool seen_is_left) {
  std::vector<Choice> wanted{other};
  const auto number = wide_of(other);
  constexpr Wide kFar = Wide{1} << 100U;
  if (relation == Relation::kOrder && number && *number > -kFar && *number < kFar) {
    wanted.push_back(integer_choice(*number + 1));
    wanted.push_back(integer_choice(*number - 1));
  }
  if (!is_blob(seen) || !is_blob(other)) {
    return wanted;
  }
  const bool may_stay = other.blob().size() < seen.blob().size();
  if (relation == Relation::kPrefix && seen_is_left) {
    if (may_stay) {
      wanted.insert(wanted.begin(), with_blob(seen, other.blob() + seen.blob().substr(other.blob().size())));
    }
    wanted.push_back(with_blob(seen, other.blob() + seen.blob()));
  } else if (relation == (seen_is_left ? Relation::kSuffix : Relation::kInside)) {
    wanted.push_back(with_blob(seen, seen.blob() + other.blob()));
  }
  return wanted;
}

// One way to match a choice with the seen value.
using Pass = void (ChoiceMatch::*)();

// Goes through the choices drawn before the comparison, the newest first, as recent draws are more likely to be
// compared.
class EditSearch {
 public:
  EditSearch(const Tape& tape, const Comparison& comparison) : tape_(tape), comparison_(comparison) {
    const std::span<const TapeStep> steps = tape.steps();
    const std::size_t last = std::min(comparison.steps, steps.size());
    if (last > 0) {
      end_ = end_of(steps[last - 1]);
      begin_of_last_ = last > 1 ? end_of(steps[last - 2]) : 0;
      ORDEAL_DCHECK(begin_of_last_ <= end_, "the last step begins at " << begin_of_last_ << " and ends at " << end_);
    }
  }

  // Takes the most certain way that finds something; only a guess is combined with another way. The step that compared
  // comes first: a choice of an earlier one that is the same by chance must not hide what was computed in this one.
  std::vector<ChoiceEdit> edits() {
    run(&ChoiceMatch::whole, begin_of_last_, end_);
    bool is_whole = !edits_.empty();
    if (!is_whole) {
      run(&ChoiceMatch::part, begin_of_last_, end_);
    }
    const std::size_t found = edits_.size();
    run(&ChoiceMatch::whole, 0, begin_of_last_);
    is_whole |= edits_.size() > found;
    if (!is_whole) {
      run(&ChoiceMatch::part, 0, begin_of_last_);
      run(&ChoiceMatch::guess, begin_of_last_, end_);
    }
    return std::move(edits_);
  }

 private:
  [[nodiscard]] std::size_t end_of(const TapeStep& step) const {
    return step.arguments_end == 0 ? 0 : tape_.arguments()[step.arguments_end - 1].choices_end;
  }

  // Either side of the comparison may have been drawn.
  void run(Pass pass, std::size_t begin, std::size_t end) {
    ORDEAL_DCHECK(end <= tape_.choice_count(), "the comparison came after " << end << " choices");
    for (std::size_t index = end; index-- > begin && edits_.size() < kEditsMax;) {
      const Choice& choice = tape_.choices()[index];
      if (choice.kind == ChoiceKind::kBoolean) {
        continue;
      }
      std::vector<Choice> values;
      match(pass, choice, comparison_.left, comparison_.right, true, values);
      match(pass, choice, comparison_.right, comparison_.left, false, values);
      for (Choice& value : values) {
        if (edits_.size() < kEditsMax) {
          edits_.push_back({index, std::move(value)});
        }
      }
    }
  }

  void match(Pass pass, const Choice& choice, const Choice& seen, const Choice& other, bool seen_is_left,
             std::vector<Choice>& values) const {
    for (const Choice& wanted : wanted_values(comparison_.relation, seen, other, seen_is_left)) {
      (ChoiceMatch(choice, seen, wanted, values).*pass)();
    }
  }

  const Tape& tape_;
  const Comparison& comparison_;
  std::size_t end_ = 0;
  std::size_t begin_of_last_ = 0;
  std::vector<ChoiceEdit> edits_;
};

}  // namespace

std::vector<ChoiceEdit> edits_toward(const Tape& tape, const Comparison& comparison) {
  return EditSearch(tape, comparison).edits();
}

}  // namespace ordeal
