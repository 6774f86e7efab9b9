#include "bindings/faults/patch_site.h"

#include <algorithm>
#include <utility>

#include "bindings/cpython/c_api.h"
#include "bindings/cpython/modules_mark.h"

namespace ordeal::bindings {
namespace {

bool is_plain_class(PyObject* object) noexcept {
  return PyType_Check(object) != 0 && Py_TYPE(object)->tp_setattro == PyType_Type.tp_setattro &&
         (reinterpret_cast<PyTypeObject*>(object)->tp_flags & Py_TPFLAGS_HEAPTYPE) != 0;
}

}  // namespace

PatchSite::PatchSite(py::object holder, py::object name, py::object found, bool holds_it, py::dict sites,
                     py::object key)
    : owner(std::move(holder)),
      attribute(std::move(name)),
      original(std::move(found)),
      is_own(holds_it),
      sites_(std::move(sites)),
      key_(std::move(key)) {}

void PatchSite::set_function(py::object function) {
  function_ = function;
  current_ = std::move(function);
}

void PatchSite::set_dispatcher(py::object stored, py::object cell) {
  installed = std::move(stored);
  cell_ = std::move(cell);
}

py::list PatchSite::layers() const {
  py::list all;
  for (const py::object& layer : layers_) {
    all.append(layer);
  }
  return all;
}

py::object PatchSite::known(const py::list& layers) const {
  for (const Stack& stack : stacks_) {
    if (stack.layers.size() == layers.size() &&
        std::equal(stack.layers.begin(), stack.layers.end(), layers.begin(),
                   [](const py::object& one, const py::handle& other) { return one.is(other); })) {
      return py::make_tuple(stack.function, stack.stored);
    }
  }
  return py::none();
}

void PatchSite::remember(const py::list& layers, py::object function, py::object stored) {
  if (stacks_.size() >= kStacksMax) {
    // What they hold may belong to the program, and its finalizers may call back into this code.
    const std::vector<Stack> dropped = std::exchange(stacks_, {});
  }
  Stack stack;
  for (const py::handle layer : layers) {
    stack.layers.push_back(py::reinterpret_borrow<py::object>(layer));
  }
  stack.function = std::move(function);
  stack.stored = std::move(stored);
  stacks_.push_back(std::move(stack));
}

void PatchSite::forget(const py::object& layer) {
  std::vector<Stack> dropped;
  const auto has_layer = [&](const Stack& stack) {
    return std::ranges::any_of(stack.layers, [&](const py::object& each) { return each.is(layer); });
  };
  for (std::size_t i = stacks_.size(); i-- > 0;) {
    if (has_layer(stacks_[i])) {
      dropped.push_back(std::move(stacks_[i]));
      stacks_.erase(stacks_.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }
}

// The stack of layers after one has been added on top or removed; null if it is not known.
PatchSite::Stack* PatchSite::find(PyObject* added, PyObject* removed) const {
  const auto is_it = [&](const Stack& stack) {
    std::size_t at = 0;
    for (const py::object& layer : layers_) {
      if (layer.ptr() == removed) {
        continue;
      }
      if (at == stack.layers.size() || !stack.layers[at].is(layer)) {
        return false;
      }
      ++at;
    }
    if (added != nullptr) {
      return at + 1 == stack.layers.size() && stack.layers[at].ptr() == added;
    }
    return at == stack.layers.size();
  };
  const auto found = std::ranges::find_if(stacks_, is_it);
  return found == stacks_.end() ? nullptr : &*found;
}

bool PatchSite::is_direct() const { return PyModule_CheckExact(owner.ptr()) != 0 || is_plain_class(owner.ptr()); }

// What the attribute holds, borrowed; null if the owner has no such attribute, or cannot be asked without running code.
PyObject* PatchSite::held() const {
  if (PyModule_CheckExact(owner.ptr()) != 0) {
    return PyDict_GetItemWithError(PyModule_GetDict(owner.ptr()), attribute.ptr());
  }
  if (!is_plain_class(owner.ptr())) {
    return nullptr;
  }
  PyObject* const classes = reinterpret_cast<PyTypeObject*>(owner.ptr())->tp_mro;
  const Py_ssize_t end = is_own ? 1 : PyTuple_GET_SIZE(classes);
  for (Py_ssize_t i = 0; i < end; ++i) {
    const py::object names = owned(PyType_GetDict(reinterpret_cast<PyTypeObject*>(PyTuple_GET_ITEM(classes, i))));
    // The class goes on holding it.
    if (PyObject* const found = PyDict_GetItemWithError(names.ptr(), attribute.ptr()); found != nullptr) {
      return found;
    }
  }
  return nullptr;
}

void PatchSite::store(const py::object& value) {
  if (PyModule_CheckExact(owner.ptr()) != 0) {
    check(PyDict_SetItem(PyModule_GetDict(owner.ptr()), attribute.ptr(), value.ptr()));
  } else {
    check(PyObject_SetAttr(owner.ptr(), attribute.ptr(), value.ptr()));
  }
}

void PatchSite::set_current(py::object function) {
  if (cell_) {
    check(PyCell_Set(cell_.ptr(), function.ptr()));
  }
  current_ = std::move(function);
}

void PatchSite::add(const py::object& layer, py::object function) {
  layers_.push_back(layer);
  set_current(std::move(function));
}

void PatchSite::remove(const py::object& layer, py::object function) {
  const auto at = std::ranges::find_if(layers_, [&](const py::object& each) { return each.is(layer); });
  if (at == layers_.end()) {
    throw py::value_error("the layer is not on this site");
  }
  layers_.erase(at);
  set_current(std::move(function));
}

bool PatchSite::can_put_on(const py::object& layer) const {
  if (layers_.empty()) {
    // Another site of the same attribute may have layers although the program has put the original back.
    return held() == original.ptr() && PyDict_GetItemWithError(sites_.ptr(), key_.ptr()) == nullptr &&
           PyErr_Occurred() == nullptr && find(layer.ptr(), nullptr) != nullptr;
  }
  return held() == installed.ptr() && find(layer.ptr(), nullptr) != nullptr;
}

bool PatchSite::can_take_off(const py::object& layer) const {
  const bool is_here = std::ranges::any_of(layers_, [&](const py::object& each) { return each.is(layer); });
  return is_here && held() == installed.ptr() && (layers_.size() == 1 || find(nullptr, layer.ptr()) != nullptr);
}

void PatchSite::put_on(const py::object& self, const py::object& layer) {
  // Copied: what is dropped when something else is stored may be the last of the program's.
  const Stack stack = *find(layer.ptr(), nullptr);
  if (layers_.empty()) {
    marked = modules_mark();
    check(PyDict_SetItem(sites_.ptr(), key_.ptr(), self.ptr()));
  }
  if (layers_.empty() || !cell_) {
    store(stack.stored);
    installed = stack.stored;
  }
  add(layer, stack.function);
}

void PatchSite::take_off(const py::object& layer) {
  if (layers_.size() > 1) {
    const Stack stack = *find(nullptr, layer.ptr());
    remove(layer, stack.function);
    if (!cell_) {
      store(stack.stored);
      installed = stack.stored;
    }
    return;
  }
  remove(layer, function_);
  if (is_own) {
    store(original);
  } else {
    check(PyObject_DelAttr(owner.ptr(), attribute.ptr()));
  }
  check(PyDict_DelItem(sites_.ptr(), key_.ptr()));
}

int PatchSite::traverse(visitproc visit, void* argument) const {
  const auto see = [&](const py::handle object) { return object.ptr() == nullptr ? 0 : visit(object.ptr(), argument); };
  for (const py::handle object : {py::handle(owner), py::handle(original), py::handle(installed), py::handle(function_),
                                  py::handle(current_), py::handle(cell_), py::handle(sites_), py::handle(key_)}) {
    if (const int stop = see(object); stop != 0) {
      return stop;
    }
  }
  for (const py::object& layer : layers_) {
    if (const int stop = see(layer); stop != 0) {
      return stop;
    }
  }
  for (const Stack& stack : stacks_) {
    for (const py::object& layer : stack.layers) {
      if (const int stop = see(layer); stop != 0) {
        return stop;
      }
    }
    if (const int stop = see(stack.function); stop != 0) {
      return stop;
    }
    if (const int stop = see(stack.stored); stop != 0) {
      return stop;
    }
  }
  return 0;
}

void PatchSite::clear() {
  const Layers layers = std::exchange(layers_, {});
  const std::vector<Stack> stacks = std::exchange(stacks_, {});
  for (py::object* held : {&owner, &original, &installed, &function_, &current_}) {
    const py::object dropped = std::exchange(*held, py::none());
  }
  const py::object cell = std::exchange(cell_, py::object());
}

}  // namespace ordeal::bindings
