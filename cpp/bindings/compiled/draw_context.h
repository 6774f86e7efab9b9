// A run as compiled strategies see it: the source of choices, the machine, and how much of Hypothesis' buffer is used.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "bindings/bindings.h"
#include "core/draw/choice_source.h"

namespace ordeal::bindings {

// A run overruns when its choices take more than this, Hypothesis' BUFFER_SIZE.
inline constexpr std::int64_t kBufferLengthMax = 8192;

// Hypothesis rejects a draw that nests this many spans deep.
inline constexpr int kSpansMax = 100;
// The most spans around an argument when Hypothesis' own loop draws it, or a lowered run, in any supported version:
// those of the step, the choice of the rule, and the rule with its arguments. The Explorer rejects deeper nesting too.
inline constexpr int kSpansOfArgument = 10;

// For one thread at a time. Functions that return false or null have set a Python exception.
//
// The length of the run is counted here until Hypothesis' data object is made. After that it is stored there, where
// Python code sees it, and compiled strategies count on a copy: read when first needed after take_length(), and written
// by give_length().
class DrawContext {
 public:
  DrawContext() = default;
  DrawContext(const DrawContext&) = delete;
  DrawContext& operator=(const DrawContext&) = delete;
  ~DrawContext() { end(); }

  // `context` is the RunContext: its attributes `data` and `machine` and its method `follow` are used, each only when
  // needed. Null is a run without Hypothesis, where nothing overruns. `source` must live until end(); `keeps`, if any,
  // is its owner.
  void begin(ChoiceSource& source, PyObject* context, PyObject* keeps = nullptr) noexcept;
  // Releases all references; no compiled strategy may draw afterwards.
  void end() noexcept;
  [[nodiscard]] bool is_open() const noexcept { return source_ != nullptr; }
  // For objects that may outlive the run: points to null once the run has ended.
  const std::shared_ptr<DrawContext*>& link();

  [[nodiscard]] ChoiceSource& source() noexcept { return *source_; }
  // Borrowed. Hypothesis' data object of the run, made if needed; null without Hypothesis or with an exception.
  PyObject* data() noexcept;
  // Sets the data object, which has the length of the run.
  void set_data(PyObject* data) noexcept { Py_XSETREF(data_, Py_NewRef(data)); }
  // Borrowed; None before the machine exists.
  PyObject* machine() noexcept;
  // Forgets the cached machine: the run continues with another.
  void machine_changed() noexcept { Py_CLEAR(machine_); }
  [[nodiscard]] PyObject* context() const noexcept { return context_; }

  // Call before Python code that may read the length, or draw.
  bool give_length() noexcept { return !length_is_new_ || write_length(); }
  // After Python code that may have drawn.
  void take_length() noexcept { length_known_ = data_ == nullptr; }
  // Before a draw that Python code requests: it may have drawn directly since, unless a compiled strategy calls it.
  void enter_body() noexcept {
    if (!length_is_new_) {
      take_length();
    }
  }
  // Whether this run is open and has this data object.
  [[nodiscard]] bool is_of(PyObject* data) const noexcept { return is_open() && data_ == data; }
  // For the garbage collector.
  [[nodiscard]] int traverse(visitproc visit, void* argument) const;
  bool set_length(std::int64_t length) noexcept {
    length_ = length;
    length_known_ = true;
    return write_length();
  }
  // Reads it if needed; -1 with an exception.
  std::int64_t length() noexcept { return length_known_ || read_length() ? length_ : -1; }

  // Call around a choice, drawn or forced: Hypothesis makes none when the buffer is full, and one that overfills it is
  // the last.
  bool may_choose() noexcept {
    return !counts_ || ((length_known_ || read_length()) && (length_ != kBufferLengthMax || overrun()));
  }
  bool count(std::size_t size) noexcept {
    if (!counts_) {
      return true;
    }
    if (length_ + static_cast<std::int64_t>(size) > kBufferLengthMax && !overrun()) [[unlikely]] {
      return false;
    }
    length_ += static_cast<std::int64_t>(size);
    length_is_new_ = true;
    return true;
  }
  // Sets whether choices take room in the buffer. Arguments that are one plain choice do not.
  bool set_counts(bool counts) noexcept {
    const bool before = counts_;
    counts_ = counts;
    return before;
  }

  // Ends the run as one that cannot be satisfied; always null.
  PyObject* reject(const char* why) noexcept;
  // Draws a value from `strategy` through Hypothesis, as if `depth` spans were open around it.
  PyObject* draw_through_hypothesis(PyObject* strategy, int depth) noexcept;

  // How many spans of Hypothesis were open where the current compiled strategy began.
  [[nodiscard]] int depth() const noexcept { return depth_; }
  void set_depth(int depth) noexcept { depth_ = depth; }

 private:
  bool read_length() noexcept;
  bool write_length() noexcept;
  bool overrun() noexcept;

  ChoiceSource* source_ = nullptr;
  std::shared_ptr<DrawContext*> link_;
  PyObject* keeps_ = nullptr;
  PyObject* context_ = nullptr;
  PyObject* data_ = nullptr;
  PyObject* machine_ = nullptr;
  std::int64_t length_ = 0;
  int depth_ = kSpansOfArgument;
  bool length_known_ = true;
  bool length_is_new_ = false;
  bool counts_ = true;
};

// Draws an integer as Hypothesis draws an index, a part of a time or the like; nothing with an exception. An index into
// a large collection is uniform; otherwise `toward` is the simplest value.
std::optional<std::int64_t> choose(DrawContext& run, std::int64_t low, std::int64_t high, std::int64_t toward);

// The size of a choice in Hypothesis' buffer.
inline constexpr std::size_t kBooleanSize = 1;
inline constexpr std::size_t kFloatSize = 9;
std::size_t integer_size(std::int64_t value) noexcept;
std::size_t sized(std::size_t payload) noexcept;

}  // namespace ordeal::bindings
