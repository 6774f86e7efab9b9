#include "bindings/simulate/loop_timers.h"

#include <array>
#include <memory>
#include <utility>

#include "bindings/cpython/c_api.h"
#include "bindings/simulate/handles.h"
#include "bindings/simulate/loop_tasks.h"
#include "bindings/simulate/ready_queue.h"
#include "bindings/simulate/task_state.h"

namespace ordeal::bindings {
namespace {

// Interned once.
struct ClockNames {
  PyObject* clock = interned("clock");
  PyObject* reading = interned("reading");
  PyObject* moment = interned("moment");
};

const ClockNames& clock_names() {
  static const ClockNames* const kNames = std::make_unique<ClockNames>().release();
  return *kNames;
}

// Who runs now: the present task, or the loop.
py::object actor_of(PyObject* self) {
  const py::object task = running_task(self);
  if (!task) {
    return loop_facts().loop_actor;
  }
  return py::int_(state_of(record_of(self, task.ptr()).ptr()).key);
}

// The clock of the node in which code runs now; None where that of the world counts.
py::object present_clock(PyObject* self) {
  const py::object life = present_life(queue_of(self).world);
  return life.is_none() ? life : attribute(life.ptr(), clock_names().clock);
}

// What a clock shows, and when it shows that, in the time of the world.
py::object reading_of(PyObject* self, const py::object& clock) {
  const py::float_ now(queue_of(self).now);
  return clock.is_none() ? py::object(now) : called(clock.ptr(), clock_names().reading, now.ptr());
}

py::object moment_of(PyObject* reading, const py::object& clock) {
  return clock.is_none() ? borrowed(reading) : called(clock.ptr(), clock_names().moment, reading);
}

}  // namespace

py::object present_time(PyObject* loop) { return reading_of(loop, present_clock(loop)); }

py::object set_timer(PyObject* self, PyObject* moment, PyObject* when, PyObject* function, py::object arguments,
                     PyObject* context) {
  ReadyQueue& queue = queue_of(self);
  auto handle = made_handle(self, when, function, std::move(arguments), context, queue_of(self).is_debugged != 0);
  const py::object timer = py::make_tuple(borrowed(moment), ++queue.timers_set, handle, actor_of(self));
  const std::array<PyObject*, 2> given{queue.timers, timer.ptr()};
  owned(PyObject_Vectorcall(loop_facts().heap_push.ptr(), given.data(), given.size(), nullptr));
  return handle;
}

py::object timer_at(PyObject* loop, PyObject* when, PyObject* function, py::object arguments, PyObject* context) {
  return set_timer(loop, moment_of(when, present_clock(loop)).ptr(), when, function, std::move(arguments), context);
}

py::object timer_after(PyObject* loop, PyObject* delay, PyObject* function, py::object arguments, PyObject* context) {
  const py::object clock = present_clock(loop);
  const auto when = owned(PyNumber_Add(reading_of(loop, clock).ptr(), delay));
  return set_timer(loop, moment_of(when.ptr(), clock).ptr(), when.ptr(), function, std::move(arguments), context);
}

}  // namespace ordeal::bindings
