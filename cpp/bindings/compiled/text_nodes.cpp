#include "bindings/compiled/text_nodes.h"

#include <string>
#include <utility>

#include "core/draw/value_draws.h"

namespace ordeal::bindings {
namespace {

class Text final : public StrategyNode {
 public:
  Text(std::shared_ptr<const Alphabet> alphabet, std::int64_t low, std::int64_t high) noexcept
      : alphabet_(std::move(alphabet)), low_(low), high_(high) {}

  PyObject* draw_value(DrawContext& run) const override {
    if (!run.may_choose()) {
      return nullptr;
    }
    const std::string text = draw_text(run.source(), alphabet_, low_, high_);
    return run.count(sized(text.size()))
               ? PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "surrogatepass")
               : nullptr;
  }

 private:
  std::shared_ptr<const Alphabet> alphabet_;
  std::int64_t low_;
  std::int64_t high_;
};

class Joined final : public StrategyNode {
 public:
  explicit Joined(StrategyNodePtr texts) : texts_(std::move(texts)), nothing_("") {}

  PyObject* draw_value(DrawContext& run) const override {
    const auto texts = py::reinterpret_steal<py::object>(texts_->draw(run));
    return texts ? PyUnicode_Join(nothing_.ptr(), texts.ptr()) : nullptr;
  }
  [[nodiscard]] int traverse(const Visitor& see) const override { return see.all(texts_); }

 private:
  StrategyNodePtr texts_;
  py::str nothing_;
};

}  // namespace

StrategyNodePtr text_node(std::shared_ptr<const Alphabet> alphabet, std::int64_t low, std::int64_t high) {
  return std::make_shared<Text>(std::move(alphabet), low, high);
}

StrategyNodePtr joined_node(StrategyNodePtr texts) { return std::make_shared<Joined>(std::move(texts)); }

}  // namespace ordeal::bindings
