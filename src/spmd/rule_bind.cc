// Applying a parsed rule to a call: from letters to numbered factors of known sizes.
#include <algorithm>
#include <cctype>
#include <map>
#include <set>

#include "base/error.h"
#include "spmd/factor_rule.h"

namespace paddle::spmd {
namespace {

// What did not fit; instantiate() turns it into replicate_all.
struct Misfit {
  std::string reason;
};

// A tensor's dimensions as keys: "k", "gr" (compound), "i#1" (second dimension of a bound factor), ".2" (third of the
// ellipsis), nothing (never sharded).
using Keys = std::vector<std::vector<std::string>>;

struct Bound {
  std::vector<int64_t> axes;  // as the attribute gives them, negative ones included
  bool every = false;         // all dimensions
  RuleBinding::Range range = RuleBinding::kAxes;
};

class Binder {
 public:
  Binder(const FactorRule& rule, const CallInfo& call) : rule_(rule), call_(call) {}

  RuleInstance run() {
    read_bindings();
    measure_ellipsis();
    std::vector<Keys> inputs, outputs;
    collect(rule_.inputs, call_.inputs, inputs, true);
    collect(rule_.outputs, call_.outputs, outputs, false);
    RuleBuilder builder(call_);
    number(inputs, call_.inputs, outputs, call_.outputs, builder);
    return finish(builder);
  }

 private:
  static bool contains(const RuleTerm& t, char f) {
    auto has = [f](const RuleDim& d) { return d.factors.find(f) != std::string::npos; };
    return std::any_of(t.before.begin(), t.before.end(), has) || std::any_of(t.after.begin(), t.after.end(), has);
  }

  const RuleTerm* term_of(const std::vector<RuleTerm>& terms, size_t slot) const {
    return slot < terms.size() ? &terms[slot] : nullptr;
  }

  // The rank against which a bound factor's axes are meant: its first input with '...', else its first output.
  int reference_rank(char f) const {
    for (auto [terms, slots] : {std::pair{&rule_.inputs, &call_.inputs}, {&rule_.outputs, &call_.outputs}})
      for (size_t s = 0; s < terms->size() && s < slots->size(); ++s)
        if ((*terms)[s].ellipsis && contains((*terms)[s], f) && !(*slots)[s].empty())
          return static_cast<int>((*slots)[s][0].shape.size());
    return -1;
  }

  void read_bindings() {
    for (const RuleBinding& b : rule_.bindings) {
      Bound bound;
      bound.range = b.range;
      const AttrValue& value = call_.attr(b.attr);
      if (auto* layout = std::get_if<std::string>(&value)) {
        size_t at = layout->find(static_cast<char>(std::toupper(static_cast<unsigned char>(b.factor))));
        if (at == std::string::npos)
          throw Misfit{fmt::format("{}=\"{}\" does not name the factor {}", b.attr, *layout, b.factor)};
        bound.axes = {static_cast<int64_t>(at)};
      } else if (std::holds_alternative<std::monostate>(value)) {
        bound.every = true;
      } else {
        bound.axes = call_.ints_attr(b.attr);
        bound.every = bound.axes.empty();
      }
      int rank = reference_rank(b.factor);
      if (rank < 0) throw Misfit{fmt::format("no tensor is there to place the factor {}", b.factor)};
      counts_[b.factor] = static_cast<int>(positions(bound, rank).size());
      bounds_[b.factor] = bound;
    }
  }

  // Where a bound factor stands in a tensor of this rank, ascending.
  static std::vector<int> positions(const Bound& b, int rank) {
    std::vector<int> at;
    auto fit = [&](int64_t axis) {
      if (axis < 0) axis += rank;
      if (axis < 0 || axis > rank)
        throw Misfit{fmt::format("axis {} is outside a tensor of {} dimensions", axis, rank)};
      return static_cast<int>(axis);
    };
    if (b.every) {
      for (int d = 0; d < rank; ++d) at.push_back(d);
    } else if (b.range == RuleBinding::kAxes) {
      for (int64_t axis : b.axes) at.push_back(fit(axis));
      std::sort(at.begin(), at.end());
      at.erase(std::unique(at.begin(), at.end()), at.end());
    } else {
      int axis = fit(b.axes.front());
      for (int d = b.range == RuleBinding::kFrom ? axis : 0; d < (b.range == RuleBinding::kFrom ? rank : axis); ++d)
        at.push_back(d);
    }
    return at;
  }

