#include "bindings/simulate/ready_queue.h"

#include <array>
#include <cstddef>
#include <memory>
#include <utility>
#include <vector>

#include "bindings/cpython/c_api.h"
#include "bindings/cpython/guarded.h"
#include "bindings/simulate/handles.h"
#include "bindings/simulate/held_objects.h"
#include "bindings/simulate/life_state.h"
#include "bindings/simulate/loop_decisions.h"
#include "bindings/simulate/loop_tasks.h"
#include "bindings/simulate/loop_timers.h"
#include "bindings/simulate/task_state.h"
#include "bindings/simulate/world_state.h"
#include "core/schedule/schedule.h"

namespace ordeal::bindings {
namespace {

// Names of what a loop in Python offers, interned once.
struct LoopNames {
  PyObject* call_soon = interned("_call_soon");
  PyObject* call_at = interned("_call_at");
  PyObject* call_later = interned("_call_later");
  PyObject* get = interned("get");
  PyObject* done = interned("done");
  PyObject* aim_at_start = interned("aim_at_start");
  PyObject* before_turn = interned("before_turn");
  PyObject* aim = interned("aim");
  PyObject* meet = interned("meet");
  PyObject* interleaving = interned("interleaving");
  PyObject* decide = interned("decide");
  PyObject* decide_evenly = interned("decide_evenly");
  PyObject* stall = interned("_stall");
  PyObject* log_step = interned("_log_step");
  PyObject* log_callback = interned("_log_callback");
  PyObject* callback_failed = interned("_callback_failed");
  PyObject* livelock = interned("_livelock");
};

const LoopNames& loop_names() {
  static const LoopNames* const kNames = std::make_unique<LoopNames>().release();
  return *kNames;
}

[[noreturn]] void raise(PyObject* error) {
  PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(error)), error);
  throw py::error_already_set();
}

// Reports the error raised now to the loop, as asyncio's handles do; errors that end the program propagate.
void tell_of_error(PyObject* self, PyObject* handle) {
  if (PyErr_ExceptionMatches(PyExc_SystemExit) != 0 || PyErr_ExceptionMatches(PyExc_KeyboardInterrupt) != 0) {
    throw py::error_already_set();
  }
  const auto error = py::reinterpret_steal<py::object>(PyErr_GetRaisedException());
  called(self, loop_names().callback_failed, handle, error.ptr());
}

void run_callback(PyObject* self, PyObject* handle, const LoopCallback& callback) {
  PyObject* const context = callback.context.ptr();
  if (PyContext_Enter(context) < 0) {
    tell_of_error(self, handle);
    return;
  }
  PyObject* const arguments = callback.arguments.ptr();
  PyObject* const result =
      PyTuple_CheckExact(arguments) != 0
          ? PyObject_Vectorcall(callback.function.ptr(), reinterpret_cast<PyTupleObject*>(arguments)->ob_item,
                                static_cast<std::size_t>(PyTuple_GET_SIZE(arguments)), nullptr)
          : PyObject_CallObject(callback.function.ptr(), arguments);
  if (result == nullptr) {
    PyObject* const error = PyErr_GetRaisedException();
    check(PyContext_Exit(context));
    PyErr_SetRaisedException(error);
    tell_of_error(self, handle);
    return;
  }
  Py_DECREF(result);
  check(PyContext_Exit(context));
}

void note_step(const ReadyQueue& queue, const TaskState& state) {
  if (queue.decides != nullptr) [[likely]] {
    queue.decides->step(state.key, static_cast<unsigned long long>(state.waits));
  } else if (queue.orders != nullptr) {
    queue.orders->step(state.role, static_cast<unsigned long long>(state.waits));
  }
}

