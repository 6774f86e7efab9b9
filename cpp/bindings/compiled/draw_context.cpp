#include "bindings/compiled/draw_context.h"

#include <bit>
#include <utility>

#include "bindings/compiled/interned_names.h"
#include "core/draw/distributions.h"

namespace ordeal::bindings {
namespace {

bool set_attribute(PyObject* object, PyObject* name, std::int64_t value) noexcept {
  PyObject* const number = PyLong_FromLongLong(value);
  const int failed = number == nullptr ? -1 : PyObject_SetAttr(object, name, number);
  Py_XDECREF(number);
  return failed == 0;
}

}  // namespace

void DrawContext::begin(ChoiceSource& source, PyObject* context, PyObject* keeps) noexcept {
  end();
  source_ = &source;
  keeps_ = Py_XNewRef(keeps);
  context_ = Py_XNewRef(context);
  length_ = 0;
  depth_ = kSpansOfArgument;
  length_known_ = true;
  length_is_new_ = false;
  counts_ = true;
}

void DrawContext::end() noexcept {
  // The length may be read afterwards. An exception may have ended the run, and continues to propagate.
  if (!length_known_) {
    PyObject* const raised = PyErr_GetRaisedException();
    if (!read_length()) {
      PyErr_Clear();
    }
    PyErr_SetRaisedException(raised);
  }
  length_known_ = true;
  source_ = nullptr;
  if (link_ != nullptr) {
    *link_ = nullptr;
    link_.reset();
  }
  Py_CLEAR(data_);
  Py_CLEAR(machine_);
  Py_CLEAR(context_);
  Py_CLEAR(keeps_);
}

int DrawContext::traverse(visitproc visit, void* argument) const {
  for (PyObject* const held : {data_, machine_, context_, keeps_}) {
    if (held != nullptr) {
      if (const int stop = visit(held, argument); stop != 0) {
        return stop;
      }
    }
  }
  return 0;
}

const std::shared_ptr<DrawContext*>& DrawContext::link() {
  if (link_ == nullptr) {
    link_ = std::make_shared<DrawContext*>(this);
  }
  return link_;
}

PyObject* DrawContext::data() noexcept {
  if (data_ == nullptr && context_ != nullptr) {
    PyObject* const data = PyObject_GetAttr(context_, interned_names().data);
    if (data != nullptr) {
      // The context has set it by now, unless it always had one.
      length_known_ = length_known_ && data_ != nullptr;
      Py_XSETREF(data_, data);
    }
  }
  return data_;
}

PyObject* DrawContext::machine() noexcept {
  if (machine_ == nullptr) {
    PyObject* const machine =
        context_ == nullptr ? Py_NewRef(Py_None) : PyObject_GetAttr(context_, interned_names().machine);
    if (machine == nullptr || machine == Py_None) {
      Py_XDECREF(machine);  // None lives for ever
      return machine;
    }
    machine_ = machine;
  }
  return machine_;
}

bool DrawContext::read_length() noexcept {
  PyObject* const length = PyObject_GetAttr(data_, interned_names().length);
  if (length == nullptr) {
    return false;
  }
  length_ = PyLong_AsLongLong(length);
  Py_DECREF(length);
  length_known_ = length_ != -1 || PyErr_Occurred() == nullptr;
  length_is_new_ = false;
  return length_known_;
}

bool DrawContext::write_length() noexcept {
  length_is_new_ = false;
  return data_ == nullptr || set_attribute(data_, interned_names().length, length_);
}

bool DrawContext::overrun() noexcept {
  PyObject* const data = this->data();
  if (data == nullptr) {
    // Without Hypothesis no buffer is filled.
    return context_ == nullptr;
  }
  if (give_length()) {
    Py_XDECREF(PyObject_CallMethodNoArgs(data, interned_names().mark_overrun));
    take_length();
  }
  return false;
}

PyObject* DrawContext::reject(const char* why) noexcept {
  PyObject* const data = this->data();
  if (data == nullptr) {
    if (context_ == nullptr) {
      PyErr_SetString(PyExc_ValueError, why);
    }
    return nullptr;
  }
  PyObject* const text = PyUnicode_FromString(why);
  if (text != nullptr && give_length()) {
    Py_XDECREF(PyObject_CallMethodOneArg(data, interned_names().mark_invalid, text));
    take_length();
  }
  Py_XDECREF(text);
  return nullptr;
}

PyObject* DrawContext::draw_through_hypothesis(PyObject* strategy, int depth) noexcept {
  PyObject* const data = this->data();
  if (data == nullptr) {
    if (context_ == nullptr) {
      PyErr_SetString(PyExc_RuntimeError, "a strategy that is not compiled needs a run of Hypothesis");
    }
    return nullptr;
  }
  if (!give_length()) {
    return nullptr;
  }
  if (depth == kSpansOfArgument) {
    PyObject* const value = PyObject_CallMethodOneArg(data, interned_names().draw, strategy);
    take_length();
    return value;
  }
  // Hypothesis limits the depth of nested draws, so it must know the present depth.
  PyObject* const before = PyObject_GetAttr(data, interned_names().depth);
  PyObject* value = nullptr;
  if (before != nullptr && set_attribute(data, interned_names().depth, depth)) {
    value = PyObject_CallMethodOneArg(data, interned_names().draw, strategy);
    take_length();
    PyObject* const raised = PyErr_GetRaisedException();
    PyObject* const is_over = PyObject_GetAttr(data, interned_names().frozen);
    // A finished run has closed everything that was open.
    if (is_over == Py_False && PyObject_SetAttr(data, interned_names().depth, before) != 0) {
      Py_CLEAR(value);
    }
    Py_XDECREF(is_over);
    if (raised != nullptr) {
      PyErr_SetRaisedException(raised);
    }
  }
  Py_XDECREF(before);
  return value;
}

std::optional<std::int64_t> choose(DrawContext& run, std::int64_t low, std::int64_t high, std::int64_t toward) {
  if (!run.may_choose()) {
    return std::nullopt;
  }
  const bool is_place = low == 0 && toward == 0 && std::cmp_greater(high, kUniformRange);
  const std::int64_t value = is_place ? run.source().position(high + 1) : run.source().integer(low, high, toward);
  return run.count(integer_size(value)) ? std::optional(value) : std::nullopt;
}

std::size_t integer_size(std::int64_t value) noexcept {
  const auto bits = static_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = value < 0 ? 0 - bits : bits;
  return 2 + (static_cast<std::size_t>(std::bit_width(magnitude)) / 8);
}

// One byte holds the kind and a small size; a larger size follows, seven bits per byte.
std::size_t sized(std::size_t payload) noexcept {
  constexpr std::size_t kSmall = 31;
  if (payload < kSmall) {
    return 1 + payload;
  }
  return 1 + ((static_cast<std::size_t>(std::bit_width(payload)) + 6) / 7) + payload;
}

}  // namespace ordeal::bindings
