// Shared by the passes over choices: the position of a choice, and tapes with one choice changed or some removed.
//
// Pure functions, for any thread. Those that return a tape copy it: O(choices).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/shrink/failing_tape.h"
#include "core/tape/choice.h"
#include "core/tape/tape.h"

namespace ordeal {

// The position of a choice; the indices count through the whole tape.
struct Place {
  std::size_t step;
  std::size_t argument;
  std::size_t number;  // within its argument
};

// The positions of all choices of the tape.
std::vector<Place> places_of(const Tape& tape);
// The argument that holds the choice. O(log arguments).
const TapeArgument& argument_of(const Tape& tape, std::size_t index);
bool is_reference(const TapeArgument& argument) noexcept;
// Whether the choice is an integer within int64 that could be simpler.
bool is_open_integer(const FailingTape& current, std::size_t index);
// How far an integer may go up or down within its constraint.
std::uint64_t room_of(std::int64_t value, bool up, const Constraint& constraint) noexcept;

std::uint64_t hash_of(const Choice& choice);
// The same hash for the position of a choice after other choices of its step are removed.
std::uint64_t hash_of_place(const Tape& tape, const Place& place);

Tape with_choice(const Tape& tape, std::size_t index, Choice choice);
// Returns the tape without the choices in [begin, end).
Tape without_choices(const Tape& tape, std::size_t begin, std::size_t end);

}  // namespace ordeal