// One step of a task: what is decided before it and after it.
void run_step(PyObject* self, PyObject* handle, const LoopCallback& callback, PyObject* task) {
  const ReadyQueue& queue = queue_of(self);
  const py::object record = record_of(self, task);
  TaskState& state = state_of(record.ptr());
  if (state.waits == 0 && state.may_be_cancelled != 0 && queue.is_quiet == 0) {
    called(queue.interruptions, loop_names().aim_at_start, record.ptr());
  }
  if (state.aim != 0) {
    called(queue.interruptions, loop_names().before_turn, record.ptr());
  }
  if (queue.has_cancelled != 0) {
    called(queue.interruptions, loop_names().meet, record.ptr());
  }
  note_step(queue, state);
  if (is_set(queue.log)) {
    called(self, loop_names().log_step, record.ptr());
  }
  run_callback(self, handle, callback);
  if (has_timers(queue) && queue.is_quiet == 0) {
    const KnownFacts& known = loop_facts();
    if (const auto length = decision(queue, known.stall, state.key, known.step_site, queue.stall_bound); length != 0) {
      called(self, loop_names().stall, py::int_(length).ptr(), is_set(state.life) ? state.life : Py_None);
    }
  }
  ++state.waits;
  if (state.may_be_cancelled != 0 && queue.is_quiet == 0 && called(task, loop_names().done).is(py::bool_(false))) {
    called(queue.interruptions, loop_names().aim, record.ptr());
  }
}

void run_handle(PyObject* self, PyObject* handle) {
  ReadyQueue& queue = queue_of(self);
  const LoopCallback callback{field_of(handle, kCallback), field_of(handle, kArgs), field_of(handle, kContext)};
  py::object life;
  const py::object world = is_set(queue.world) ? borrowed(queue.world) : py::object();
  if (world) {
    life = called(callback.context.ptr(), loop_names().get, loop_facts().life.ptr());
    if (!life.is_none() && keeps_back(life.ptr(), handle, queue.now)) {
      return;
    }
  }
  ++queue.steps;
  if (const py::object task = task_of(callback.function.ptr())) {
    run_step(self, handle, callback, task.ptr());
  } else {
    if (is_set(queue.log)) {
      called(self, loop_names().log_callback, handle);
    }
    run_callback(self, handle, callback);
  }
  if (world) {
    note_callback(world.ptr(), life.ptr());
  }
  for (PyObject* const error : {queue.escaped, queue.stalled, queue.broken}) {
    if (is_set(error)) [[unlikely]] {
      raise(error);
    }
  }
  if (queue.steps - queue.moved_at_step > loop_facts().still_steps_max || queue.steps > loop_facts().steps_max)
      [[unlikely]] {
    raise(called(self, loop_names().livelock).ptr());
  }
}

void run_next(PyObject* self) {
  ReadyQueue& queue = queue_of(self);
  const auto handle = py::reinterpret_steal<py::object>(queue.handles[queue.head]);
  ++queue.head;
  if (queue.head == queue.handles.size()) {
    queue.handles.clear();
    queue.head = 0;
  } else if (queue.head > queue.handles.size() / 2) {
    queue.handles.erase(queue.handles.begin(), queue.handles.begin() + static_cast<std::ptrdiff_t>(queue.head));
    queue.head = 0;
  }
  if (!is_cancelled(handle.ptr())) {
    run_handle(self, handle.ptr());
  }
}

std::size_t ready_count(const ReadyQueue& queue) noexcept { return queue.handles.size() - queue.head; }

// One turn of asyncio: exactly the callbacks that are ready when it begins.
void run_turn(PyObject* self) {
  const ReadyQueue& queue = queue_of(self);
  begin_turn(self);
  for (std::size_t left = ready_count(queue); left > 0 && ready_count(queue) > 0; --left) {
    run_next(self);
  }
}

PyObject* done(const auto& work) noexcept {
  return guarded([&]() -> PyObject* {
    work();
    return Py_NewRef(Py_None);
  });
}

void drop_handles(ReadyQueue& queue) noexcept {
  const auto dropped = std::exchange(queue.handles, {});
  for (std::size_t i = std::exchange(queue.head, 0); i < dropped.size(); ++i) {
    Py_DECREF(dropped[i]);
  }
}

template <char ReadyQueue::* kFlag>
PyObject* flag(PyObject* self, PyObject* /*unused*/) noexcept {
  return PyBool_FromLong(queue_of(self).*kFlag);
}

bool has_names(PyObject* keywords) noexcept { return keywords != nullptr && PyTuple_GET_SIZE(keywords) > 0; }

[[noreturn]] void refuse(PyObject* kind, const char* what) {
  PyErr_SetString(kind, what);
  throw py::error_already_set();
}

void require_open(PyObject* self) {
  if (queue_of(self).is_closed != 0) {
    refuse(PyExc_RuntimeError, "Event loop is closed");
  }
}

