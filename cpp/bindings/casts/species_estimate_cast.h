// The estimate of what is left to find, as Python gets it.
#pragma once

#include <optional>

#include "bindings/bindings.h"
#include "core/coverage/species_estimate.h"

namespace ordeal::bindings {

inline py::object estimate_to_python(const std::optional<SpeciesEstimate>& found) {
  return found
             ? py::object(py::make_tuple(found->runs, found->seen, found->next_run, found->next_run_max, found->total))
             : py::none();
}

}  // namespace ordeal::bindings
