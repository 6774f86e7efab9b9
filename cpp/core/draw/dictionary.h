// Values worth drawing again: constants of the program, values it compared, and values that led to something new.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/rng.h"
#include "core/tape/choice.h"

namespace ordeal {

// Where a value comes from. Files depend on the order.
enum class DictionarySource : std::uint8_t {
  kConstant,    // written in the source of the program
  kOperand,     // the program compared it with something
  kProductive,  // a step that drew it brought something new
};

// A value and where it came from, for files.
struct DictionaryEntry {
  DictionarySource source = DictionarySource::kConstant;
  Choice value;

  friend bool operator==(const DictionaryEntry&, const DictionaryEntry&) = default;
};

// A value from here is a suggestion: the caller checks that it is within the bounds of its draw. Values drawn earlier
// in a run are not kept here: its tape has them.
class Dictionary {
 public:
  // For each kind. When there are more, the oldest value makes room; a new constant is left out instead.
  static constexpr std::size_t kConstantsMax = 4096;
  static constexpr std::size_t kRecentMax = 128;
  // Longer texts and bytes are not kept.
  static constexpr std::size_t kBlobBytesMax = 4096;

  // Values that are drawn often anyway (booleans, integers near zero, empty ones) are not kept. A known value becomes
  // the newest of its source. Returns false when the value is not kept or was known.
  bool add(DictionarySource source, Choice value);

  // A value of this kind: preferably a newer one, and one that was compared. Null when there is none. Valid until the
  // next add.
  const Choice* pick(Rng& rng, ChoiceKind kind) const;
  // A value in [low, high], or next to one; nothing when a few tries did not find one.
  std::optional<std::int64_t> pick_integer(Rng& rng, std::int64_t low, std::int64_t high) const;

  [[nodiscard]] bool empty() const noexcept;
  [[nodiscard]] std::size_t size(DictionarySource source, ChoiceKind kind) const noexcept;

  // All but the constants, oldest first.
  [[nodiscard]] std::vector<DictionaryEntry> save() const;

 private:
  static constexpr std::size_t kSources = 3;
  static constexpr std::size_t kKinds = 5;
  using Values = std::vector<Choice>;

  [[nodiscard]] const Values& at(DictionarySource source, ChoiceKind kind) const noexcept;
  Values& at(DictionarySource source, ChoiceKind kind) noexcept;

  // At most a few thousand values, in plain vectors: a draw takes one by its index, and only add() searches.
  std::array<std::array<Values, kSources>, kKinds> values_;
};

}  // namespace ordeal