// Whether at least this many arguments are positional, and no keyword but `context` is given.
bool is_plain(Py_ssize_t count, Py_ssize_t least, PyObject* keywords) noexcept {
  return count >= least &&
         (!has_names(keywords) || (PyTuple_GET_SIZE(keywords) == 1 &&
                                   PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(keywords, 0), "context") == 0));
}

// Lets the Python code of the loop put the arguments in order, and say which is missing.
PyObject* in_order(PyObject* self, PyObject* method, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) {
  std::vector<PyObject*> given{self};
  given.insert(given.end(), arguments, arguments + count + (has_names(keywords) ? PyTuple_GET_SIZE(keywords) : 0));
  return PyObject_VectorcallMethod(method, given.data(), static_cast<std::size_t>(count) + 1, keywords);
}

extern "C" {

PyObject* ordeal_call_soon(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) noexcept {
  return guarded([&]() -> PyObject* {
    require_open(self);
    if (!is_plain(count, 1, keywords)) {
      return in_order(self, loop_names().call_soon, arguments, count, keywords);
    }
    auto handle = made_handle(self, nullptr, arguments[0], packed(arguments + 1, count - 1),
                              has_names(keywords) ? arguments[count] : nullptr, queue_of(self).is_debugged != 0);
    queue_of(self).handles.push_back(Py_NewRef(handle.ptr()));
    return handle.release().ptr();
  });
}

// At a time of the world, and unless `context` says otherwise outside of its nodes.
PyObject* ordeal_at(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) noexcept {
  return guarded([&]() -> PyObject* {
    require_open(self);
    if (!is_plain(count, 2, keywords)) {
      refuse(PyExc_TypeError, "at() takes a time, a callback, its arguments, and `context`");
    }
    PyObject* const context = has_names(keywords) ? arguments[count] : loop_facts().nowhere.ptr();
    return set_timer(self, arguments[0], arguments[0], arguments[1], packed(arguments + 2, count - 2), context)
        .release()
        .ptr();
  });
}

PyObject* ordeal_call_at(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) noexcept {
  return guarded([&]() -> PyObject* {
    require_open(self);
    if (!is_plain(count, 2, keywords)) {
      return in_order(self, loop_names().call_at, arguments, count, keywords);
    }
    if (arguments[0] == Py_None) {
      refuse(PyExc_TypeError, "when cannot be None");
    }
    return timer_at(self, arguments[0], arguments[1], packed(arguments + 2, count - 2),
                    has_names(keywords) ? arguments[count] : nullptr)
        .release()
        .ptr();
  });
}

PyObject* ordeal_call_later(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* keywords) noexcept {
  return guarded([&]() -> PyObject* {
    require_open(self);
    if (!is_plain(count, 2, keywords)) {
      return in_order(self, loop_names().call_later, arguments, count, keywords);
    }
    if (arguments[0] == Py_None) {
      refuse(PyExc_TypeError, "delay must not be None");
    }
    return timer_after(self, arguments[0], arguments[1], packed(arguments + 2, count - 2),
                       has_names(keywords) ? arguments[count] : nullptr)
        .release()
        .ptr();
  });
}

PyObject* ordeal_time(PyObject* self, PyObject* /*unused*/) noexcept {
  return guarded([&] { return present_time(self).release().ptr(); });
}

PyObject* ordeal_create_task(PyObject* self, PyObject* const* arguments, Py_ssize_t count,
                             PyObject* keywords) noexcept {
  return guarded([&] { return created_task(self, arguments, count, keywords).release().ptr(); });
}

// Takes a task that is there, and the name that it was given, or None.
PyObject* ordeal_new_record(PyObject* self, PyObject* const* arguments, Py_ssize_t count) noexcept {
  return guarded([&]() -> PyObject* {
    if (count != 2) {
      PyErr_SetString(PyExc_TypeError, "_new_record() takes a task and a name");
      return nullptr;
    }
    return new_record(self, arguments[0], arguments[1]).release().ptr();
  });
}

PyObject* ordeal_waiting_tasks(PyObject* self, PyObject* /*unused*/) noexcept {
  return guarded([&] { return waiting_tasks(self).release().ptr(); });
}

PyObject* ordeal_unhandled_task(PyObject* self, PyObject* /*unused*/) noexcept {
  return guarded([&] { return unhandled_task(self).release().ptr(); });
}

PyObject* ordeal_part_all(PyObject* self, PyObject* /*unused*/) noexcept {
  return done([&] { part_all(self); });
}

PyObject* ordeal_stop(PyObject* self, PyObject* /*unused*/) noexcept {
  queue_of(self).is_stopping = 1;
  return Py_NewRef(Py_None);
}

// Takes kind, actor, site and bound. 0 at the end of a run, when nothing is disturbed any more.
PyObject* decided(PyObject* self, PyObject* const* arguments, Py_ssize_t count, PyObject* name,
                  std::uint32_t (Schedule::*decide)(std::uint32_t, std::uint64_t, std::uint64_t,
                                                    std::uint32_t)) noexcept {
  return guarded([&]() -> PyObject* {
    const ReadyQueue& queue = queue_of(self);
    if (count != 4) {
      PyErr_SetString(PyExc_TypeError, "a decision takes a kind, an actor, a site and a bound");
      return nullptr;
    }
    if (queue.is_quiet != 0) {
      return PyLong_FromLong(0);
    }
    if (queue.decides == nullptr) {
      const std::array<PyObject*, 5> given{queue.schedule, arguments[0], arguments[1], arguments[2], arguments[3]};
      return PyObject_VectorcallMethod(name, given.data(), given.size(), nullptr);
    }
    std::array<unsigned long long, 4> numbers{};
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = PyLong_AsUnsignedLongLong(arguments[i]);
      if (numbers[i] == ~0ULL && PyErr_Occurred() != nullptr) {
        return nullptr;
      }
    }
    return PyLong_FromUnsignedLong((queue.decides->*decide)(static_cast<std::uint32_t>(numbers[0]), numbers[1],
                                                            numbers[2], static_cast<std::uint32_t>(numbers[3])));
  });
}

