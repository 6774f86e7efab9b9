#include "bindings/compiled/collection_nodes.h"

#include <algorithm>
#include <array>
#include <optional>

namespace ordeal::bindings {
namespace {

constexpr const char* kNoMoreElements = "Aborted test because unable to satisfy the elements of a unique collection";

// One collection being drawn. If a function returns nothing or false, an exception is set.
class Growth {
 public:
  Growth(DrawContext& run, const SizeRange& sizes) noexcept : run_(run), sizes_(sizes) {}

  // Whether another element follows. The choice of it and the element are a span.
  std::optional<bool> more() {
    if (begin_) {
      run_.source().end_span(*begin_);
    }
    begin_ = run_.source().tape().choice_count();
    if (sizes_.low == sizes_.high) {
      if (count_ >= sizes_.low) {
        return false;
      }
      ++count_;
      return true;
    }
    if (!run_.may_choose()) {
      return std::nullopt;
    }
    // A certain outcome is a choice too, but nothing is drawn for it.
    bool goes_on = !ends_ && count_ < sizes_.low;
    if (!ends_ && count_ >= sizes_.low && count_ < sizes_.high) {
      goes_on = run_.source().boolean(sizes_.p_continue);
    }
    if (!run_.count(kBooleanSize)) {
      return std::nullopt;
    }
    count_ += goes_on ? 1 : 0;
    return goes_on;
  }

  // The last element does not count.
  bool reject() {
    constexpr std::int64_t kRejectionsMin = 3;
    --count_;
    if (++rejections_ > std::max(kRejectionsMin, 2 * count_)) {
      if (count_ < sizes_.low) {
        run_.reject(kNoMoreElements);
        return false;
      }
      ends_ = true;
    }
    return true;
  }

  // There is nothing left to take elements from.
  bool end() {
    ends_ = true;
    if (count_ < sizes_.low) {
      run_.reject(kNoMoreElements);
      return false;
    }
    return sizes_.low == sizes_.high || (run_.may_choose() && run_.count(kBooleanSize));
  }

 private:
  DrawContext& run_;
  const SizeRange& sizes_;
  std::optional<std::size_t> begin_;  // of the present element
  std::int64_t count_ = 0;
  std::int64_t rejections_ = 0;
  bool ends_ = false;
};

// Takes ownership of `item`, which may be null.
bool append(const py::object& list, PyObject* item) noexcept {
  if (item == nullptr) {
    return false;
  }
  const int failed = PyList_Append(list.ptr(), item);
  Py_DECREF(item);
  return failed == 0;
}

py::object new_list() { return py::reinterpret_steal<py::object>(PyList_New(0)); }

// Owns the elements of a list while they are drawn; a few need no allocation.
class Elements {
 public:
  Elements() = default;
  Elements(const Elements&) = delete;
  Elements& operator=(const Elements&) = delete;
  ~Elements() {
    for (std::size_t i = 0; i < few_count_; ++i) {
      Py_DECREF(few_[i]);
    }
    for (PyObject* const element : others_) {
      Py_DECREF(element);
    }
  }

  void add(PyObject* element) {
    if (few_count_ < few_.size()) {
      few_[few_count_++] = element;
    } else {
      others_.push_back(element);
    }
  }

  PyObject* to_list() noexcept {
    PyObject* const list = PyList_New(static_cast<Py_ssize_t>(few_count_ + others_.size()));
    if (list != nullptr) {
      Py_ssize_t place = 0;
      for (std::size_t i = 0; i < few_count_; ++i) {
        PyList_SET_ITEM(list, place++, few_[i]);
      }
      for (PyObject* const element : others_) {
        PyList_SET_ITEM(list, place++, element);
      }
      few_count_ = 0;
      others_.clear();
    }
    return list;
  }

