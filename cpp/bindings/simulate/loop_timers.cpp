#include "bindings/simulate/loop_timers.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/cpython/c_api.h"
#include "bindings/simulate/handles.h"
#include "bindings/simulate/life_state.h"
#include "bindings/simulate/loop_decisions.h"
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
  PyObject* strike_idle = interned("strike_idle");
  PyObject* pass_time = interned("_pass_time");
  PyObject* look = interned("look");
  PyObject* event = interned("event");
  PyObject* log_timer = interned("_log_timer");
  PyObject* log_order = interned("_log_order");
};

const ClockNames& clock_names() {
  static const ClockNames* const kNames = std::make_unique<ClockNames>().release();
  return *kNames;
}

// The actor that runs now: the present task, or the loop.
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

bool shows_time_of_world(const py::object& clock) { return clock.is_none() || is_right(clock.ptr()); }

// What a clock shows, and when it shows that, in the time of the world.
py::object reading_of(PyObject* self, const py::object& clock) {
  const py::float_ now(queue_of(self).now);
  return shows_time_of_world(clock) ? py::object(now) : called(clock.ptr(), clock_names().reading, now.ptr());
}

py::object moment_of(PyObject* reading, const py::object& clock) {
  return shows_time_of_world(clock) ? borrowed(reading) : called(clock.ptr(), clock_names().moment, reading);
}

constexpr double kNanoseconds = 1e9;

// The earliest of the timers, each a tuple of its moment, its number, its handle and who has set it; null without one.
PyObject* first_timer(const ReadyQueue& queue) noexcept {
  return queue.timers != nullptr && PyList_CheckExact(queue.timers) != 0 && PyList_GET_SIZE(queue.timers) > 0
             ? PyList_GET_ITEM(queue.timers, 0)
             : nullptr;
}

double moment_in(PyObject* timer) {
  const double moment = PyFloat_AsDouble(PyTuple_GET_ITEM(timer, 0));
  if (moment == -1.0 && PyErr_Occurred() != nullptr) {
    throw py::error_already_set();
  }
  return moment;
}

PyObject* handle_in(PyObject* timer) noexcept { return PyTuple_GET_ITEM(timer, 2); }

std::uint64_t actor_in(PyObject* timer) {
  const unsigned long long actor = PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(timer, 3));
  if (actor == ~0ULL && PyErr_Occurred() != nullptr) {
    throw py::error_already_set();
  }
  return actor;
}

py::object popped(const ReadyQueue& queue) {
  return owned(PyObject_CallOneArg(loop_facts().heap_pop.ptr(), queue.timers));
}

bool is_due(const ReadyQueue& queue, double due_at) {
  PyObject* const timer = first_timer(queue);
  return timer != nullptr && moment_in(timer) <= due_at;
}

void move_to(ReadyQueue& queue, double moment) {
  queue.now = moment;
  queue.moved_at_step = queue.steps;
  const auto what = static_cast<std::uint64_t>(moment * kNanoseconds);
  if (queue.decides != nullptr) {
    queue.decides->event(what);
  } else {
    called(queue.schedule, clock_names().event, py::int_(what).ptr());
  }
}

// Skips to the next timer that is still wanted. Unusual cases are left to the Python code of the loop.
void pass_time(PyObject* self) {
  ReadyQueue& queue = queue_of(self);
  if (queue.has_cancels != 0 && called(queue.interruptions, clock_names().strike_idle).is(py::bool_(true))) {
    return;
  }
  PyObject* timer = first_timer(queue);
  while (timer != nullptr && is_cancelled(handle_in(timer))) {
    popped(queue);
    timer = first_timer(queue);
  }
  const double moment = timer == nullptr ? 0 : moment_in(timer);
  if (timer != nullptr && moment <= queue.asks_orphans_at && moment <= queue.ends_at &&
      moment - queue.now > loop_facts().creep_s) {
    queue.still_passes = 0;
    move_to(queue, moment);
  } else {
    called(self, clock_names().pass_time);
  }
}

void make_ready(ReadyQueue& queue, const py::object& timer) {
  queue.handles.push_back(Py_NewRef(handle_in(timer.ptr())));
}

// Makes timers of one deadline ready in any order, which is decided.
void take_tied(PyObject* self, std::vector<py::object> tied) {
  ReadyQueue& queue = queue_of(self);
  std::erase_if(tied, [](const py::object& timer) { return is_cancelled(handle_in(timer.ptr())); });
  if (is_set(queue.long_waits)) {
    py::list handles;
    for (const py::object& timer : tied) {
      handles.append(borrowed(handle_in(timer.ptr())));
    }
    called(queue.long_waits, clock_names().look, handles.ptr());
  }
  const KnownFacts& known = loop_facts();
  // Thousands may fall due together: mostly the first goes first, and nothing is moved.
  for (auto first = tied.begin(); first != tied.end(); ++first) {
    const auto left = static_cast<std::uint32_t>(tied.end() - first);
    const std::uint32_t chosen =
        left == 1 ? 0 : decision(queue, known.order, actor_in(first->ptr()), known.timer_site, left);
    if (chosen != 0 && is_set(queue.log)) {
      called(self, clock_names().log_order, handle_in((first + chosen)->ptr()), handle_in(first->ptr()));
    }
    std::rotate(first, first + chosen, first + chosen + 1);
    make_ready(queue, *first);
  }
}

// In the order of their deadlines; those of one deadline in any.
void take_due_timers(PyObject* self) {
  ReadyQueue& queue = queue_of(self);
  const double due_at = queue.now + loop_facts().tie_s;
  while (is_due(queue, due_at)) {
    const py::object timer = popped(queue);
    const double tied_at = std::min(moment_in(timer.ptr()) + loop_facts().tie_s, due_at);
    if (!is_set(queue.long_waits) && !is_due(queue, tied_at)) {
      if (!is_cancelled(handle_in(timer.ptr()))) {
        make_ready(queue, timer);
      }
      continue;
    }
    std::vector<py::object> tied{timer};
    while (is_due(queue, tied_at)) {
      tied.push_back(popped(queue));
    }
    take_tied(self, std::move(tied));
  }
}

}  // namespace

bool has_timers(const ReadyQueue& queue) noexcept { return first_timer(queue) != nullptr; }

py::object present_time(PyObject* loop) { return reading_of(loop, present_clock(loop)); }

py::object set_timer(PyObject* self, PyObject* moment, PyObject* when, PyObject* function, py::object arguments,
                     PyObject* context) {
  ReadyQueue& queue = queue_of(self);
  auto handle = made_handle(self, when, function, std::move(arguments), context, queue_of(self).is_debugged != 0);
  const py::object timer = py::make_tuple(borrowed(moment), ++queue.timers_set, handle, actor_of(self));
  const std::array<PyObject*, 2> given{queue.timers, timer.ptr()};
  owned(PyObject_Vectorcall(loop_facts().heap_push.ptr(), given.data(), given.size(), nullptr));
  if (is_set(queue.log)) {
    called(self, clock_names().log_timer, handle.ptr());
  }
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

void begin_turn(PyObject* loop) {
  const ReadyQueue& queue = queue_of(loop);
  if (queue.head == queue.handles.size()) {
    pass_time(loop);
  }
  if (is_due(queue, queue.now + loop_facts().tie_s)) {
    take_due_timers(loop);
  }
}

}  // namespace ordeal::bindings
