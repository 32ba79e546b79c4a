// Every sharding rule that a record writes must be one.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>

#include "base/error.h"
#include "spmd/factor_rule.h"
#include "tests/paths.h"

namespace paddle::spmd {
namespace {

TEST(Records, AllRulesParseAndAllNamesAreKnown) {
  std::regex field(R"re(^\s*spmd:\s*"([^"]*)")re");
  int count = 0;
  for (auto& file : std::filesystem::directory_iterator(std::string(test::kSourceFolder) + "/ops")) {
    if (file.path().extension() != ".yaml") continue;
    std::ifstream in(file.path());
    std::string line;
    for (int number = 1; std::getline(in, line); ++number) {
      std::smatch match;
      if (!std::regex_search(line, match, field)) continue;
      ++count;
      SCOPED_TRACE(file.path().filename().string() + ":" + std::to_string(number) + ": " + line);
      try {
        FactorRule rule = FactorRule::parse(match[1].str());
        EXPECT_TRUE(rule.named.empty() || find_rule(rule.named)) << "no rule is called " << rule.named;
      } catch (const Error& e) {
        ADD_FAILURE() << e.what();
      }
    }
  }
  EXPECT_GT(count, 0);
}

}  // namespace
}  // namespace paddle::spmd
