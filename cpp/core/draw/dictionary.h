// Values that are worth drawing again: constants of the program, what it compared, and what led to something new.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "core/base/rng.h"
#include "core/tape/choice.h"

namespace ordeal {

// Where a value comes from. The order is that of files.
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

// What a draw takes from here is a suggestion: whoever draws checks that it is within the bounds. The values drawn
// earlier in a run are not held here: its tape has them. Thread-compatible.
class Dictionary {
 public:
  // Of each kind. When there are more, the oldest value makes room; of constants, the new one is left out.
  static constexpr std::size_t kConstantsMax = 4096;
  static constexpr std::size_t kRecentMax = 128;
  // Longer texts and bytes are not kept.
  static constexpr std::size_t kBlobBytesMax = 4096;

  // What chance draws often anyway (booleans, integers near zero, nothing at all) is not kept. A value that is known
  // becomes the newest of its source. False when it is not kept or is known.
  bool add(DictionarySource source, Choice value);

  // A value of this kind: newer ones rather than older ones, and what was compared rather than the others. Nothing
  // when there is none. Valid until the next add.
  const Choice* pick(Rng& rng, ChoiceKind kind) const;
  // One in [low, high], or beside one; nothing when a few tries did not find one.
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

  // A few thousand values at most, in plain vectors: a draw takes one by its index, and only add() searches.
  std::array<std::array<Values, kSources>, kKinds> values_;
};

}  // namespace ordeal
