// Errors of the core's callers. Each message names the value and the allowed range.
//
// Mistakes of ours are not errors: they break a check (check.h). So code that catches an Error may show its text to the
// user and continue.
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
