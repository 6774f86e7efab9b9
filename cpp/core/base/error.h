// What a caller of the core can do wrong. Each message says the value and the allowed range.
//
// Mistakes of ours are no errors: they break a check (check.h). So whoever catches an Error may show its text to the
// user and go on.
#pragma once

#include <stdexcept>

namespace ordeal {

class Error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// An option outside its range.
class ConfigError : public Error {
 public:
  using Error::Error;
};

// A tape or trace that cannot be read or does not fit the machine.
class TraceError : public Error {
 public:
  using Error::Error;
};

}  // namespace ordeal
