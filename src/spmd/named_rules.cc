// The register of named rules.
#include "spmd/named_rules.h"

#include <algorithm>
#include <map>

namespace paddle::spmd {
namespace {

// A rule's text as a template argument, so that the table below can hold plain functions.
template <size_t N>
struct Text {
  char text[N];
  constexpr Text(const char (&s)[N]) { std::copy_n(s, N, text); }  // NOLINT: implicit on purpose
};

template <Text T>
RuleInstance string(const CallInfo& call) {
  static const FactorRule rule = FactorRule::parse(T.text);
  return rule.instantiate(call);
}

// Everything on every rank. shape and numel too: a shard would tell its own size.
RuleInstance replicate(const CallInfo& call) { return RuleBuilder(call).finish(); }

using Rules = std::map<std::string, RuleFunction, std::less<>>;
const Rules& rules() {
  static const auto* all = new Rules{
      // never destroyed: rules may be asked for at exit
      {"reshape", named::reshape},
      {"flatten", named::reshape},
      {"squeeze", named::reshape},
      {"unsqueeze", named::reshape},
      {"transpose", named::transpose},
      {"permute", named::transpose},
      {"slice", named::slice},
      {"strided_slice", named::strided_slice},
      {"pad", named::same_sizes},
      {"tile", named::same_sizes},
      {"gather", named::gather},
      {"index_select", named::gather},
      {"gather_nd", named::gather_nd},
      {"scatter", named::scatter},
      {"scatter_nd", named::scatter_nd},
      {"put_along_axis", named::put_along_axis},
      {"searchsorted", named::searchsorted},
      {"reduce_as", named::reduce_as},
      {"expand_as", named::expand_as},
      {"meshgrid", named::meshgrid},
      {"set_value", named::set_value},
      {"optimizer", named::optimizer},
      {"dist", replicate},  // operators that handle distribution themselves
      {"cross_entropy", named::cross_entropy},
      {"attention", named::attention},
      {"conv", named::conv},
      {"conv_transpose", named::conv},
      {"conv_input_grad", named::conv_input_grad},
      {"conv_filter_grad", named::conv_filter_grad},
      {"pool", named::pool},
      {"batch_norm", named::batch_norm},
      {"batch_norm_grad", named::batch_norm_grad},
      {"layer_norm", named::layer_norm},
      {"layer_norm_grad", named::layer_norm_grad},
      {"swiglu", named::swiglu},
      {"replicate", replicate},
      {"shape", replicate},
      {"numel", replicate},
      {"elementwise", string<"..., ... -> ...">},
      {"matmul", string<"...ik^transpose_x, ...kj^transpose_y -> ...ij; sum k; linear 0 | 1">},
      {"concat", string<"[i...] -> i...; whole i(axis); moves 0">},
      {"split", string<"i... -> [i...]; whole i(axis); moves 0">},
      {"stack", string<"[...] -> i...; at i(axis); moves 0">},
      {"unbind", string<"i... -> [...]; whole i(axis); moves 0">},
      {"roll", string<"i... -> i...; whole i(axis); moves 0">},
      {"expand", string<"... -> ...; moves 0">},
      {"broadcast_tensors", string<"[...] -> [...]; moves 0">},
      {"embedding", string<"..., vd -> ...d; sum v; local v; linear 1">},
      {"take_along_axis", string<"i..., j... -> j...; whole i(axis); at j(axis)">},
  };
  return *all;
}

}  // namespace

RuleFunction find_rule(std::string_view name) {
  auto it = rules().find(name);
  return it == rules().end() ? nullptr : it->second;
}

}  // namespace paddle::spmd