 private:
  std::array<PyObject*, 16> few_{};
  std::size_t few_count_ = 0;
  std::vector<PyObject*> others_;
};

class List final : public StrategyNode {
 public:
  List(StrategyNodePtr element, const SizeRange& sizes) noexcept : element_(std::move(element)), sizes_(sizes) {}

  PyObject* draw_value(DrawContext& run) const override {
    Growth growth(run, sizes_);
    Elements elements;
    std::optional<bool> more;
    while ((more = growth.more()).value_or(false)) {
      PyObject* const element = element_->draw(run);
      if (element == nullptr) {
        return nullptr;
      }
      elements.add(element);
    }
    return more ? elements.to_list() : nullptr;
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(element_); }

 private:
  StrategyNodePtr element_;
  SizeRange sizes_;
};

// The keys of the elements in a list. A key is computed again when it is kept, as in Hypothesis.
class SeenKeys {
 public:
  explicit SeenKeys(const std::vector<py::object>& keys) : keys_(keys) {
    for (std::size_t i = 0; i < keys.size(); ++i) {
      seen_.push_back(py::reinterpret_steal<py::object>(PySet_New(nullptr)));
    }
  }

  // 1 if no key of the value was seen, 0 if one was, -1 with an exception.
  int is_new(PyObject* value) {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const py::object key = key_of(i, value);
      const int known = key ? PySet_Contains(seen_[i].ptr(), key.ptr()) : -1;
      if (known != 0) {
        return known > 0 ? 0 : -1;
      }
    }
    return 1;
  }

  bool add(PyObject* value) {
    for (std::size_t i = 0; i < keys_.size(); ++i) {
      const py::object key = key_of(i, value);
      if (!key || PySet_Add(seen_[i].ptr(), key.ptr()) != 0) {
        return false;
      }
    }
    return true;
  }

 private:
  [[nodiscard]] py::object key_of(std::size_t i, PyObject* value) const {
    return py::reinterpret_steal<py::object>(keys_[i] ? PyObject_CallOneArg(keys_[i].ptr(), value) : Py_NewRef(value));
  }

  const std::vector<py::object>& keys_;
  std::vector<py::object> seen_;
};

// (first, *suffix), or `first` alone without a suffix. Takes ownership of `first`.
PyObject* with_suffix(DrawContext& run, PyObject* first, const StrategyNodePtr& suffix) {
  if (suffix == nullptr) {
    return first;
  }
  const auto owned = py::reinterpret_steal<py::object>(first);
  const auto rest = py::reinterpret_steal<py::object>(suffix->draw(run));
  if (!rest) {
    return nullptr;
  }
  const Py_ssize_t size = PyTuple_GET_SIZE(rest.ptr());
  PyObject* const whole = PyTuple_New(size + 1);
  if (whole != nullptr) {
    PyTuple_SET_ITEM(whole, 0, Py_NewRef(first));
    for (Py_ssize_t i = 0; i < size; ++i) {
      PyTuple_SET_ITEM(whole, i + 1, Py_NewRef(PyTuple_GET_ITEM(rest.ptr(), i)));
    }
  }
  return whole;
}

class UniqueList final : public StrategyNode {
 public:
  UniqueList(StrategyNodePtr element, std::vector<py::object> conditions, const SizeRange& sizes,
             Uniqueness uniqueness) noexcept
      : element_(std::move(element)),
        conditions_(std::move(conditions)),
        sizes_(sizes),
        uniqueness_(std::move(uniqueness)) {}

  PyObject* draw_value(DrawContext& run) const override {
    Growth growth(run, sizes_);
    SeenKeys seen(uniqueness_.keys);
    py::object list = new_list();
    std::optional<bool> more;
    while ((more = growth.more()).value_or(false)) {
      bool found = false;
      PyObject* const value = draw_new(run, seen, found);
      if (value == nullptr) {
        if (found || !growth.reject()) {
          return nullptr;
        }
        continue;
      }
      if (!seen.add(value)) {
        Py_DECREF(value);
        return nullptr;
      }
      if (!append(list, with_suffix(run, value, uniqueness_.suffix))) {
        return nullptr;
      }
    }
    return more ? list.release().ptr() : nullptr;
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(element_, conditions_, uniqueness_); }

