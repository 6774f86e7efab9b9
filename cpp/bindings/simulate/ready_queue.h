// The callbacks that a simulated event loop has to run next: the part of the loop that each step goes through.
#pragma once

#include "bindings/bindings.h"

namespace ordeal::bindings {

// The base of a simulated loop: `call_soon`, and the turns in which its callbacks are run. Handles are those of
// asyncio.
py::object ready_queue_type();

// The base of what a loop knows of a task: what each of its steps reads.
py::object step_state_type();

}  // namespace ordeal::bindings
