// The two types behind a loop over all cases: the one that makes choices for a test, and the iterator that ends cases.
//
// Plain C types, so that a choice costs only a C call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "bindings/bindings.h"
#include "core/draw/odometer.h"

namespace ordeal::bindings {

// Where choices were made: code objects, numbered when first met, and offsets in them. Keeps the code objects alive.
// For one thread at a time.
class Sites {
 public:
  // The site of the running Python frame, or of the one that many calls further out; 0 if there is none.
  std::uint64_t outside(int frames);
  // The file and the line, or None.
  [[nodiscard]] py::object place(std::uint64_t site) const;

 private:
  std::uint64_t number(const py::object& code);

  std::vector<py::object> codes_;
  std::size_t newest_ = 0;
};

// An odometer that records where its choices were made. For one thread at a time.
struct Counter {
  Odometer odometer;
  Sites sites;
  std::uint64_t spoken_for = 0;  // the site of a call that makes choices for the test, or 0

  std::uint64_t site_now() { return spoken_for != 0 ? spoken_for : sites.outside(0); }
};

void add_choices(py::module_& m);

}  // namespace ordeal::bindings
