// The memory of a Python object, for objects placed in it.
#pragma once

#include <cstddef>
#include <span>

#include "bindings/bindings.h"

namespace ordeal::bindings {

// While this lives, the object keeps its memory in place. For one thread at a time.
class LentMemory {
 public:
  LentMemory(const py::object& lender, int flags) {
    if (PyObject_GetBuffer(lender.ptr(), &buffer_, flags) != 0) {
      throw py::error_already_set();
    }
  }
  LentMemory(const LentMemory&) = delete;
  LentMemory& operator=(const LentMemory&) = delete;
  ~LentMemory() { PyBuffer_Release(&buffer_); }

  [[nodiscard]] std::span<std::byte> bytes() const noexcept {
    return {static_cast<std::byte*>(buffer_.buf), static_cast<std::size_t>(buffer_.len)};
  }

 private:
  Py_buffer buffer_{};
};

}  // namespace ordeal::bindings
