// Detects whether a random generator was used, at a hundredth of the cost of reading its state.
#pragma once

#include <cstddef>
#include <vector>

#include "bindings/bindings.h"

namespace ordeal::bindings {

// Watches the memory of an object as an instance of one C type, known only by its size. For types whose whole
// state is there; changes behind a pointer would not show. For one thread at a time.
class StateWatch {
 public:
  // ConfigError unless `object` is an instance of `type`, a class made in C.
  StateWatch(py::object object, const py::type& type);

  // Takes the present state as the one to compare with.
  void keep();
  [[nodiscard]] bool unchanged() const noexcept;

 private:
  [[nodiscard]] const unsigned char* state() const noexcept;

  py::object object_;
  std::size_t size_;
  std::vector<unsigned char> kept_;
};

}  // namespace ordeal::bindings
