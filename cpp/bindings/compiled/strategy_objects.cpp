#include "bindings/compiled/strategy_objects.h"

#include <array>
#include <cstddef>
#include <new>

#include "bindings/compiled/body_draw.h"
#include "bindings/compiled/compiled_strategy.h"
#include "bindings/compiled/draw_context.h"
#include "bindings/compiled/interned_names.h"
#include "bindings/cpython/c_api.h"
#include "bindings/cpython/guarded.h"
#include "core/base/check.h"

namespace ordeal::bindings {
namespace {

struct CompiledStrategyObject {
  PyObject_HEAD vectorcallfunc vectorcall;
  CompiledStrategy compiled;
};

struct DrawContextObject {
  PyObject_HEAD DrawContext run;
};

PyTypeObject* strategy_type = nullptr;
PyTypeObject* draw_context_type = nullptr;

CompiledStrategy& strategy_in(PyObject* self) noexcept {
  return reinterpret_cast<CompiledStrategyObject*>(self)->compiled;
}
DrawContext& run_in(PyObject* self) noexcept { return reinterpret_cast<DrawContextObject*>(self)->run; }

// In the run `argument`, a DrawContext.
PyObject* draw_in(PyObject* self, PyObject* argument) noexcept {
  DrawContext* const run = draw_context_of(argument);
  if (run == nullptr) {
    PyErr_Format(PyExc_TypeError, "a compiled strategy draws in a DrawContext, not in a %s",
                 Py_TYPE(argument)->tp_name);
    return nullptr;
  }
  if (!run->is_open()) {
    PyErr_SetString(PyExc_RuntimeError, "a compiled strategy drew after its run had ended");
    return nullptr;
  }
  PyObject* const value = draw_compiled(strategy_in(self), *run);
  if (value != nullptr && !run->give_length()) {
    Py_DECREF(value);
    return nullptr;
  }
  run->take_length();  // any Python code that follows may change it
  return value;
}

extern "C" {

PyObject* ordeal_compiled_call(PyObject* self, PyObject* const* arguments, std::size_t flags,
                               PyObject* names) noexcept {
  if (PyVectorcall_NARGS(flags) != 1 || (names != nullptr && PyTuple_GET_SIZE(names) != 0)) {
    PyErr_SetString(PyExc_TypeError, "a compiled strategy takes a run");
    return nullptr;
  }
  if (Py_IS_TYPE(arguments[0], draw_context_type)) {
    return draw_in(self, arguments[0]);
  }
  PyObject* const run = PyObject_GetAttr(arguments[0], interned_names().draw_context);
  if (run == nullptr) {
    return nullptr;
  }
  const DrawContext* const draw_context = draw_context_of(run);
  PyObject* const value = draw_context != nullptr && draw_context->is_open()
                              ? draw_in(self, run)
                              : PyObject_CallOneArg(strategy_in(self).fallback().ptr(), arguments[0]);
  Py_DECREF(run);
  return value;
}

PyObject* ordeal_compiled_compile(PyObject* self, PyObject* /*nothing*/) noexcept {
  return guarded(
      [&] {
        strategy_in(self).compile();
        return PyBool_FromLong(strategy_in(self).is_compiled() ? 1 : 0);
      },
      PyExc_TypeError);
}

PyObject* ordeal_compiled_is_compiled(PyObject* self, void* /*closure*/) noexcept {
  return PyBool_FromLong(strategy_in(self).is_compiled() ? 1 : 0);
}

PyObject* ordeal_compiled_strategy(PyObject* self, void* /*closure*/) noexcept {
  return Py_NewRef(strategy_in(self).strategy().ptr());
}

int ordeal_compiled_traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  return strategy_in(self).traverse(visit, arg);
}

int ordeal_compiled_clear(PyObject* self) noexcept {
  strategy_in(self).clear();
  return 0;
}

void ordeal_compiled_dealloc(PyObject* self) noexcept {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  strategy_in(self).~CompiledStrategy();
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* ordeal_draw_context_new(PyTypeObject* type, PyObject* /*arguments*/, PyObject* /*keywords*/) noexcept {
  PyObject* const self = type->tp_alloc(type, 0);
  if (self != nullptr) {
    new (&run_in(self)) DrawContext();
  }
  return self;
}

int ordeal_draw_context_traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(Py_TYPE(self));
  return run_in(self).traverse(visit, arg);
}

int ordeal_draw_context_clear(PyObject* self) noexcept {
  run_in(self).end();
  return 0;
}

void ordeal_draw_context_dealloc(PyObject* self) noexcept {
  PyTypeObject* const type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  run_in(self).~DrawContext();
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* ordeal_draw_context_begin(PyObject* self, PyObject* const* arguments, Py_ssize_t count) noexcept {
  return guarded(
      [&] {
        if (count != 2) {
          throw py::type_error("begin() takes a source and a context");
        }
        auto& source = py::handle(arguments[0]).cast<ChoiceSource&>();
        run_in(self).begin(source, arguments[1] == Py_None ? nullptr : arguments[1], arguments[0]);
        return Py_NewRef(Py_None);
      },
      PyExc_TypeError);
}

PyObject* ordeal_draw_context_draw(PyObject* self, PyObject* const* arguments, Py_ssize_t count) noexcept {
  return guarded(
      [&] {
        const long depth = count == 3 ? PyLong_AsLong(arguments[2]) : -1;
        if (depth < 0 || depth > kSpansMax) {
          PyErr_Clear();
          throw py::type_error("draw() takes a data object, a strategy and the number of open spans");
        }
        return draw_in_body(run_in(self), arguments[0], arguments[1], static_cast<int>(depth));
      },
      PyExc_TypeError);
}

PyObject* ordeal_draw_context_end(PyObject* self, PyObject* /*nothing*/) noexcept {
  run_in(self).end();
  return Py_NewRef(Py_None);
}

PyObject* ordeal_draw_context_length(PyObject* self, void* /*closure*/) noexcept {
  const std::int64_t length = run_in(self).length();
  return length < 0 ? nullptr : PyLong_FromLongLong(length);
}

int ordeal_draw_context_set_length(PyObject* self, PyObject* value, void* /*closure*/) noexcept {
  const long long length = value == nullptr ? 0 : PyLong_AsLongLong(value);
  if (length == -1 && PyErr_Occurred() != nullptr) {
    return -1;
  }
  return run_in(self).set_length(length) ? 0 : -1;
}

PyObject* ordeal_draw_context_set_data(PyObject* self, PyObject* data) noexcept {
  run_in(self).set_data(data);
  return Py_NewRef(Py_None);
}

}  // extern "C"

// CPython reads the tables while the types exist, which is as long as the process.
py::object make_strategy_type() {
  static std::array<PyMethodDef, 2> methods{
      {{"compile", ordeal_compiled_compile, METH_NOARGS, nullptr}, {nullptr, nullptr, 0, nullptr}}};
  static std::array<PyGetSetDef, 3> properties{{{"is_compiled", ordeal_compiled_is_compiled, nullptr, nullptr, nullptr},
                                                {"strategy", ordeal_compiled_strategy, nullptr, nullptr, nullptr},
                                                {nullptr, nullptr, nullptr, nullptr, nullptr}}};
  static std::array<PyMemberDef, 2> members{
      {{"__vectorcalloffset__", Py_T_PYSSIZET, offsetof(CompiledStrategyObject, vectorcall), Py_READONLY, nullptr},
       {nullptr, 0, 0, 0, nullptr}}};
  std::array<PyType_Slot, 8> slots{{slot(Py_tp_traverse, ordeal_compiled_traverse),
                                    slot(Py_tp_clear, ordeal_compiled_clear),
                                    slot(Py_tp_dealloc, ordeal_compiled_dealloc),
                                    slot(Py_tp_call, PyVectorcall_Call),
                                    {Py_tp_methods, methods.data()},
                                    {Py_tp_getset, properties.data()},
                                    {Py_tp_members, members.data()},
                                    {0, nullptr}}};
  PyType_Spec spec{
      "ordeal._native.CompiledStrategy", sizeof(CompiledStrategyObject), 0,
      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_HAVE_GC,
      slots.data()};
  return py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
}

py::object make_draw_context_type() {
  static std::array<PyMethodDef, 5> methods{{{"set_data", ordeal_draw_context_set_data, METH_O, nullptr},
                                             {"begin", fast(ordeal_draw_context_begin), METH_FASTCALL, nullptr},
                                             {"draw", fast(ordeal_draw_context_draw), METH_FASTCALL, nullptr},
                                             {"end", ordeal_draw_context_end, METH_NOARGS, nullptr},
                                             {nullptr, nullptr, 0, nullptr}}};
  static std::array<PyGetSetDef, 2> properties{
      {{"length", ordeal_draw_context_length, ordeal_draw_context_set_length, nullptr, nullptr},
       {nullptr, nullptr, nullptr, nullptr, nullptr}}};
  std::array<PyType_Slot, 7> slots{{slot(Py_tp_new, ordeal_draw_context_new),
                                    slot(Py_tp_traverse, ordeal_draw_context_traverse),
                                    slot(Py_tp_clear, ordeal_draw_context_clear),
                                    slot(Py_tp_dealloc, ordeal_draw_context_dealloc),
                                    {Py_tp_methods, methods.data()},
                                    {Py_tp_getset, properties.data()},
                                    {0, nullptr}}};
  PyType_Spec spec{"ordeal._native.DrawContext", sizeof(DrawContextObject), 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
                   slots.data()};
  return py::reinterpret_steal<py::object>(PyType_FromSpec(&spec));
}

py::object new_compiled_strategy(CompiledStrategy compiled) {
  PyObject* const self = strategy_type->tp_alloc(strategy_type, 0);
  if (self == nullptr) {
    throw py::error_already_set();
  }
  auto& object = *reinterpret_cast<CompiledStrategyObject*>(self);
  object.vectorcall = ordeal_compiled_call;
  new (&object.compiled) CompiledStrategy(std::move(compiled));
  return py::reinterpret_steal<py::object>(self);
}

}  // namespace

CompiledStrategy* compiled_strategy_of(PyObject* object) noexcept {
  return object != nullptr && Py_IS_TYPE(object, strategy_type) ? &strategy_in(object) : nullptr;
}

DrawContext* draw_context_of(PyObject* object) noexcept {
  return object != nullptr && Py_IS_TYPE(object, draw_context_type) ? &run_in(object) : nullptr;
}

void add_strategy_objects(py::module_& m) {
  m.attr("CompiledStrategy") = make_strategy_type();
  m.attr("DrawContext") = make_draw_context_type();
  strategy_type = reinterpret_cast<PyTypeObject*>(py::object(m.attr("CompiledStrategy")).inc_ref().ptr());
  draw_context_type = reinterpret_cast<PyTypeObject*>(py::object(m.attr("DrawContext")).inc_ref().ptr());
  m.def(
      "new_compiled_strategy",
      [](py::object strategy, py::object fallback, const std::shared_ptr<StrategyNode>& plain) {
        return new_compiled_strategy(CompiledStrategy(std::move(strategy), std::move(fallback), plain));
      },
      py::arg("strategy"), py::arg("fallback"), py::arg("plain") = nullptr);
  m.attr("BUFFER_LENGTH_MAX") = kBufferLengthMax;
  m.attr("SPANS_OF_ARGUMENT") = kSpansOfArgument;
}

}  // namespace ordeal::bindings
