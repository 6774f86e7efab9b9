// The timers of a simulated loop: in a node they follow its clock, which may go wrong.
#pragma once

#include "bindings/bindings.h"

namespace ordeal::bindings {

struct ReadyQueue;

// What the clock of the running code shows.
py::object present_time(PyObject* loop);

// Each returns the handle. `moment` is a time of the world, and `when` what the timer says that it is.
py::object set_timer(PyObject* self, PyObject* moment, PyObject* when, PyObject* function, py::object arguments,
                     PyObject* context);
py::object timer_at(PyObject* loop, PyObject* when, PyObject* function, py::object arguments, PyObject* context);
py::object timer_after(PyObject* loop, PyObject* delay, PyObject* function, py::object arguments, PyObject* context);

bool has_timers(const ReadyQueue& queue) noexcept;

// Makes the timers ready that are due; first, if no callback is, lets time pass until the next timer is.
void begin_turn(PyObject* loop);

}  // namespace ordeal::bindings
