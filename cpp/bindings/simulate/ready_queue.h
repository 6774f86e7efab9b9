// The callbacks that a simulated event loop has to run next: the part of the loop that each step goes through.
#pragma once

#include <cstdint>

#include "bindings/bindings.h"

namespace ordeal::bindings {

// What a ReadyQueue knows of Python's own loop. Set once, when the loop is imported.
struct LoopFacts {
  py::object handle_type;   // asyncio.Handle
  py::object timer_type;    // asyncio.TimerHandle
  py::object current_task;  // asyncio's, which takes the loop
  py::object heap_push;     // heapq's
  py::object loop_actor;    // the name of the loop in labels
  py::object nowhere;       // the context of what belongs to no node
  py::object step_type;     // of the callback that runs the first step of a task
  py::object stepped_task;  // called with any other callback: returns the task of which it runs a step, or None
  py::object life;          // the context variable that says in which life of a node code runs
  std::uint32_t stall = 0;  // the kind of the decision how long a step takes, and its site
  std::uint64_t step_site = 0;
  std::int64_t still_steps_max = 0;  // how many steps may pass while the time stands still
  std::int64_t steps_max = 0;
};

void set_loop_facts(LoopFacts facts);

// The base of a simulated loop: `call_soon`, and the turns in which its callbacks are run. Handles are those of
// asyncio.
py::object ready_queue_type();

// The base of what a loop knows of a task: what each of its steps reads.
py::object step_state_type();

}  // namespace ordeal::bindings
