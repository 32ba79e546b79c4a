// The passes of this folder, by name; and the records, as the source of pd_op's tables.
#include "api/wide_args.h"
#include "base/error.h"
#include "passes/passes.h"
#include "pir/serialize/wire_types.h"

namespace paddle::passes {

using pir::Operation;
using pir::PassContext;
using pir::PassOptions;

namespace {

void only(std::string_view pass, const PassOptions& options, std::initializer_list<std::string_view> known) {
  for (auto& [name, value] : options) {
    bool ok = false;
    for (std::string_view k : known) ok |= k == name;
    check(ok, ErrorKind::kValue, "pass \"{}\" has no option \"{}\"", pass, name);
  }
}

size_t number(const PassOptions& options, const std::string& name, size_t otherwise) {
  auto it = options.find(name);
  if (it == options.end()) return otherwise;
  char* end = nullptr;
  unsigned long long v = std::strtoull(it->second.c_str(), &end, 10);
  check(!it->second.empty() && *end == '\0', ErrorKind::kValue, "option \"{}\": expected a number, got \"{}\"", name,
        it->second);
  return v;
}

bool boolean(const PassOptions& options, const std::string& name, bool otherwise) {
  auto it = options.find(name);
  if (it == options.end()) return otherwise;
  check(it->second == "true" || it->second == "false", ErrorKind::kValue,
        "option \"{}\": expected true or false, got \"{}\"", name, it->second);
  return it->second == "true";
}

template <class F>
void simple(const char* name, const char* doc, const char* what, F f) {
  pir::register_pass(name, doc, [name, what, f](const PassOptions& options) {
    only(name, options, {});
    return pir::make_pass(name, [what, f](Operation& root, PassContext& context) {
      size_t n = f(root);
      context.count(what, static_cast<int64_t>(n));
      return n > 0;
    });
  });
}

}  // namespace

void register_passes() {
  simple("dead_code", "removes operations whose results nobody uses", "removed", remove_dead_code);
  simple("common_subexpression", "merges equal operations on equal operands", "merged", merge_common_subexpressions);
  simple("canonicalise", "rewrites that keep values bit for bit", "rewritten", canonicalise);
  simple("join_products", "sums over matrices of their products as one product", "joined", join_products);
  simple("drop_unchanged_writes", "parameters that are written with what they hold are not written", "dropped",
         drop_unchanged_writes);
  simple("fold_scales", "numbers per channel after a convolution become part of its filter", "folded", fold_scales);
  simple("fuse_epilogue", "convolutions and products with the bias, the sum and the activation after them", "fused",
         fuse_epilogue);
  simple("channels_last", "convolutions and what lies between them with channels last", "rewritten", channels_last);
  simple("hold_weights", "what follows from weights alone is computed once", "held", hold_weights);
  pir::register_pass("fuse_attention", "products around a softmax as one operator; options: training",
                     [](const PassOptions& options) {
                       only("fuse_attention", options, {"training"});
                       const bool training = boolean(options, "training", false);
                       return pir::make_pass("fuse_attention", [training](Operation& root, PassContext& context) {
                         const size_t n = fuse_attention(root, training);
                         context.count("fused", static_cast<int64_t>(n));
                         return n > 0;
                       });
                     });
  pir::register_pass("constant_folding", "computes operations on constants; options: parameters, max_bytes",
                     [](const PassOptions& options) {
                       only("constant_folding", options, {"parameters", "max_bytes"});
                       FoldOptions fold;
                       fold.parameters = boolean(options, "parameters", false);
                       fold.max_bytes = number(options, "max_bytes", fold.max_bytes);
                       return pir::make_pass("constant_folding", [fold](Operation&, PassContext& context) {
                         size_t n = fold_constants(context.program(), evaluate_eagerly, fold);
                         context.count("folded", static_cast<int64_t>(n));
                         return n > 0;
                       });
                     });
}

namespace {

[[maybe_unused]] const bool loaded = [] {
  register_passes();
  pir::set_record_source(find_op, all_ops);
  pir::set_widths(is_wide);
  return true;
}();

}  // namespace

}  // namespace paddle::passes
