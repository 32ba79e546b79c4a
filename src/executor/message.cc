#include "executor/message.h"

#include <cstdio>

namespace paddle::executor {
namespace {

std::string plainly(const Message& m, std::span<const Tensor> tensors) {
  std::string out;
  size_t at = 0;
  for (const std::string& t : m.texts) {
    if (t == "\x02")
      out += m.sep;
    else if (t.starts_with('\x01'))
      out += "Tensor" + to_string(view(tensors[at++].shape()));
    else
      out += t;
  }
  return out;
}

void print_plainly(const Message& m, std::span<const Tensor> tensors) {
  std::FILE* file = m.file == "stderr" ? stderr : stdout;
  std::fputs((plainly(m, tensors) + m.end).c_str(), file);
  if (m.flush) std::fflush(file);
}

}  // namespace

std::shared_ptr<const Message> message_of(const pir::Operation& op) {
  auto m = std::make_shared<Message>();
  if (pir::Attribute texts = op.attr("texts"))
    for (const pir::Attribute& a : texts.items()) m->texts.push_back(a.as_string());
  if (pir::Attribute whole = op.attr("message")) m->texts = {whole.as_string()};  // files of before
  auto text = [&](const char* name, std::string& to) {
    if (pir::Attribute a = op.attr(name)) to = a.as_string();
  };
  text("sep", m->sep);
  text("end", m->end);
  text("file", m->file);
  if (pir::Attribute a = op.attr("flush")) m->flush = a.as_bool();
  return m;
}

void (*print_hook)(const Message&, std::span<const Tensor>) = print_plainly;
std::string (*format_hook)(const Message&, std::span<const Tensor>) = plainly;

}  // namespace paddle::executor
