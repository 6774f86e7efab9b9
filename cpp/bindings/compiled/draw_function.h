// Draws of strategies that turn up while another is drawn: what a composite's `draw` does, and flatmap.
#pragma once

#include "bindings/compiled/compiled_strategy.h"

namespace ordeal::bindings {

// Compiled strategies for such strategies are found by identity. A strategy that a body makes anew each time is drawn
// through Hypothesis; the same one drawn again and again is compiled, up to kStrategiesMax of them in a process.
inline constexpr std::size_t kStrategiesMax = 1024;

// A new reference, or null with an exception. `depth` is how many spans of Hypothesis are open.
PyObject* draw_strategy(DrawContext& run, PyObject* strategy, int depth);

// The function `draw(strategy, label=None)` that a composite gets: it is of no use after the run. Null with an
// exception.
PyObject* new_draw_function(DrawContext& run, int depth);

}  // namespace ordeal::bindings