  // How many dimensions a term spells out, bound factors counted by their axes.
  int explicit_count(const RuleTerm& t) const {
    int n = 0;
    for (const auto* side : {&t.before, &t.after})
      for (const RuleDim& d : *side) {
        auto bound = d.factors.size() == 1 ? counts_.find(d.factors[0]) : counts_.end();
        n += bound == counts_.end() ? 1 : bound->second;
      }
    return n;
  }

  bool has_all_bound(const RuleTerm& t) const {
    return std::all_of(bounds_.begin(), bounds_.end(), [&](auto& b) { return contains(t, b.first); });
  }

  // The ellipsis is as long as the longest tensor that has all bound factors makes it (if there is none: any).
  void measure_ellipsis() {
    auto longest = [&](bool only_all_bound) {
      bool found = false;
      for (auto [terms, slots] : {std::pair{&rule_.inputs, &call_.inputs}, {&rule_.outputs, &call_.outputs}})
        for (size_t s = 0; s < terms->size() && s < slots->size(); ++s) {
          const RuleTerm& t = (*terms)[s];
          if (!t.ellipsis || (only_all_bound && !has_all_bound(t))) continue;
          found = true;
          for (const TensorInfo& x : (*slots)[s])
            ellipsis_ = std::max(ellipsis_, static_cast<int>(x.shape.size()) - explicit_count(t));
        }
      return found;
    };
    if (!longest(true)) longest(false);
  }

  void collect(const std::vector<RuleTerm>& terms, const std::vector<Slot>& slots, std::vector<Keys>& keys,
               bool input) {
    if (!input && terms.size() != slots.size())
      throw Misfit{fmt::format("the rule has {} outputs, the operator {}", terms.size(), slots.size())};
    for (size_t s = 0; s < slots.size(); ++s)
      for (const TensorInfo& x : slots[s]) {
        const RuleTerm* t = term_of(terms, s);
        if (t && !t->list && slots[s].size() > 1)
          throw Misfit{fmt::format("argument {} is a list, the rule has a tensor", s)};
        int rank = static_cast<int>(x.shape.size());
        if (!input && t->any) unjudged_.push_back(static_cast<int>(keys.size()));
        keys.push_back(!t || t->any ? Keys(rank) : keys_of(*t, rank, input ? static_cast<int>(s) : -1));
      }
  }

  // One term against a tensor of `rank` dimensions.
  Keys keys_of(const RuleTerm& term, int rank, int input_slot) {
    RuleTerm t = term;
    drop(t, [&](char f) { return dropped_.find(f) != std::string::npos; });
    shorten(t, rank, input_slot);
    if (!t.swap_flag.empty() && call_.bool_attr(t.swap_flag, false)) swap_last_two(t);
    return t.ellipsis ? around_ellipsis(t, rank) : written_out(t, rank);
  }

  template <class Predicate>
  static void drop(RuleTerm& t, Predicate unwanted) {
    for (auto* side : {&t.before, &t.after})
      std::erase_if(*side, [&](const RuleDim& d) { return d.factors.size() == 1 && unwanted(d.factors[0]); });
  }

  // matmul's vectors: too few dimensions, so the leading factors that no other input has are not there.
  void shorten(RuleTerm& t, int rank, int input_slot) {
    if (input_slot < 0) return;
    int missing = explicit_count(t) - rank;
    std::vector<RuleDim> all = t.before;
    all.insert(all.end(), t.after.begin(), t.after.end());
    for (const RuleDim& d : all) {
      if (missing <= 0) return;
      if (d.factors.size() != 1 || counts_.contains(d.factors[0])) continue;
      bool elsewhere = false;
      for (size_t s = 0; s < rule_.inputs.size(); ++s)
        elsewhere |= static_cast<int>(s) != input_slot && contains(rule_.inputs[s], d.factors[0]);
      if (elsewhere) continue;
      dropped_ += d.factors[0];
      drop(t, [&](char f) { return f == d.factors[0]; });
      --missing;
    }
  }

  static void swap_last_two(RuleTerm& t) {
    std::vector<RuleDim*> all;
    for (auto* side : {&t.before, &t.after})
      for (RuleDim& d : *side) all.push_back(&d);
    if (all.size() >= 2) std::swap(*all[all.size() - 1], *all[all.size() - 2]);
  }

  static std::vector<std::string> split(const RuleDim& d) {
    std::vector<std::string> letters;
    for (char f : d.factors) letters.emplace_back(1, f);
    return letters;
  }

