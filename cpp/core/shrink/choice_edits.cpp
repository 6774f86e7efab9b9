#include "core/shrink/choice_edits.h"

#include <algorithm>
#include <utility>

#include "core/base/rng.h"

namespace ordeal {

std::vector<Place> places_of(const Tape& tape) {
  std::vector<Place> places;
  places.reserve(tape.choice_count());
  for (std::size_t step = 0; step < tape.size(); ++step) {
    for (std::size_t argument = tape.step(step).arguments_begin; argument < tape.step(step).arguments_end; ++argument) {
      for (std::size_t number = 0; number < tape.choices(tape.arguments()[argument]).size(); ++number) {
        places.push_back({step, argument, number});
      }
    }
  }
  return places;
}

bool is_reference(const TapeArgument& argument) noexcept { return argument.producer != TapeArgument::kNoProducer; }

std::uint64_t hash_of(const Choice& choice) {
  return hash_bytes(choice.blob(),
                    mix64(static_cast<std::uint64_t>(choice.number)) ^ static_cast<std::uint64_t>(choice.kind));
}

std::uint64_t hash_of_place(const Tape& tape, const Place& place) {
  const std::uint64_t h = mix64(tape.step(place.step).origin) ^ tape.arguments()[place.argument].name;
  return mix64(mix64(h) ^ place.number);
}

Tape with_choice(const Tape& tape, std::size_t index, Choice choice) {
  Tape changed = tape;
  changed.replace_choice(index, std::move(choice));
  return changed;
}

Tape without_choices(const Tape& tape, std::size_t begin, std::size_t end) {
  std::vector<bool> keep(tape.choice_count(), true);
  std::fill(keep.begin() + static_cast<std::ptrdiff_t>(begin), keep.begin() + static_cast<std::ptrdiff_t>(end), false);
  return tape.subset_of_choices(keep);
}

bool is_open_integer(const Failing& current, std::size_t index) {
  const Choice& choice = current.choice(index);
  return choice.kind == ChoiceKind::kInteger && !choice.is_big() && !current.is_simplest(index);
}

std::uint64_t room_of(std::int64_t value, bool up, const Domain& domain) noexcept {
  if (up ? value >= domain.high : value <= domain.low) {
    return 0;
  }
  return up ? static_cast<std::uint64_t>(domain.high) - static_cast<std::uint64_t>(value)
            : static_cast<std::uint64_t>(value) - static_cast<std::uint64_t>(domain.low);
}

}  // namespace ordeal