 private:
  // Null and `found`: an exception is set. Null and not `found`: three tries found none.
  PyObject* draw_new(DrawContext& run, SeenKeys& seen, bool& found) const {
    found = true;
    for (int i = 0; i < kFilterTries; ++i) {
      PyObject* const value = element_->draw(run);
      if (value == nullptr) {
        return nullptr;
      }
      const int fits = is_allowed(value, seen);
      if (fits == 1) {
        return value;
      }
      Py_DECREF(value);
      if (fits < 0) {
        return nullptr;
      }
    }
    found = false;
    return nullptr;
  }

  int is_allowed(PyObject* value, SeenKeys& seen) const {
    for (const py::object& condition : conditions_) {
      const auto answer = py::reinterpret_steal<py::object>(PyObject_CallOneArg(condition.ptr(), value));
      const int is_true = answer ? PyObject_IsTrue(answer.ptr()) : -1;
      if (is_true != 1) {
        return is_true;
      }
    }
    return seen.is_new(value);
  }

  StrategyNodePtr element_;
  std::vector<py::object> conditions_;
  SizeRange sizes_;
  Uniqueness uniqueness_;
};

class UniqueSample final : public StrategyNode {
 public:
  UniqueSample(py::object elements, Transformations transformations, const SizeRange& sizes, Uniqueness uniqueness,
               bool forces_end) noexcept
      : elements_(std::move(elements)),
        transformations_(std::move(transformations)),
        sizes_(sizes),
        uniqueness_(std::move(uniqueness)),
        forces_end_(forces_end) {}

  PyObject* draw_value(DrawContext& run) const override {
    Growth growth(run, sizes_);
    SeenKeys seen(uniqueness_.keys);
    py::object list = new_list();
    const auto left = py::reinterpret_steal<py::object>(PySequence_List(elements_.ptr()));
    if (!left) {
      return nullptr;
    }
    std::optional<bool> more;
    while (PyList_GET_SIZE(left.ptr()) > 0) {
      more = growth.more();
      if (!more) {
        return nullptr;
      }
      if (!*more) {
        return list.release().ptr();
      }
      const auto index = draw_index(run, PyList_GET_SIZE(left.ptr()));
      if (!index) {
        return nullptr;
      }
      PyObject* value = Py_NewRef(PyList_GET_ITEM(left.ptr(), *index));
      PyList_SetSlice(left.ptr(), *index, *index + 1, nullptr);
      const Outcome outcome = transformations_.apply(value);
      if (outcome == Outcome::kError) {
        return nullptr;
      }
      const auto owned = py::reinterpret_steal<py::object>(value);
      const int is_new = owned ? seen.is_new(value) : 0;
      if (is_new < 0 || (is_new == 0 && !growth.reject())) {
        return nullptr;
      }
      if (is_new == 1 && (!seen.add(value) || !append(list, with_suffix(run, Py_NewRef(value), uniqueness_.suffix)))) {
        return nullptr;
      }
    }
    return !forces_end_ || growth.end() ? list.release().ptr() : nullptr;
  }
  [[nodiscard]] int traverse(const Visitor& see) const override {
    return see.all(elements_, transformations_, uniqueness_);
  }

 private:
  py::object elements_;
  Transformations transformations_;
  SizeRange sizes_;
  Uniqueness uniqueness_;
  bool forces_end_;
};

class Tuple final : public StrategyNode {
 public:
  explicit Tuple(std::vector<StrategyNodePtr> elements) noexcept : elements_(std::move(elements)) {}

