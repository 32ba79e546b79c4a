// The text of a record's loops as opgen writes it: nested lists of words.
//
//     (set out (at ... (i i) (i j)) (if (le (i j) (i i)) (read x ... (i i) (i j)) (int 0)))
//
// tools/opgen/loop_lang.py says what people write and checks it; what stands here is right, or the generator is wrong.
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace paddle::cinn {

struct NestTerm {
  std::string word;  // of a list: its first word
  std::vector<NestTerm> items;
  bool is_list = false;
};

// All terms of the text, in order. InternalError where brackets don't match.
std::vector<NestTerm> parse_nest(std::string_view text);

}  // namespace paddle::cinn