PyObject* ordeal_decide(PyObject* self, PyObject* const* arguments, Py_ssize_t count) noexcept {
  return decided(self, arguments, count, loop_names().decide, &Schedule::decide);
}

PyObject* ordeal_decide_evenly(PyObject* self, PyObject* const* arguments, Py_ssize_t count) noexcept {
  return decided(self, arguments, count, loop_names().decide_evenly, &Schedule::decide_evenly);
}

PyObject* ordeal_make_ready(PyObject* self, PyObject* handles) noexcept {
  return done([&] {
    for (const py::handle handle : py::reinterpret_borrow<py::iterable>(handles)) {
      queue_of(self).handles.push_back(Py_NewRef(handle.ptr()));
    }
  });
}

PyObject* ordeal_begin_turn(PyObject* self, PyObject* /*unused*/) noexcept {
  return done([&] { begin_turn(self); });
}

PyObject* ordeal_run_next(PyObject* self, PyObject* /*unused*/) noexcept {
  return done([&] {
    if (ready_count(queue_of(self)) > 0) {
      run_next(self);
    }
  });
}

PyObject* ordeal_run_turn(PyObject* self, PyObject* /*unused*/) noexcept {
  return done([&] { run_turn(self); });
}

PyObject* ordeal_run_turns(PyObject* self, PyObject* /*unused*/) noexcept {
  return done([&] {
    while (queue_of(self).is_stopping == 0) {
      run_turn(self);
      check(PyErr_CheckSignals());
    }
  });
}

PyObject* ordeal_drop_ready(PyObject* self, PyObject* /*unused*/) noexcept {
  drop_handles(queue_of(self));
  return Py_NewRef(Py_None);
}

PyObject* ordeal_is_ready(PyObject* self, void* /*unused*/) noexcept {
  return PyBool_FromLong(ready_count(queue_of(self)) > 0 ? 1 : 0);
}

PyObject* ordeal_queue_schedule(PyObject* self, void* /*unused*/) noexcept {
  PyObject* const schedule = queue_of(self).schedule;
  return Py_NewRef(schedule == nullptr ? Py_None : schedule);
}

int ordeal_queue_set_schedule(PyObject* self, PyObject* schedule, void* /*unused*/) noexcept {
  PyObject* const result = done([&] {
    ReadyQueue& queue = queue_of(self);
    const py::handle given(schedule);
    const bool is_core = given && py::isinstance<Schedule>(given);
    queue.decides = is_core ? &given.cast<Schedule&>() : nullptr;
    const auto orders = given && !is_core ? attribute(schedule, loop_names().interleaving) : py::none();
    queue.orders = orders.is_none() ? nullptr : &orders.cast<Interleaving&>();  // held by the schedule
    Py_XSETREF(queue.schedule, Py_XNewRef(schedule));
  });
  Py_XDECREF(result);
  return result == nullptr ? -1 : 0;
}

