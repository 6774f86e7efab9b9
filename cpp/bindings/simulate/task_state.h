// What a simulated loop knows of a task, and tasks whose hash is their number: read and written without Python code.
#pragma once

#include "bindings/bindings.h"

namespace ordeal::bindings {

struct TaskState {
  PyObject_HEAD unsigned long long key;  // of the task in labels
  unsigned long long role;               // the same for all tasks of its name, if it is needed
  long long waits;                       // how often it was suspended
  PyObject* task;
  PyObject* name;
  PyObject* life;       // the life of a node that it belongs to
  PyObject* struck_at;  // where a fault cancelled it
  PyObject* owned;      // a list of the futures that were cancelled with it
  PyObject* met;        // the cancelled future for which it waited before its present step
  int aim;              // where it is to be cancelled during the present wait; 0 for nowhere
  char may_be_cancelled;
  char is_private;  // whether what the test called has made it for itself
  char strikes;     // how often a fault has cancelled it
  char struck_in_window;
};

inline TaskState& state_of(PyObject* record) noexcept { return *reinterpret_cast<TaskState*>(record); }

// The base of what a loop knows of a task.
py::object task_state_type();

// A base that gives objects the hash that is in their slot `number`.
py::object numbered_type();

// Sets the types that stand for tasks and for what is known of them; both have slots for it.
void set_task_types(py::object task_type, py::object record_type);
const py::object& task_type() noexcept;

// A task that has not begun, with its number.
py::object made_task(long long number);

// What is known of a task, if it is one of ours; otherwise, or if that is nothing, empty.
py::object known_record(PyObject* task);

// What is known of a new task, which refers to it from now on.
py::object made_record(py::object task, py::object name, unsigned long long key, py::object life);

// Lets a task and what is known of it be freed at once: they refer to each other.
void part(PyObject* record);

}  // namespace ordeal::bindings