  PyObject* draw_value(DrawContext& run) const override {
    auto tuple = py::reinterpret_steal<py::object>(PyTuple_New(static_cast<Py_ssize_t>(elements_.size())));
    for (std::size_t i = 0; i < elements_.size(); ++i) {
      PyObject* const value = elements_[i]->draw(run);
      if (value == nullptr) {
        return nullptr;
      }
      PyTuple_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), value);
    }
    return tuple.release().ptr();
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(elements_); }

 private:
  std::vector<StrategyNodePtr> elements_;
};

// As Hypothesis fills an array: a place that has a value is rejected before another value is drawn for it.
class Sparse final : public StrategyNode {
 public:
  Sparse(StrategyNodePtr element, StrategyNodePtr fill, std::int64_t size, const SizeRange& sizes) noexcept
      : element_(std::move(element)), fill_(std::move(fill)), size_(size), sizes_(sizes) {}

  PyObject* draw_value(DrawContext& run) const override {
    Growth growth(run, sizes_);
    std::vector<bool> is_taken(static_cast<std::size_t>(size_));
    const py::object places = new_list();
    const py::object values = new_list();
    std::optional<bool> more;
    while ((more = growth.more()).value_or(false)) {
      const auto place = choose(run, 0, size_ - 1, 0);
      if (!place) {
        return nullptr;
      }
      const auto at = static_cast<std::size_t>(*place);
      if (is_taken[at]) {
        if (!growth.reject()) {
          return nullptr;
        }
        continue;
      }
      if (!append(values, element_->draw(run)) || !append(places, PyLong_FromLongLong(*place))) {
        return nullptr;
      }
      is_taken[at] = true;
    }
    if (!more) {
      return nullptr;
    }
    if (PyList_GET_SIZE(places.ptr()) == size_) {
      return PyTuple_Pack(2, places.ptr(), values.ptr());
    }
    const auto fill = py::reinterpret_steal<py::object>(fill_->draw(run));
    return fill ? PyTuple_Pack(3, places.ptr(), values.ptr(), fill.ptr()) : nullptr;
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(element_, fill_); }

 private:
  StrategyNodePtr element_;
  StrategyNodePtr fill_;
  std::int64_t size_;
  SizeRange sizes_;
};

// Swaps each item with itself or a later one: drawing only zeros keeps the order.
template <typename Item>
bool shuffle(DrawContext& run, std::vector<Item>& items) {
  const auto last = static_cast<std::int64_t>(items.size()) - 1;
  for (std::int64_t i = 0; i < last; ++i) {
    const auto j = choose(run, i, last, 0);
    if (!j) {
      return false;
    }
    std::swap(items[static_cast<std::size_t>(i)], items[static_cast<std::size_t>(*j)]);
  }
  return true;
}

class Permutation final : public StrategyNode {
 public:
  explicit Permutation(py::object elements) noexcept : elements_(std::move(elements)) {}

  PyObject* draw_value(DrawContext& run) const override {
    std::vector<py::object> items;
    for (const py::handle item : elements_) {
      items.push_back(py::reinterpret_borrow<py::object>(item));
    }
    if (!shuffle(run, items)) {
      return nullptr;
    }
    py::list list(items.size());
    for (std::size_t i = 0; i < items.size(); ++i) {
      list[i] = items[i];
    }
    return list.release().ptr();
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(elements_); }

 private:
  py::object elements_;
};

class FixedDictionary final : public StrategyNode {
 public:
  FixedDictionary(py::object make, std::vector<KeyedNode> required, std::vector<KeyedNode> optional,
                  const SizeRange& optional_sizes, bool shuffles) noexcept
      : make_(std::move(make)),
        required_(std::move(required)),
        optional_(std::move(optional)),
        optional_sizes_(optional_sizes),
        shuffles_(shuffles) {}

  PyObject* draw_value(DrawContext& run) const override {
    std::vector<Pair> pairs;
    pairs.reserve(required_.size());
    for (const KeyedNode& keyed : required_) {
      if (!draw_pair(run, keyed, pairs)) {
        return nullptr;
      }
    }
    if (!optional_.empty() && !draw_optional(run, pairs)) {
      return nullptr;
    }
    if (shuffles_ && !shuffle(run, pairs)) {
      return nullptr;
    }
    return made_of(pairs);
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(make_, required_, optional_); }

