#include <algorithm>
#include <cctype>
#include <optional>

#include "base/error.h"
#include "spmd/factor_rule.h"

namespace paddle::spmd {
namespace {

class Parser {
 public:
  explicit Parser(std::string_view text) : text_(text) {}

  FactorRule parse() {
    FactorRule rule;
    rule.text = std::string(text_);
    if (accept_word("rule")) {
      expect(":");
      rule.named = word("a rule's name");
      if (!at_end()) error("nothing after a rule's name");
      return rule;
    }
    rule.inputs = terms();
    expect("->");
    rule.outputs = terms();
    while (accept(";") || accept(","))
      if (!at_end()) clause(rule);
    if (!at_end()) error("';' or the end");
    verify(rule);
    return rule;
  }

  void pass_list(FactorRule& rule, PartialPass::Through through) {
    do {
      PassClause pass{through, {}};
      while (auto input = accept_input()) pass.inputs.push_back(*input);
      if (pass.inputs.empty()) error("an input");
      rule.passes.push_back(std::move(pass));
    } while (accept("|"));
  }

 private:
  [[noreturn]] void error(std::string_view expected) const {
    fail(ErrorKind::kValue, "[spmd] expected {} at column {} of \"{}\"", expected, at_ + 1, text_);
  }

  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_]))) ++at_;
  }
  bool at_end() { return skip(), at_ >= text_.size(); }
  char peek() { return at_end() ? '\0' : text_[at_]; }
  bool accept(std::string_view token) {
    skip();
    if (text_.substr(at_, token.size()) != token) return false;
    at_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) error(fmt::format("'{}'", token));
  }
  static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
  bool at_letter() { return std::isalpha(static_cast<unsigned char>(peek())); }
  std::string word(std::string_view what) {
    skip();
    size_t begin = at_;
    while (at_ < text_.size() && is_word(text_[at_])) ++at_;
    if (begin == at_) error(what);
    return std::string(text_.substr(begin, at_ - begin));
  }
  bool accept_word(std::string_view expected) {
    size_t back = at_;
    skip();
    if (at_ < text_.size() && is_word(text_[at_]) && word("") == expected) return true;
    at_ = back;
    return false;
  }
  std::optional<std::string> accept_input() {
    if (!is_word(peek())) return std::nullopt;
    std::string name = word("an input");
    accept(",");
    return name;
  }

  std::vector<RuleTerm> terms() {
    std::vector<RuleTerm> list{term()};
    while (accept(",")) list.push_back(term());
    // "-> ..." has no inputs (a creation operator).
    if (list.size() == 1 && no_inputs_) list.clear();
    return list;
  }

  RuleTerm term() {
    RuleTerm t;
    no_inputs_ = !at_end() && text_.substr(at_, 2) == "->";
    if (accept("_")) {
      t.any = true;
      return t;
    }
    t.list = accept("[");
    if (t.list && accept("_"))
      t.any = true;
    else
      dims(t);
    if (t.list) expect("]");
    if (accept("^")) t.swap_flag = word("a flag's name");
    return t;
  }

  void dims(RuleTerm& t) {
    while (true) {
      auto& side = t.ellipsis ? t.after : t.before;
      if (accept("...")) {
        if (t.ellipsis) error("one '...'");
        t.ellipsis = true;
      } else if (accept("(")) {
        RuleDim dim;
        while (at_letter()) dim.factors += text_[at_++];
        if (dim.factors.size() < 2) error("two or more factors in parentheses");
        expect(")");
        side.push_back(std::move(dim));
      } else if (accept("1")) {
        side.push_back({});
      } else if (at_letter()) {
        side.push_back({std::string(1, text_[at_++])});
      } else {
        return;
      }
    }
  }

  void clause(FactorRule& rule) {
    constexpr std::string_view kKinds[] = {"sum", "avg", "max", "min", "prod", "any", "all"};
    std::string kind = word("a clause");
    if (kind == "mean") kind = "avg";
    if (kind == "linear") return pass_list(rule, PartialPass::kLinear);
    if (kind == "monotone") return pass_list(rule, PartialPass::kMonotone);
    if (kind == "moves") return pass_list(rule, PartialPass::kMoves);
    FactorClause c;
    auto reduce = std::find(std::begin(kKinds), std::end(kKinds), kind);
    if (reduce != std::end(kKinds)) {
      c.kind = FactorClause::kReduce;
      c.reduce = static_cast<PartialKind>(reduce - std::begin(kKinds));
    } else if (kind == "local") {
      c.kind = FactorClause::kLocal;
    } else if (kind != "whole" && kind != "at") {
      error(fmt::format("a known clause before this, got '{}',", kind));
    }
    factor_list(rule, c);
    if (c.factors.empty()) error("a factor");
    if (accept("+")) {
      while (auto input = accept_input()) c.additive.push_back(*input);
      if (c.additive.empty() || c.kind != FactorClause::kReduce) error("inputs that are added to a reduction");
    }
    if (kind != "at") rule.clauses.push_back(std::move(c));
  }

  void factor_list(FactorRule& rule, FactorClause& c) {
    while (true) {
      if (accept("...")) {
        c.factors += '.';
      } else if (at_letter()) {
        char factor = text_[at_++];
        if (at_ < text_.size() && is_word(text_[at_])) error("a one-letter factor");
        c.factors += factor;
        if (accept("(")) binding(rule, factor);
      } else {
        return;
      }
      // A comma goes on with the next factor, or with another clause: "whole i, whole j".
      size_t back = at_;
      if (accept(",") && at_letter() && at_ + 1 < text_.size() && is_word(text_[at_ + 1])) {
        at_ = back;
        return;
      }
    }
  }

  void binding(FactorRule& rule, char factor) {
    RuleBinding b{factor, "", RuleBinding::kAxes};
    if (accept(":")) b.range = RuleBinding::kBefore;
    b.attr = word("an attribute");
    if (b.range == RuleBinding::kAxes && accept(":")) b.range = RuleBinding::kFrom;
    expect(")");
    rule.bindings.push_back(std::move(b));
  }

  static void letters_of(const std::vector<RuleTerm>& terms, std::string& letters) {
    for (const RuleTerm& t : terms) {
      if (t.ellipsis) letters += '.';
      for (const auto* side : {&t.before, &t.after})
        for (const RuleDim& d : *side) letters += d.factors;
    }
  }

  void verify(const FactorRule& rule) const {
    std::string letters;
    letters_of(rule.inputs, letters);
    letters_of(rule.outputs, letters);
    auto known = [&](char f) {
      check(letters.find(f) != std::string::npos, ErrorKind::kValue, "[spmd] no tensor has the factor '{}' in \"{}\"",
            f == '.' ? std::string("...") : std::string(1, f), text_);
    };
    for (const FactorClause& c : rule.clauses)
      for (char f : c.factors) known(f);
    for (const RuleBinding& b : rule.bindings) known(b.factor);
    for (const auto* side : {&rule.inputs, &rule.outputs})
      for (const RuleTerm& t : *side) {
        std::string own;
        letters_of({t}, own);
        std::sort(own.begin(), own.end());
        check(std::adjacent_find(own.begin(), own.end()) == own.end(), ErrorKind::kValue,
              "[spmd] a tensor has one factor twice in \"{}\"", text_);
      }
  }

  std::string_view text_;
  size_t at_ = 0;
  bool no_inputs_ = false;
};

}  // namespace

FactorRule FactorRule::parse(std::string_view text) { return Parser(text).parse(); }

void FactorRule::add_linear_in(std::vector<std::string> names) {
  if (named.empty() && passes.empty() && !names.empty()) passes.push_back({PartialPass::kLinear, std::move(names)});
}

}  // namespace paddle::spmd
