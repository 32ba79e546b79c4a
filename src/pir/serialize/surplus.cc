#include "pir/serialize/json.h"

namespace paddle::pir {

namespace {

void without_surplus(Operation& op) {
  const size_t known = op.def().results.size();
  for (size_t i = known; i < op.num_results(); ++i)
    if (!op.result(i).use_empty()) return;  // whoever uses it says what is missing
  std::vector<Type> types;
  for (size_t i = 0; i < known; ++i) types.push_back(op.result(i).type());
  AttrMap attrs = op.attrs();
  for (const NamedAttr& a : op.attrs()) {  // facts about results are lists with one item each
    bool per_result = a.value.kind() == AttrKind::kArray && a.value.items().size() == op.num_results();
    if (per_result && !op.def().attr(a.name.str())) attrs.set(a.name, Attribute::array(a.value.items().first(known)));
  }
  Operation* fresh = Operation::create(op.def(), op.operands(), std::move(attrs), types, 0, op.loc());
  op.block()->insert(&op, fresh);
  for (size_t i = 0; i < known; ++i) op.result(i).replace_all_uses_with(fresh->result(i));
  op.erase();
}

}  // namespace

void drop_surplus_results(Program& program) {
  std::vector<Operation*> ops;
  program.walk([&](Operation& op) {
    if (op.info() && op.block() && op.num_regions() == 0 && !op.def().variadic_results() &&
        op.num_results() > op.def().results.size())
      ops.push_back(&op);
  });
  for (Operation* op : ops) without_surplus(*op);
}

}  // namespace paddle::pir
