// Puts functions of a simulation in the place of real ones, and back: a machine does both in every rule, for a hundred
// and more places.
#pragma once

#include "bindings/bindings.h"

namespace ordeal::bindings {

// `places` has tuples of what owns a name, the name, what the owner holds by names, and the replacement. Stores the
// replacements, and returns what was there before. Throws the error of Python where a name is gone; then the caller
// restores what has been replaced.
py::list replace_at(const py::list& places);

// Puts back `originals`, as far as the replacements are still in their places; returns the numbers of the others.
py::list restore_at(const py::list& places, const py::list& originals);

}  // namespace ordeal::bindings
