// Handles of asyncio, made and read without their Python code: what each callback of a simulated loop goes through.
#pragma once

#include <array>
#include <cstdint>

#include "bindings/bindings.h"

namespace ordeal::bindings {

// What a simulated loop knows of Python's own loop. Set once, when the loop is imported.
struct LoopFacts {
  py::object handle_type;   // asyncio.Handle
  py::object timer_type;    // asyncio.TimerHandle
  py::object current_task;  // asyncio's, which takes the loop
  py::object heap_push;     // heapq's
  py::object heap_pop;
  py::object loop_actor;    // the name of the loop in labels
  py::object nowhere;       // the context of what belongs to no node
  py::object step_type;     // of the callback that runs the first step of a task
  py::object stepped_task;  // called with any other callback: returns the task that it steps, or None
  py::object life;          // the context variable that says in which life of a node code runs
  py::object life_of;       // returns the life that a task belongs to
  py::object name_key;      // returns the number that stands for a text in labels
  py::object base_name;     // returns the name of a task: its own, or that of its function
  std::uint32_t stall = 0;  // the kind of the decision how long a step takes, and its site
  std::uint64_t step_site = 0;
  std::uint32_t order = 0;  // the kind of the decision which of several comes first, and its site for timers
  std::uint64_t timer_site = 0;
  std::int64_t still_steps_max = 0;  // how many steps may pass while the time stands still
  std::int64_t steps_max = 0;
  double tie_s = 0;    // deadlines that differ by less fall due together
  double creep_s = 0;  // what passes for no time at all
};

// The slots of asyncio.Handle that are filled and read without its Python code.
enum HandleField : std::uint8_t {
  kCallback,
  kArgs,
  kCancelled,
  kLoop,
  kTraceback,
  kRepr,
  kContext,
  kWhen,  // this and the next: of timers alone
  kScheduled,
  kFieldCount
};

struct KnownFacts : LoopFacts {
  std::array<Py_ssize_t, kFieldCount> offsets{};
  bool has_slots = false;  // whether all fields are slots; otherwise the Python code of asyncio is called
};

void set_loop_facts(LoopFacts given);
const KnownFacts& loop_facts() noexcept;

// A copy of a handle while it runs: a cancellation meanwhile empties the handle.
struct LoopCallback {
  py::object function;
  py::object arguments;
  py::object context;
};

py::object field_of(PyObject* handle, HandleField which);
bool is_cancelled(PyObject* handle);
py::object packed(PyObject* const* arguments, Py_ssize_t count);

// Makes a handle, or a timer if `when` is given, as their Python code does; `by_python` calls that code, which in debug
// mode does more.
py::object made_handle(PyObject* loop, PyObject* when, PyObject* function, py::object arguments, PyObject* context,
                       bool by_python);

// The life of a node in which code runs now; None where there is none, as in a run without a world.
py::object present_life(const PyObject* world);

inline bool is_set(const PyObject* object) noexcept { return object != nullptr && object != Py_None; }

}  // namespace ordeal::bindings
