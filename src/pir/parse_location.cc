#include "pir/parse_attr.h"

namespace paddle::pir {

Location parse_location(Reader& in) {
  in.expect("loc");
  in.expect("(");
  Location loc;
  std::string pass;
  bool derived = in.take("by ");
  if (derived) pass = in.string();
  if (!derived || in.take("from")) {
    if (!in.take("unknown")) {
      struct Frame {
        std::string file, function;
        int line;
      };
      std::vector<Frame> frames;
      do {
        Frame f;
        f.file = in.string();
        in.expect(":");
        int64_t line = in.integer();
        if (line < 0 || line > INT32_MAX) in.bad("a line number");
        f.line = static_cast<int>(line);
        if (in.take("in ")) f.function = in.string();
        frames.push_back(std::move(f));
      } while (in.take("at "));
      for (size_t i = frames.size(); i-- > 0;)
        loc = Location::at(frames[i].file, frames[i].line, frames[i].function, loc);
    }
  }
  in.expect(")");
  return derived ? Location::derived(pass, loc) : loc;
}

}  // namespace paddle::pir