PyObject* ordeal_queue_new(PyTypeObject* type, PyObject* /*arguments*/, PyObject* /*keywords*/) noexcept {
  PyObject* const self = type->tp_alloc(type, 0);
  if (self != nullptr) {
    ReadyQueue& queue = queue_of(self);
    std::construct_at(&queue.handles);
    queue.has_main = 1;
    queue.records = PyList_New(0);
    queue.names = PyDict_New();
    if (queue.records == nullptr || queue.names == nullptr) {
      Py_DECREF(self);
      return nullptr;
    }
  }
  return self;
}

int ordeal_queue_traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  const ReadyQueue& queue = queue_of(self);
  for (std::size_t i = queue.head; i < queue.handles.size(); ++i) {
    Py_VISIT(queue.handles[i]);
  }
  return HeldObjects<ReadyQueue, kQueueObjects>::visit_all(queue, visit, arg);
}

int ordeal_queue_clear(PyObject* self) noexcept {
  ReadyQueue& queue = queue_of(self);
  drop_handles(queue);
  queue.decides = nullptr;
  queue.orders = nullptr;
  HeldObjects<ReadyQueue, kQueueObjects>::clear_all(queue);
  return 0;
}

void ordeal_queue_dealloc(PyObject* self) noexcept {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  ordeal_queue_clear(self);
  std::destroy_at(&queue_of(self).handles);
  type->tp_free(self);
  Py_DECREF(type);
}

}  // extern "C"

}  // namespace

