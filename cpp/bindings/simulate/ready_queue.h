// The callbacks that a simulated event loop has to run next: the part of the loop that each step goes through.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "bindings/bindings.h"
#include "core/schedule/interleaving.h"
#include "core/schedule/schedule.h"

namespace ordeal::bindings {

// What the native methods of a simulated loop read and write.
struct ReadyQueue {
  PyObject_HEAD std::vector<PyObject*> handles;  // owned from `head` on
  std::size_t head;
  Schedule* decides;     // the schedule, if it is one of the core
  Interleaving* orders;  // else what notes in which order tasks go on, if anything does
  PyObject* schedule;
  PyObject* world;
  PyObject* log;
  PyObject* timers;
  PyObject* interruptions;
  PyObject* escaped;
  PyObject* stalled;
  PyObject* broken;
  PyObject* records;       // a list: what is known of each task, in the order in which they began
  PyObject* names;         // a dict: how many tasks have had each name
  PyObject* main;          // the task whose children are the clients
  PyObject* task_factory;  // the one of the program
  PyObject* long_waits;    // watches timers in the calm phase, if anything does
  long long steps;
  long long moved_at_step;
  long long timers_set;
  long long tasks_made;
  long long records_max;   // above this number, tasks that have ended are forgotten
  long long still_passes;  // how often in a row hardly any time has passed
  double now;              // the time of the world, in seconds
  double ends_at;          // when the run has taken too long, and when it is checked for a wait that cannot end
  double asks_orphans_at;
  unsigned int stall_bound;
  char is_closed;
  char is_running;
  char is_quiet;
  char is_stopping;
  char is_debugged;
  char has_cancels;    // whether a fault may cancel tasks
  char has_cancelled;  // whether any task was cancelled
  char has_main;       // whether the next task without a main one becomes it
};

// What Python code keeps there.
inline constexpr std::array kQueueObjects{&ReadyQueue::schedule,  &ReadyQueue::world,         &ReadyQueue::log,
                                          &ReadyQueue::timers,    &ReadyQueue::interruptions, &ReadyQueue::escaped,
                                          &ReadyQueue::stalled,   &ReadyQueue::broken,        &ReadyQueue::records,
                                          &ReadyQueue::names,     &ReadyQueue::main,          &ReadyQueue::task_factory,
                                          &ReadyQueue::long_waits};

inline ReadyQueue& queue_of(PyObject* self) noexcept { return *reinterpret_cast<ReadyQueue*>(self); }

// The base of a simulated loop: `call_soon`, timers and tasks, and the turns in which its callbacks are run. Handles
// are those of asyncio.
py::object ready_queue_type();

}  // namespace ordeal::bindings
