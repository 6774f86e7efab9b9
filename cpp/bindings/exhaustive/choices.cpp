#include "bindings/exhaustive/choices.h"

#include <array>
#include <optional>
#include <utility>

#include "bindings/cpython/c_api.h"
#include "bindings/cpython/guarded.h"
#include "core/base/check.h"

namespace ordeal::bindings {
namespace {

constexpr unsigned kOffsetBits = 32;
constexpr std::uint64_t kOffsetMask = (std::uint64_t{1} << kOffsetBits) - 1;

// Choices holds a counter; Cases holds a Choices. Errors go to a method of the Python subclass of Choices, which raises
// the user's error.
struct ChoicesObject {
  PyObject_HEAD PyObject* owner;  // of the counter
  Counter* counter;
};

struct CasesObject {
  PyObject_HEAD PyObject* choices;  // null once it has ended
};

Counter& counter_of(PyObject* self) {
  Counter* const counter = reinterpret_cast<ChoicesObject*>(self)->counter;
  ORDEAL_CHECK(counter != nullptr, "__init__ was not called");
  return *counter;
}

[[noreturn]] void fail(PyObject* self, const char* method, const py::tuple& arguments) {
  py::handle(self).attr(method)(*arguments);
  PyErr_Format(PyExc_SystemError, "%s() raised nothing", method);
  throw py::error_already_set();
}

[[noreturn]] void refuse(PyObject* self, const char* method, PyObject* const* arguments, Py_ssize_t count) {
  py::list all;
  for (Py_ssize_t i = 0; i < count; ++i) {
    all.append(py::handle(arguments[i]));
  }
  fail(self, "_refuse", py::make_tuple(method, py::tuple(all)));
}

// A value in [0, bound].
std::uint64_t draw(PyObject* self, std::uint64_t bound) {
  Counter& counter = counter_of(self);
  Odometer& odometer = counter.odometer;
  if (!odometer.running()) [[unlikely]] {
    fail(self, "_outside", py::tuple());
  }
  // A site costs as much as everything else: only new choices need their own.
  const std::uint64_t site = odometer.repeats() ? 0 : counter.site_now();
  try {
    return odometer.choose(bound, site);
  } catch (const ChangedBoundError& error) {
    const std::uint64_t first = odometer.digits()[odometer.position()].site;
    fail(self, "_changed",
         py::make_tuple(py::str(error.what()), counter.sites.place(first), counter.sites.place(counter.site_now())));
  } catch (const PathError& error) {
    fail(self, "_misfits", py::make_tuple(py::str(error.what())));
  }
}

// Nothing unless it is an integer of 64 bits.
std::optional<std::int64_t> integer(PyObject* value) noexcept {
  if (PyLong_Check(value) == 0) {
    return std::nullopt;
  }
  int overflow = 0;
  const long long number = PyLong_AsLongLongAndOverflow(value, &overflow);
  return overflow == 0 ? std::optional<std::int64_t>(number) : std::nullopt;
}

// The items in a reproducible order, which a set does not have.
py::list ordered(PyObject* self, const char* method, PyObject* const* arguments, Py_ssize_t count) {
  if (count != 1 || PyAnySet_Check(arguments[0]) != 0) {
    refuse(self, method, arguments, count);
  }
  PyObject* const iterator = PyObject_GetIter(arguments[0]);
  if (iterator == nullptr) {
    PyErr_Clear();
    refuse(self, method, arguments, count);
  }
  const auto owned = py::reinterpret_steal<py::object>(iterator);
  PyObject* const items = PySequence_List(iterator);
  return items != nullptr ? py::reinterpret_steal<py::list>(items) : throw py::error_already_set();
}

// Takes one of the remaining items for each place in turn, so the first order is the given one.
std::vector<py::object> shuffled(PyObject* self, std::vector<py::object> left) {
  std::vector<py::object> order;
  while (!left.empty()) {
    const auto taken = static_cast<std::ptrdiff_t>(left.size() == 1 ? 0 : draw(self, left.size() - 1));
    order.push_back(std::move(left[static_cast<std::size_t>(taken)]));
    left.erase(left.begin() + taken);
  }
  return order;
}

extern "C" {

PyObject* ordeal_choices_index(PyObject* self, PyObject* const* arguments, Py_ssize_t count) noexcept {
  return guarded([&] {
    const std::optional<std::int64_t> size = count == 1 ? integer(arguments[0]) : std::nullopt;
    if (!size || *size < 1) [[unlikely]] {
      refuse(self, "index", arguments, count);
    }
    return PyLong_FromUnsignedLongLong(draw(self, static_cast<std::uint64_t>(*size) - 1));
  });
}

PyObject* ordeal_choices_range(PyObject* self, PyObject* const* arguments, Py_ssize_t count) noexcept {
  return guarded([&] {
    const std::optional<std::int64_t> low = count == 2 ? integer(arguments[0]) : std::nullopt;
    const std::optional<std::int64_t> high = count == 2 ? integer(arguments[1]) : std::nullopt;
    if (!low || !high || *low > *high) [[unlikely]] {
      refuse(self, "range", arguments, count);
    }
    const auto span = static_cast<std::uint64_t>(*high) - static_cast<std::uint64_t>(*low);
    return PyLong_FromLongLong(static_cast<std::int64_t>(static_cast<std::uint64_t>(*low) + draw(self, span)));
  });
}

PyObject* ordeal_choices_bool(PyObject* self, PyObject* /*nothing*/) noexcept {
  return guarded([&] { return PyBool_FromLong(static_cast<long>(draw(self, 1))); });
}

PyObject* ordeal_choices_pick(PyObject* self, PyObject* const* arguments, Py_ssize_t count) noexcept {
  return guarded([&] {
    const Py_ssize_t size = count == 1 && PySequence_Check(arguments[0]) != 0 ? PySequence_Size(arguments[0]) : 0;
    if (size < 0) {
      throw py::error_already_set();
    }
    if (size == 0) [[unlikely]] {
      refuse(self, "pick", arguments, count);
    }
    const std::uint64_t place = draw(self, static_cast<std::uint64_t>(size) - 1);
    return PySequence_GetItem(arguments[0], static_cast<Py_ssize_t>(place));
  });
}

PyObject* ordeal_choices_choose(PyObject* self, PyObject* const* arguments, Py_ssize_t count) noexcept {
  return guarded([&] {
    const py::list items = ordered(self, "choose", arguments, count);
    if (items.empty()) {
      refuse(self, "choose", arguments, count);
    }
    return items[draw(self, items.size() - 1)].cast<py::object>().release().ptr();
  });
}

PyObject* ordeal_choices_subset(PyObject* self, PyObject* const* arguments, Py_ssize_t count) noexcept {
  return guarded([&] {
    py::list chosen;
    for (const py::handle item : ordered(self, "subset", arguments, count)) {
      if (draw(self, 1) != 0) {
        chosen.append(item);
      }
    }
    return chosen.release().ptr();
  });
}

PyObject* ordeal_choices_shuffle(PyObject* self, PyObject* const* arguments, Py_ssize_t count) noexcept {
  return guarded([&] {
    if (count != 1 || PyList_Check(arguments[0]) == 0) {
      refuse(self, "shuffle", arguments, count);
    }
    const py::handle items = arguments[0];
    std::vector<py::object> given;
    for (const py::handle item : items) {
      given.push_back(py::reinterpret_borrow<py::object>(item));
    }
    const std::vector<py::object> order = shuffled(self, std::move(given));
    py::list result(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
      result[i] = order[i];
    }
    if (PyList_SetSlice(items.ptr(), 0, PyList_GET_SIZE(items.ptr()), result.ptr()) != 0) {
      throw py::error_already_set();
    }
    return Py_NewRef(Py_None);
  });
}

int ordeal_choices_init(PyObject* self, PyObject* arguments, PyObject* /*keywords*/) noexcept {
  PyObject* const done = guarded([&] {
    const auto owner = py::reinterpret_borrow<py::tuple>(arguments)[0].cast<py::object>();
    auto& choices = *reinterpret_cast<ChoicesObject*>(self);
    choices.counter = &owner.cast<Counter&>();
    Py_XSETREF(choices.owner, Py_NewRef(owner.ptr()));
    return Py_None;
  });
  return done != nullptr ? 0 : -1;
}

void ordeal_choices_dealloc(PyObject* self) noexcept {
  PyTypeObject* const type = Py_TYPE(self);
  Py_XDECREF(reinterpret_cast<ChoicesObject*>(self)->owner);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* ordeal_choices_iter(PyObject* self) noexcept;

PyObject* ordeal_cases_next(PyObject* self) noexcept {
  return guarded([&]() -> PyObject* {
    auto& cases = *reinterpret_cast<CasesObject*>(self);
    if (cases.choices == nullptr) {
      return nullptr;
    }
    const Odometer::Turn turn = counter_of(cases.choices).odometer.next();
    if (turn == Odometer::Turn::kCase) [[likely]] {
      return Py_NewRef(cases.choices);
    }
    const auto choices = py::reinterpret_steal<py::object>(std::exchange(cases.choices, nullptr));
    choices.attr("_ended")(static_cast<int>(turn));
    return nullptr;
  });
}

// A loop releases its iterator while an exception of its body propagates, so a failing case can be reported here. After
// `break` or the last case no exception propagates.
void ordeal_cases_dealloc(PyObject* self) noexcept {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject* const choices = reinterpret_cast<CasesObject*>(self)->choices;
  PyObject* const exception = choices == nullptr ? nullptr : PyErr_GetRaisedException();
  if (exception != nullptr) {
    Py_XDECREF(PyObject_CallMethod(choices, "_failed", "O", exception));
    if (PyErr_Occurred() != nullptr) {
      PyErr_WriteUnraisable(choices);
    }
    PyErr_SetRaisedException(exception);
  }
  Py_XDECREF(choices);
  type->tp_free(self);
  Py_DECREF(type);
}

}  // extern "C"

// CPython reads the definitions while the types exist, which is as long as the process.
std::array<PyMethodDef, 8>& choices_methods() {
  static std::array<PyMethodDef, 8> methods{{
      {"index", fast(ordeal_choices_index), METH_FASTCALL, nullptr},
      {"range", fast(ordeal_choices_range), METH_FASTCALL, nullptr},
      {"bool", ordeal_choices_bool, METH_NOARGS, nullptr},
      {"pick", fast(ordeal_choices_pick), METH_FASTCALL, nullptr},
      {"choose", fast(ordeal_choices_choose), METH_FASTCALL, nullptr},
      {"subset", fast(ordeal_choices_subset), METH_FASTCALL, nullptr},
      {"shuffle", fast(ordeal_choices_shuffle), METH_FASTCALL, nullptr},
      {nullptr, nullptr, 0, nullptr},
  }};
  return methods;
}

py::object make_choices_type() {
  std::array<PyType_Slot, 5> slots{{slot(Py_tp_init, ordeal_choices_init),
                                    slot(Py_tp_dealloc, ordeal_choices_dealloc),
                                    slot(Py_tp_iter, ordeal_choices_iter),
                                    {Py_tp_methods, choices_methods().data()},
                                    {0, nullptr}}};
  PyType_Spec spec{"ordeal._native.Choices", sizeof(ChoicesObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
                   slots.data()};
  return py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
}

py::object make_cases_type() {
  std::array<PyType_Slot, 4> slots{{slot(Py_tp_dealloc, ordeal_cases_dealloc),
                                    slot(Py_tp_iter, PyObject_SelfIter),
                                    slot(Py_tp_iternext, ordeal_cases_next),
                                    {0, nullptr}}};
  PyType_Spec spec{"ordeal._native.Cases", sizeof(CasesObject), 0,
                   Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots.data()};
  return py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
}

PyTypeObject* cases_type() {
  static PyObject* const kType = make_cases_type().release().ptr();
  return reinterpret_cast<PyTypeObject*>(kType);
}

extern "C" PyObject* ordeal_choices_iter(PyObject* self) noexcept {
  return guarded([&] {
    py::handle(self).attr("_begin")();
    PyTypeObject* const type = cases_type();
    PyObject* const cases = type->tp_alloc(type, 0);
    if (cases != nullptr) {
      reinterpret_cast<CasesObject*>(cases)->choices = Py_NewRef(self);
    }
    return cases;
  });
}

}  // namespace

std::uint64_t Sites::outside(int frames) {
  auto frame =
      py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyThreadState_GetFrame(PyThreadState_Get())));
  for (; frame && frames > 0; --frames) {
    auto* const back = PyFrame_GetBack(reinterpret_cast<PyFrameObject*>(frame.ptr()));
    frame = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(back));
  }
  if (!frame) {
    return 0;
  }
  auto* const plain = reinterpret_cast<PyFrameObject*>(frame.ptr());
  const auto code = py::reinterpret_steal<py::object>(reinterpret_cast<PyObject*>(PyFrame_GetCode(plain)));
  return number(code) << kOffsetBits | (static_cast<std::uint64_t>(PyFrame_GetLasti(plain)) & kOffsetMask);
}

// From 1 on. A test makes its choices in few places, and mostly where it made the last one.
std::uint64_t Sites::number(const py::object& code) {
  if (newest_ != 0 && codes_[newest_ - 1].is(code)) {
    return newest_;
  }
  newest_ = 0;
  while (newest_ < codes_.size() && !codes_[newest_].is(code)) {
    ++newest_;
  }
  if (newest_++ == codes_.size()) {
    codes_.push_back(code);
  }
  return newest_;
}

py::object Sites::place(std::uint64_t site) const {
  if (site == 0) {
    return py::none();
  }
  const py::object& code = codes_[(site >> kOffsetBits) - 1];
  const int line = PyCode_Addr2Line(reinterpret_cast<PyCodeObject*>(code.ptr()), static_cast<int>(site & kOffsetMask));
  return py::make_tuple(code.attr("co_filename"), line);
}

void add_choices(py::module_& m) {
  m.attr("Choices") = make_choices_type();
  static_cast<void>(cases_type());
}

}  // namespace ordeal::bindings