  void append(Keys& keys, const RuleDim& d) const {
    auto bound = d.factors.size() == 1 ? counts_.find(d.factors[0]) : counts_.end();
    if (bound == counts_.end()) return keys.push_back(split(d));
    for (int n = 0; n < bound->second; ++n) keys.push_back({fmt::format("{}#{}", d.factors, n)});
  }

  Keys written_out(const RuleTerm& t, int rank) const {
    Keys keys;
    for (const RuleDim& d : t.before) append(keys, d);
    if (static_cast<int>(keys.size()) != rank)
      throw Misfit{fmt::format("expected a tensor of {} dimensions, got {}", keys.size(), rank)};
    return keys;
  }

  // Bound factors at their axes, the rest in order around the ellipsis.
  Keys around_ellipsis(const RuleTerm& t, int rank) const {
    Keys keys(rank);
    std::vector<bool> taken(rank, false);
    int present = 0, absent = 0;
    for (const auto& [f, b] : bounds_) (contains(t, f) ? present : absent) += counts_.at(f);
    int plain = explicit_count(t) - present;
    bool kept = absent > 0 && rank == plain + present + absent + ellipsis_;
    for (const auto& [f, b] : bounds_) {
      bool here = contains(t, f);
      if (!here && !kept) continue;
      int n = 0;
      for (int at : positions(b, rank)) {
        if (at >= rank || taken[at])
          throw Misfit{fmt::format("the factor {} has no place in a tensor of {} dimensions", f, rank)};
        taken[at] = true;
        if (here) keys[at] = {fmt::format("{}#{}", f, n++)};
      }
    }
    std::vector<int> free;
    for (int d = 0; d < rank; ++d)
      if (!taken[d]) free.push_back(d);
    place_rest(t, free, keys);
    return keys;
  }

  void place_rest(const RuleTerm& t, const std::vector<int>& free, Keys& keys) const {
    auto unbound = [&](const std::vector<RuleDim>& side) {
      std::vector<RuleDim> plain = side;
      std::erase_if(plain, [&](const RuleDim& d) { return d.factors.size() == 1 && counts_.contains(d.factors[0]); });
      return plain;
    };
    std::vector<RuleDim> before = unbound(t.before), after = unbound(t.after);
    int rest = static_cast<int>(free.size() - before.size() - after.size());
    if (rest < 0 || rest > ellipsis_) throw Misfit{fmt::format("a tensor of {} dimensions does not fit", keys.size())};
    size_t at = 0;
    for (const RuleDim& d : before) keys[free[at++]] = split(d);
    for (int n = ellipsis_ - rest; n < ellipsis_; ++n) keys[free[at++]] = {fmt::format(".{}", n)};
    for (const RuleDim& d : after) keys[free[at++]] = split(d);
  }

  // Sizes of factors: from the dimensions that are just one, then of compounds by division.
  void measure(const std::vector<Keys>& all, const std::vector<const Shape*>& shapes) {
    for (size_t t = 0; t < all.size(); ++t)
      for (size_t d = 0; d < all[t].size(); ++d)
        if (all[t][d].size() == 1) note_size(all[t][d][0], (*shapes[t])[d]);
    for (size_t t = 0; t < all.size(); ++t)
      for (size_t d = 0; d < all[t].size(); ++d)
        if (all[t][d].size() > 1) divide(all[t][d], (*shapes[t])[d]);
  }

  void note_size(const std::string& key, int64_t size) {
    auto [it, fresh] = sizes_.try_emplace(key, size);
    if (fresh || it->second == size || size == 1) return;
    if (it->second == 1 || it->second == -1)
      it->second = size;
    else if (size != -1)
      odd_.insert(key);  // sizes that differ: not one factor after all
  }

  void divide(const std::vector<std::string>& keys, int64_t size) {
    std::string unknown;
    int64_t known = 1;
    for (const std::string& key : keys) {
      auto it = sizes_.find(key);
      if (it == sizes_.end()) {
        if (!unknown.empty()) throw Misfit{fmt::format("the sizes of {} and {} are unknown", unknown, key)};
        unknown = key;
      } else {
        known = it->second < 0 ? -1 : known * it->second;
      }
    }
    if (size < 0 || known < 0) {
      if (!unknown.empty()) sizes_[unknown] = -1;
    } else if (unknown.empty() ? known != size : known == 0 || size % known != 0) {
      throw Misfit{fmt::format("a dimension of {} is not a multiple of {}", size, known)};
    } else if (!unknown.empty()) {
      sizes_[unknown] = size / known;
    }
  }