py::object ready_queue_type() {
  static PyObject* const kType = [] {
    constexpr int kWithKeywords = METH_FASTCALL | METH_KEYWORDS;
    static std::array<PyMethodDef, 24> methods{
        {{"call_soon", with_keywords(ordeal_call_soon), kWithKeywords, nullptr},
         {"call_at", with_keywords(ordeal_call_at), kWithKeywords, nullptr},
         {"call_later", with_keywords(ordeal_call_later), kWithKeywords, nullptr},
         {"at", with_keywords(ordeal_at), kWithKeywords, nullptr},
         {"time", ordeal_time, METH_NOARGS, nullptr},
         {"create_task", with_keywords(ordeal_create_task), kWithKeywords, nullptr},
         {"_new_record", fast(ordeal_new_record), METH_FASTCALL, nullptr},
         {"_waiting_tasks", ordeal_waiting_tasks, METH_NOARGS, nullptr},
         {"_unhandled_task", ordeal_unhandled_task, METH_NOARGS, nullptr},
         {"_part_all", ordeal_part_all, METH_NOARGS, nullptr},
         {"get_debug", flag<&ReadyQueue::is_debugged>, METH_NOARGS, nullptr},
         {"is_running", flag<&ReadyQueue::is_running>, METH_NOARGS, nullptr},
         {"is_closed", flag<&ReadyQueue::is_closed>, METH_NOARGS, nullptr},
         {"stop", ordeal_stop, METH_NOARGS, nullptr},
         {"_stop_when_done", ordeal_stop, METH_O, nullptr},
         {"decide", fast(ordeal_decide), METH_FASTCALL, nullptr},
         {"decide_evenly", fast(ordeal_decide_evenly), METH_FASTCALL, nullptr},
         {"make_ready", ordeal_make_ready, METH_O, nullptr},
         {"_begin_turn", ordeal_begin_turn, METH_NOARGS, nullptr},
         {"_run_next", ordeal_run_next, METH_NOARGS, nullptr},
         {"_turn", ordeal_run_turn, METH_NOARGS, nullptr},
         {"_run_turns", ordeal_run_turns, METH_NOARGS, nullptr},
         {"_drop_ready", ordeal_drop_ready, METH_NOARGS, nullptr},
         {nullptr, nullptr, 0, nullptr}}};
    static std::array<PyGetSetDef, 3> attributes{
        {{"schedule", ordeal_queue_schedule, ordeal_queue_set_schedule, nullptr, nullptr},
         {"_is_ready", ordeal_is_ready, nullptr, nullptr, nullptr},
         {nullptr, nullptr, nullptr, nullptr, nullptr}}};
    // offsetof of a type with a vector: what every compiler of CPython's extensions supports.
    static std::array<PyMemberDef, 31> members{
        {{"world", _Py_T_OBJECT, offsetof(ReadyQueue, world), 0, nullptr},
         {"log", _Py_T_OBJECT, offsetof(ReadyQueue, log), 0, nullptr},
         {"_timers", _Py_T_OBJECT, offsetof(ReadyQueue, timers), 0, nullptr},
         {"interruptions", _Py_T_OBJECT, offsetof(ReadyQueue, interruptions), 0, nullptr},
         {"escaped", _Py_T_OBJECT, offsetof(ReadyQueue, escaped), 0, nullptr},
         {"stalled", _Py_T_OBJECT, offsetof(ReadyQueue, stalled), 0, nullptr},
         {"broken", _Py_T_OBJECT, offsetof(ReadyQueue, broken), 0, nullptr},
         {"records", _Py_T_OBJECT, offsetof(ReadyQueue, records), 0, nullptr},
         {"_names", _Py_T_OBJECT, offsetof(ReadyQueue, names), 0, nullptr},
         {"_main", _Py_T_OBJECT, offsetof(ReadyQueue, main), 0, nullptr},
         {"_task_factory", _Py_T_OBJECT, offsetof(ReadyQueue, task_factory), 0, nullptr},
         {"long_waits", _Py_T_OBJECT, offsetof(ReadyQueue, long_waits), 0, nullptr},
         {"_still_passes", Py_T_LONGLONG, offsetof(ReadyQueue, still_passes), 0, nullptr},
         {"_ends_at", Py_T_DOUBLE, offsetof(ReadyQueue, ends_at), 0, nullptr},
         {"_asks_orphans_at", Py_T_DOUBLE, offsetof(ReadyQueue, asks_orphans_at), 0, nullptr},
         {"_tasks_made", Py_T_LONGLONG, offsetof(ReadyQueue, tasks_made), 0, nullptr},
         {"_records_max", Py_T_LONGLONG, offsetof(ReadyQueue, records_max), 0, nullptr},
         {"steps", Py_T_LONGLONG, offsetof(ReadyQueue, steps), 0, nullptr},
         {"_moved_at_step", Py_T_LONGLONG, offsetof(ReadyQueue, moved_at_step), 0, nullptr},
         {"_now", Py_T_DOUBLE, offsetof(ReadyQueue, now), 0, nullptr},
         {"now", Py_T_DOUBLE, offsetof(ReadyQueue, now), Py_READONLY, nullptr},
         {"_stall_bound", Py_T_UINT, offsetof(ReadyQueue, stall_bound), 0, nullptr},
         {"_closed", Py_T_BOOL, offsetof(ReadyQueue, is_closed), 0, nullptr},
         {"_is_quiet", Py_T_BOOL, offsetof(ReadyQueue, is_quiet), 0, nullptr},
         {"_stopping", Py_T_BOOL, offsetof(ReadyQueue, is_stopping), 0, nullptr},
         {"_debug", Py_T_BOOL, offsetof(ReadyQueue, is_debugged), 0, nullptr},
         {"_running", Py_T_BOOL, offsetof(ReadyQueue, is_running), 0, nullptr},
         {"_has_cancels", Py_T_BOOL, offsetof(ReadyQueue, has_cancels), 0, nullptr},
         {"_has_cancelled", Py_T_BOOL, offsetof(ReadyQueue, has_cancelled), 0, nullptr},
         {"_has_main", Py_T_BOOL, offsetof(ReadyQueue, has_main), 0, nullptr},
         {nullptr, 0, 0, 0, nullptr}}};
    std::array<PyType_Slot, 8> slots{{slot(Py_tp_new, ordeal_queue_new),
                                      slot(Py_tp_dealloc, ordeal_queue_dealloc),
                                      slot(Py_tp_traverse, ordeal_queue_traverse),
                                      slot(Py_tp_clear, ordeal_queue_clear),
                                      {Py_tp_methods, methods.data()},
                                      {Py_tp_getset, attributes.data()},
                                      {Py_tp_members, members.data()},
                                      {0, nullptr}}};
    PyType_Spec spec{"ordeal._native.ReadyQueue", sizeof(ReadyQueue), 0,
                     Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots.data()};
    return owned(PyType_FromSpec(&spec)).release().ptr();
  }();
  return borrowed(kType);
}

}  // namespace ordeal::bindings
