// A plugin: a shared library that brings a pass. Loading it registers the pass; nothing else refers to it.
#include "pir/rewrite/drr.h"
#include "pir/rewrite/pass.h"

namespace {

using namespace paddle::pir;

// Two ReLUs in a row are one.
[[maybe_unused]] const bool registered = [] {
  register_pass("plugin_merge_relus", "relu(relu(x)) = relu(x)", [](const PassOptions&) {
    Drr drr("merge_relus");
    drr.source("pd_op.relu", {"x"}, {"t"});
    drr.source("pd_op.relu", {"t"}, {"y"});
    drr.result("pd_op.relu", {"x"}, {"y"});
    auto patterns = std::make_shared<PatternSet>();
    patterns->add(drr.build());
    return make_pattern_pass("plugin_merge_relus", patterns);
  });
  return true;
}();

}  // namespace