  void number(const std::vector<Keys>& inputs, const std::vector<Slot>& in_slots, const std::vector<Keys>& outputs,
              const std::vector<Slot>& out_slots, RuleBuilder& builder) {
    std::vector<Keys> all = inputs;
    all.insert(all.end(), outputs.begin(), outputs.end());
    std::vector<const Shape*> shapes;
    for (const auto* slots : {&in_slots, &out_slots})
      for (const Slot& slot : *slots)
        for (const TensorInfo& x : slot) shapes.push_back(&x.shape);
    measure(all, shapes);
    auto place = [&](const std::vector<Keys>& keys, const std::vector<Slot>& slots, bool input) {
      size_t flat = 0;
      for (size_t s = 0; s < slots.size(); ++s)
        for (size_t n = 0; n < slots[s].size(); ++n, ++flat)
          for (size_t d = 0; d < keys[flat].size(); ++d) {
            std::vector<int> factors = ids(keys[flat][d], builder);
            if (input)
              builder.input(static_cast<int>(s), static_cast<int>(n), static_cast<int>(d), std::move(factors));
            else
              builder.output(static_cast<int>(s), static_cast<int>(n), static_cast<int>(d), std::move(factors));
          }
    };
    place(inputs, in_slots, true);
    place(outputs, out_slots, false);
  }

  std::vector<int> ids(const std::vector<std::string>& keys, RuleBuilder& builder) {
    std::vector<int> list;
    for (const std::string& key : keys) {
      auto [it, fresh] = ids_.try_emplace(key, 0);
      if (fresh) {
        it->second = builder.factor(sizes_.at(key), key);
        if (odd_.contains(key)) builder.set_whole(it->second);
      }
      list.push_back(it->second);
    }
    return list;
  }

  int slot_of(const std::string& input) const {
    if (std::all_of(input.begin(), input.end(), [](unsigned char c) { return std::isdigit(c); }))
      return std::stoi(input);
    for (size_t s = 0; s < call_.input_names.size(); ++s)
      if (call_.input_names[s] == input) return static_cast<int>(s);
    throw Misfit{fmt::format("no argument is called {}", input)};
  }

  std::vector<int> flat_inputs(const std::vector<std::string>& names, const RuleBuilder& builder) const {
    std::vector<int> flat;
    for (const std::string& name : names) {
      int slot = slot_of(name);
      if (slot >= static_cast<int>(call_.inputs.size())) continue;
      for (size_t n = 0; n < call_.inputs[slot].size(); ++n)
        flat.push_back(builder.input_index(slot, static_cast<int>(n)));
    }
    return flat;
  }

  RuleInstance finish(RuleBuilder& builder) {
    std::vector<int> local;
    for (const FactorClause& c : rule_.clauses)
      for (const auto& [key, id] : ids_) {
        if (c.factors.find(key[0]) == std::string::npos) continue;
        if (c.kind == FactorClause::kReduce) {
          builder.set_reduce(id, c.reduce, flat_inputs(c.additive, builder));
        } else if (c.kind == FactorClause::kWhole || !call_.has_local) {
          builder.set_whole(id);
        } else {
          local.push_back(id);
        }
      }
    for (const PassClause& p : rule_.passes) builder.pass(p.through, flat_inputs(p.inputs, builder));
    for (int output : unjudged_) builder.leave_out(output);
    RuleInstance instance = builder.finish();
    for (int id : local) instance.factors[id].whole = false;
    return instance;
  }

  const FactorRule& rule_;
  const CallInfo& call_;
  std::map<char, Bound> bounds_;
  std::map<char, int> counts_;  // dimensions of each bound factor
  int ellipsis_ = 0;
  std::string dropped_;
  std::vector<int> unjudged_;  // outputs that are '_'
  std::map<std::string, int64_t> sizes_;
  std::set<std::string> odd_;
  std::map<std::string, int> ids_;
};

}  // namespace

RuleInstance FactorRule::instantiate(const CallInfo& call) const {
  try {
    if (named.empty()) return Binder(*this, call).run();
    RuleFunction function = find_rule(named);
    if (!function) return replicate_all(call, fmt::format("no sharding rule is called '{}'", named));
    return function(call);
  } catch (const Misfit& misfit) {
    return replicate_all(call, misfit.reason);
  }
}

}  // namespace paddle::spmd
