// PatchSite: an attribute on which faults are put in layers, with what is put there for each stack of layers.
//
// The attribute holds its own object whenever no fault is on it, so a program never sees that a fault is off. What
// stands there otherwise is made once, and switching a fault is an assignment.
#pragma once

#include <vector>

#include "bindings/bindings.h"

namespace ordeal::bindings {

// For the thread that runs the rules. Python makes what is put in place, and takes over if an attribute is not as it
// was left.
class PatchSite {
 public:
  // Stacks that are remembered: those of four faults on one attribute, in all orders of being switched on.
  static constexpr std::size_t kStacksMax = 64;

  // `sites` has the sites on which a layer is, by `key`.
  PatchSite(py::object holder, py::object name, py::object found, bool holds_it, py::dict sites, py::object key);

  // What is called: the function below all layers, or what they make of it.
  [[nodiscard]] const py::object& current() const noexcept { return current_; }
  void set_function(py::object function);
  // What the attribute holds while there are layers. Calls of it reach what `cell` holds; with none, each stack of
  // layers has its own object for the attribute.
  void set_dispatcher(py::object stored, py::object cell);

  [[nodiscard]] py::list layers() const;
  [[nodiscard]] py::object known(const py::list& layers) const;
  void remember(const py::list& layers, py::object function, py::object stored);
  // Forgets all that the layer has made.
  void forget(const py::object& layer);

  // For Python, which puts the object in place itself.
  void add(const py::object& layer, py::object function);
  void remove(const py::object& layer, py::object function);

  // Whether the attribute can be read and set without running code of the program.
  [[nodiscard]] bool is_direct() const;
  // Whether the layer can be put on, or taken off, without Python: what that takes is known, and the attribute holds
  // what it should.
  [[nodiscard]] bool can_put_on(const py::object& layer) const;
  [[nodiscard]] bool can_take_off(const py::object& layer) const;
  void put_on(const py::object& self, const py::object& layer);
  void take_off(const py::object& layer);

  int traverse(visitproc visit, void* argument) const;
  void clear();

  py::object owner;
  py::object attribute;
  py::object original;                // what the attribute holds without layers
  py::object installed = py::none();  // what it holds now, or held last
  py::object marked = py::none();     // the mark of the modules when the first layer was put on
  bool is_own;                        // whether the owner itself holds it, and not a class that it inherits from

 private:
  using Layers = std::vector<py::object>;

  struct Stack {
    Layers layers;
    py::object function;
    py::object stored;
  };

  [[nodiscard]] Stack* find(PyObject* added, PyObject* removed) const;
  [[nodiscard]] PyObject* held() const;
  void store(const py::object& value);
  void set_current(py::object function);

  py::object function_;
  py::object current_;
  py::object cell_;
  py::dict sites_;
  py::object key_;
  Layers layers_;  // the last one is called first
  mutable std::vector<Stack> stacks_;
};

}  // namespace ordeal::bindings
