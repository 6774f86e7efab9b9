// The tasks of a simulated loop: how they begin, what they are called in labels, and what is left of them at the end.
#pragma once

#include "bindings/bindings.h"

namespace ordeal::bindings {

// Starts a task as asyncio does. `arguments` are those of `create_task`; unusual ones are left to the Python
// code of the loop.
py::object created_task(PyObject* loop, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords);

// Notes a task that was made by other means, with the name that it was given, or None.
py::object new_record(PyObject* loop, PyObject* task, PyObject* given);

// What is known of a task, also of one that the program made directly.
py::object record_of(PyObject* loop, PyObject* task);

// The task that a callback steps; empty if it does something else.
py::object task_of(PyObject* callback);

// The task that runs now; empty for the loop itself.
py::object running_task(PyObject* loop);

// The tasks that have not ended and may still do so.
py::object waiting_tasks(PyObject* loop);

// The first task that ended with an error that was never retrieved; None if there is none.
py::object unhandled_task(PyObject* loop);

void part_all(PyObject* loop);

}  // namespace ordeal::bindings
