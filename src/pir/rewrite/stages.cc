#include "pir/rewrite/stages.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "base/error.h"

namespace paddle::pir {
namespace {

struct Stages {
  std::mutex mutex;
  std::map<std::string, std::vector<std::string>> passes{{"captured", {}}, {"optimised", {}}};

  std::vector<std::string>& at(const std::string& stage) {
    auto it = passes.find(stage);
    check(it != passes.end(), ErrorKind::kValue, "expected a stage of compilation, captured or optimised, got '{}'",
          stage);
    return it->second;
  }
};
Stages& stages() {
  static auto* s = new Stages;
  return *s;
}

std::vector<std::vector<std::string>>& passes_here() {
  thread_local std::vector<std::vector<std::string>> lists;
  return lists;
}

}  // namespace

void add_to_stage(const std::string& stage, const std::string& pass) {
  std::lock_guard lock(stages().mutex);
  std::vector<std::string>& list = stages().at(stage);
  if (std::find(list.begin(), list.end(), pass) == list.end()) list.push_back(pass);
}

void remove_from_stage(const std::string& stage, const std::string& pass) {
  std::lock_guard lock(stages().mutex);
  std::erase(stages().at(stage), pass);
}

std::vector<std::string> passes_of_stage(const std::string& stage) {
  std::unique_lock lock(stages().mutex);
  std::vector<std::string> list = stages().at(stage);
  lock.unlock();
  if (stage != "captured") return list;
  for (const auto& here : passes_here())
    for (const std::string& pass : here)
      if (std::find(list.begin(), list.end(), pass) == list.end()) list.push_back(pass);
  return list;
}

void enter_passes(std::vector<std::string> passes) { passes_here().push_back(std::move(passes)); }

void leave_passes() {
  PD_INVARIANT(!passes_here().empty());
  passes_here().pop_back();
}

std::vector<std::string> stage_names() {
  std::lock_guard lock(stages().mutex);
  std::vector<std::string> names;
  for (const auto& [name, passes] : stages().passes) names.push_back(name);
  return names;
}

std::string stage_pipeline(const std::string& stage) {
  std::string text;
  for (const std::string& pass : passes_of_stage(stage)) text += (text.empty() ? "" : ",") + pass;
  return text;
}

}  // namespace paddle::pir