 private:
  using Pair = std::pair<py::object, py::object>;

  static bool draw_pair(DrawContext& run, const KeyedNode& keyed, std::vector<Pair>& pairs) {
    auto value = py::reinterpret_steal<py::object>(keyed.second->draw(run));
    if (!value) {
      return false;
    }
    pairs.emplace_back(keyed.first, std::move(value));
    return true;
  }

  bool draw_optional(DrawContext& run, std::vector<Pair>& pairs) const {
    Growth growth(run, optional_sizes_);
    std::vector<const KeyedNode*> left;
    left.reserve(optional_.size());
    for (const KeyedNode& keyed : optional_) {
      left.push_back(&keyed);
    }
    std::optional<bool> more;
    while ((more = growth.more()).value_or(false)) {
      const auto index = draw_index(run, static_cast<std::int64_t>(left.size()));
      if (!index) {
        return false;
      }
      std::swap(left.back(), left[static_cast<std::size_t>(*index)]);
      const KeyedNode* const keyed = left.back();
      left.pop_back();
      if (!draw_pair(run, *keyed, pairs)) {
        return false;
      }
    }
    return more.has_value();
  }

  [[nodiscard]] PyObject* made_of(const std::vector<Pair>& pairs) const {
    if (make_.ptr() == reinterpret_cast<PyObject*>(&PyDict_Type)) {
      auto made = py::reinterpret_steal<py::object>(PyDict_New());
      for (const auto& [key, value] : pairs) {
        if (PyDict_SetItem(made.ptr(), key.ptr(), value.ptr()) != 0) {
          return nullptr;
        }
      }
      return made.release().ptr();
    }
    py::list items(pairs.size());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      items[i] = py::make_tuple(pairs[i].first, pairs[i].second);
    }
    return PyObject_CallOneArg(make_.ptr(), items.ptr());
  }

  py::object make_;
  std::vector<KeyedNode> required_;
  std::vector<KeyedNode> optional_;
  SizeRange optional_sizes_;
  bool shuffles_;
};

}  // namespace

StrategyNodePtr list_node(StrategyNodePtr element, const SizeRange& sizes) {
  return std::make_shared<List>(std::move(element), sizes);
}

StrategyNodePtr unique_list_node(StrategyNodePtr element, std::vector<py::object> conditions, const SizeRange& sizes,
                                 Uniqueness uniqueness) {
  return std::make_shared<UniqueList>(std::move(element), std::move(conditions), sizes, std::move(uniqueness));
}

StrategyNodePtr unique_sample_node(py::object elements, Transformations transformations, const SizeRange& sizes,
                                   Uniqueness uniqueness, bool forces_end) {
  return std::make_shared<UniqueSample>(std::move(elements), std::move(transformations), sizes, std::move(uniqueness),
                                        forces_end);
}

StrategyNodePtr tuple_node(std::vector<StrategyNodePtr> elements) {
  return std::make_shared<Tuple>(std::move(elements));
}

StrategyNodePtr sparse_node(StrategyNodePtr element, StrategyNodePtr fill, std::int64_t size, const SizeRange& sizes) {
  return std::make_shared<Sparse>(std::move(element), std::move(fill), size, sizes);
}

StrategyNodePtr permutation_node(py::object elements) { return std::make_shared<Permutation>(std::move(elements)); }

StrategyNodePtr fixed_dictionary_node(py::object make, std::vector<KeyedNode> required, std::vector<KeyedNode> optional,
                                      const SizeRange& optional_sizes, bool shuffles) {
  return std::make_shared<FixedDictionary>(std::move(make), std::move(required), std::move(optional), optional_sizes,
                                           shuffles);
}

}  // namespace ordeal::bindings
