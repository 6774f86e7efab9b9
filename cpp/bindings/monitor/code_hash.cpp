// Hashes the contents of a code object.
#include "bindings/monitor/code_hash.h"

#include <string_view>

#include "core/coverage/edge.h"

namespace ordeal::bindings {
namespace {

std::string_view bytes_of(PyObject* bytes) {
  return {PyBytes_AS_STRING(bytes), static_cast<std::size_t>(PyBytes_GET_SIZE(bytes))};
}

std::uint64_t hash_constant(PyObject* constant);

std::uint64_t hash_tuple(PyObject* tuple) {
  std::uint64_t key = 0;
  for (Py_ssize_t place = 0; place < PyTuple_GET_SIZE(tuple); ++place) {
    key = combine_keys(key, hash_constant(PyTuple_GET_ITEM(tuple, place)));
  }
  return key;
}

// A sum, because the order in which a frozenset is iterated depends on the hash seed of the process.
std::uint64_t hash_frozenset(PyObject* set) {
  std::uint64_t key = 0;
  for (const py::handle member : py::reinterpret_borrow<py::frozenset>(set)) {
    key += hash_constant(member.ptr());
  }
  return key;
}

// The constants that the compiler can fold: numbers, strings, bytes, None, Ellipsis, tuples, frozensets, slices, code.
std::uint64_t hash_constant(PyObject* constant) {
  const std::uint64_t type = hash_bytes(Py_TYPE(constant)->tp_name);
  if (PyCode_Check(constant)) {
    // A nested function has its own key; here its name is enough, and its repr would contain an address.
    return combine_keys(type, hash_bytes(utf8(reinterpret_cast<PyCodeObject*>(constant)->co_qualname)));
  }
  if (PyTuple_CheckExact(constant)) {
    return combine_keys(type, hash_tuple(constant));
  }
  if (PyFrozenSet_CheckExact(constant)) {
    return combine_keys(type, hash_frozenset(constant));
  }
  if (PyLong_CheckExact(constant)) {
    // Hexadecimal: Python refuses to print very long integers in decimal.
    const auto digits = py::reinterpret_steal<py::object>(PyNumber_ToBase(constant, 16));
    return combine_keys(type, hash_bytes(digits ? utf8(digits.ptr()) : throw py::error_already_set()));
  }
  const auto shown = py::reinterpret_steal<py::object>(PyObject_ASCII(constant));
  return combine_keys(type, hash_bytes(shown ? utf8(shown.ptr()) : throw py::error_already_set()));
}

}  // namespace

std::string_view utf8(PyObject* text) {
  Py_ssize_t size = 0;
  const char* const bytes = PyUnicode_AsUTF8AndSize(text, &size);
  if (bytes == nullptr) {
    throw py::error_already_set();
  }
  return {bytes, static_cast<std::size_t>(size)};
}

std::uint64_t hash_code_body(PyCodeObject* code) {
  const auto instructions = py::reinterpret_steal<py::object>(PyCode_GetCode(code));
  if (!instructions) {
    throw py::error_already_set();
  }
  std::uint64_t key = hash_bytes(bytes_of(instructions.ptr()));
  key = combine_keys(key, hash_bytes(bytes_of(code->co_linetable)));
  key = combine_keys(key, hash_tuple(code->co_names));
  return combine_keys(key, hash_tuple(code->co_consts));
}

}  // namespace ordeal::bindings
