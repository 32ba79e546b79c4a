#include "cinn/group/nest_text.h"

#include <algorithm>

#include "base/error.h"

namespace paddle::cinn {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  std::vector<NestTerm> terms() {
    std::vector<NestTerm> out;
    for (skip(); at_ < text_.size() && text_[at_] != ')'; skip()) out.push_back(term());
    return out;
  }
  bool done() const { return at_ == text_.size(); }

 private:
  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }

  NestTerm term() {
    NestTerm t;
    if (text_[at_] != '(') {
      const size_t end = std::min(text_.find_first_of(" ()", at_), text_.size());
      t.word = text_.substr(at_, end - at_);
      at_ = end;
      return t;
    }
    ++at_;
    t.is_list = true;
    t.items = terms();
    PD_INVARIANT(at_ < text_.size());
    ++at_;
    PD_INVARIANT(!t.items.empty() && !t.items[0].is_list);
    t.word = t.items[0].word;
    t.items.erase(t.items.begin());
    return t;
  }

  std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

std::vector<NestTerm> parse_nest(std::string_view text) {
  Reader r(text);
  std::vector<NestTerm> out = r.terms();
  PD_INVARIANT(r.done());
  return out;
}

}  // namespace paddle::cinn
