// What the passes over choices share: where a choice is, and tapes with one changed or some gone.
//
// Functions of their arguments alone, for any thread. Those that return a tape copy it: O(choices).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/shrink/failing_tape.h"
#include "core/tape/choice.h"
#include "core/tape/tape.h"

namespace ordeal {

// Where a choice is; the indices count through the whole tape.
struct Place {
  std::size_t step;
  std::size_t argument;
  std::size_t number;  // in its argument
};

// Of every choice of the tape.
std::vector<Place> places_of(const Tape& tape);
bool is_reference(const TapeArgument& argument) noexcept;
// Whether the choice is an integer within int64 that could be simpler.
bool is_open_integer(const FailingTape& current, std::size_t index);
// How far an integer may go up or down in its constraint.
std::uint64_t room_of(std::int64_t value, bool up, const Constraint& constraint) noexcept;

std::uint64_t hash_of(const Choice& choice);
// The same for the place in what is left of the step when others around it go.
std::uint64_t hash_of_place(const Tape& tape, const Place& place);

Tape with_choice(const Tape& tape, std::size_t index, Choice choice);
// Without the choices in [begin, end).
Tape without_choices(const Tape& tape, std::size_t begin, std::size_t end);

}  // namespace ordeal
