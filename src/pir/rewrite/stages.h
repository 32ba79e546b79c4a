// Places in the compilation of a whole program where passes of the user's join by name: what compile/pipeline.cc asks.
#pragma once
#include <string>
#include <vector>

namespace paddle::pir {

// "captured": operators as the user called them, before anything else. "optimised": after simplification, before
// fusion. ValueError for another stage. A pass joins behind those that joined before; twice is once.
void add_to_stage(const std::string& stage, const std::string& pass);
void remove_from_stage(const std::string& stage, const std::string& pass);
std::vector<std::string> passes_of_stage(const std::string& stage);  // with those of enter_passes
std::vector<std::string> stage_names();
std::string stage_pipeline(const std::string& stage);  // as PassManager::add_pipeline takes it; "": none

// Until leave_passes the programs that this thread compiles run these, too, behind the others of "captured": those of
// one model, which other ranks of the process (threads) don't have.
void enter_passes(std::vector<std::string> passes);
void leave_passes();

}  // namespace paddle::pir
