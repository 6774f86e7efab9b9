#include "bindings/compiled/body_draw.h"

#include "bindings/compiled/draw_function.h"

namespace ordeal::bindings {

PyObject* draw_in_body(DrawContext& run, PyObject* data, PyObject* strategy, int depth) {
  const StrategyNodePtr node = run.is_of(data) ? node_of_known(strategy, depth) : nullptr;
  if (node == nullptr) {
    return Py_NewRef(Py_NotImplemented);
  }
  run.enter_body();
  PyObject* const value = draw_node(run, *node, depth);
  if (value == nullptr) {
    PyObject* const raised = PyErr_GetRaisedException();
    if (!run.give_length()) {
      PyErr_Clear();
    }
    PyErr_SetRaisedException(raised);  // what went wrong first
    return nullptr;
  }
  if (!run.give_length()) {
    Py_DECREF(value);
    return nullptr;
  }
  return value;
}

}  // namespace ordeal::bindings
