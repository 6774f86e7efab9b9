// Tells whether a random generator was used, at a hundredth of the price of asking for its state.
#pragma once

#include <cstddef>
#include <vector>

#include "bindings/bindings.h"

namespace ordeal::bindings {

// Watches the memory that an object has as an instance of one C type, of which it knows nothing but the size. For types
// whose state is all in there; a pointer there would not show what changes behind it. Guarded by the GIL.
class StateWatch {
 public:
  // ConfigError unless `object` is an instance of `type`, a class made in C.
  StateWatch(py::object object, const py::type& type);

  // From here on the state is the one to compare with.
  void keep();
  [[nodiscard]] bool unchanged() const noexcept;

 private:
  [[nodiscard]] const unsigned char* state() const noexcept;

  py::object object_;
  std::size_t size_;
  std::vector<unsigned char> kept_;
};

}  // namespace ordeal::bindings
