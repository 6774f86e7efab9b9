// The two types behind a loop over all cases: what a test makes its choices with, and the iterator that ends each case.
//
// They are plain C types, because a choice is to cost no more than a C call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bindings/bindings.h"
#include "core/draw/odometer.h"

namespace ordeal::bindings {

// Where choices were made: code objects, numbered as they are met, and offsets in them. Keeps the code objects alive.
// Guarded by the GIL.
class Sites {
 public:
  // Of the Python frame that runs now, or of the one that many calls further out; 0 means that there is none.
  std::uint64_t outside(int frames);
  // The file and the line, or None.
  [[nodiscard]] py::object place(std::uint64_t site) const;

 private:
  std::uint64_t number(const py::object& code);

  std::vector<py::object> codes_;
  std::size_t newest_ = 0;
};

// An odometer that knows where its choices were made. Guarded by the GIL.
struct Counter {
  Odometer odometer;
  Sites sites;
  std::uint64_t spoken_for = 0;  // the site of a call that makes choices for the test; 0 while none does

  std::uint64_t site_now() { return spoken_for != 0 ? spoken_for : sites.outside(0); }
};

void add_choices(py::module_& m);

}  // namespace ordeal::bindings
