// Draws of strategies that turn up during a draw: by the `draw` of a composite, and by flatmap.
#pragma once

#include "bindings/compiled/compiled_strategy.h"

namespace ordeal::bindings {

// Compiled strategies are found by identity. A strategy that a body makes again each time is drawn through Hypothesis;
// one that is drawn again and again is compiled, up to kStrategiesMax of them in a process.
inline constexpr std::size_t kStrategiesMax = 1024;

// A new reference, or null with an exception. `depth` is how many spans of Hypothesis are open.
PyObject* draw_strategy(DrawContext& run, PyObject* strategy, int depth);

// The plan of a strategy that was drawn often enough, which counts this call; null while it has none, or where it would
// nest too deeply. The caller keeps it while it draws: a body may add strategies, and a strategy may go.
StrategyNodePtr node_of_known(PyObject* strategy, int depth);
// A new reference, or null with an exception.
PyObject* draw_node(DrawContext& run, const StrategyNode& node, int depth);

// The function `draw(strategy, label=None)` for a composite; it cannot be used after the run. Null with an exception.
PyObject* new_draw_function(DrawContext& run, int depth);

}  // namespace ordeal::bindings
