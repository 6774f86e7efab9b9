// Draws in the body of a rule, by `data().draw()`, from a strategy that has a plan.
#pragma once

#include "bindings/compiled/compiled_strategy.h"

namespace ordeal::bindings {

// A new reference, or null with an exception. NotImplemented, without a draw, where Hypothesis has to draw: `data` is
// not the data object of the run, or `strategy` has no plan, or not yet. `depth` is how many spans of Hypothesis are
// open.
PyObject* draw_in_body(DrawContext& run, PyObject* data, PyObject* strategy, int depth);

}  // namespace ordeal::bindings
