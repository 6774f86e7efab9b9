#include "bindings/casts/choice_cast.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

namespace ordeal::bindings {
namespace {

py::object int_from_blob(const std::string& blob) {
#if PY_VERSION_HEX >= 0x030D0000
  PyObject* const number = PyLong_FromNativeBytes(blob.data(), blob.size(), Py_ASNATIVEBYTES_LITTLE_ENDIAN);
#else
  PyObject* const number = _PyLong_FromByteArray(reinterpret_cast<const unsigned char*>(blob.data()), blob.size(),
                                                 /*little_endian=*/1, /*is_signed=*/1);
#endif
  if (number == nullptr) {
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::object>(number);
}

py::object text_to_python(const std::string& blob) {
  PyObject* text = PyUnicode_DecodeUTF8(blob.data(), static_cast<Py_ssize_t>(blob.size()), "surrogatepass");
  if (text == nullptr) {
    throw py::error_already_set();
  }
  return py::reinterpret_steal<py::object>(text);
}

std::string text_from_python(py::handle value) {
  const auto encoded =
      py::reinterpret_steal<py::bytes>(PyUnicode_AsEncodedString(value.ptr(), "utf-8", "surrogatepass"));
  if (!encoded) {
    throw py::error_already_set();
  }
  return std::string(encoded);
}

}  // namespace

py::object choice_to_python(const Choice& choice) {
  switch (choice.kind) {
    case ChoiceKind::kBoolean:
      return py::bool_(choice.number != 0);
    case ChoiceKind::kInteger:
      return choice.is_big() ? int_from_blob(choice.blob()) : py::object(py::int_(choice.number));
    case ChoiceKind::kFloat:
      return py::float_(choice.as_real());
    case ChoiceKind::kString:
      return text_to_python(choice.blob());
    case ChoiceKind::kBytes:
      return py::bytes(choice.blob());
  }
  return py::none();
}

Choice big_integer_from_python(py::handle value) {
  const auto bits = value.attr("bit_length")().cast<std::size_t>();
  const std::size_t size = std::max<std::size_t>(9, bits / 8 + 1);
  auto bytes = value.attr("to_bytes")(size, "little", py::arg("signed") = true).cast<std::string>();
  // A negative power of two has room in one byte less. The core writes each integer in the shortest way, and two ways
  // of writing one would be two choices.
  if (bytes.size() > 9 && bytes.back() == '\xff' && (bytes[bytes.size() - 2] & 0x80) != 0) {
    bytes.pop_back();
  }
  return Choice::big_integer(std::move(bytes));
}

Choice choice_from_python(py::handle value) {
  PyObject* object = value.ptr();
  if (PyBool_Check(object)) {
    return Choice::boolean(object == Py_True);
  }
  if (PyLong_Check(object)) {
    int overflow = 0;
    const long long number = PyLong_AsLongLongAndOverflow(object, &overflow);
    if (overflow != 0) {
      return big_integer_from_python(value);
    }
    return Choice::integer(number);
  }
  if (PyFloat_Check(object)) {
    return Choice::real(PyFloat_AS_DOUBLE(object));
  }
  if (PyUnicode_Check(object)) {
    return Choice::text(text_from_python(value));
  }
  if (PyBytes_Check(object)) {
    return Choice::bytes(value.cast<std::string>());
  }
  throw py::type_error("a choice is a bool, int, float, str or bytes, got " +
                       std::string(py::str(py::type::of(value).attr("__name__"))));
}

Wide wide_from_python(py::handle value) {
  const std::optional<Wide> wide = wide_of(choice_from_python(value));
  if (!wide) {
    throw py::value_error("an integer of more than 128 bits");
  }
  return *wide;
}

}  // namespace ordeal::bindings
