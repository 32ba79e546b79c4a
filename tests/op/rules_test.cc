// The rules of every record, run on metadata: what they say with numbers must be what they say with symbols, a
// composition must yield the shapes and dtypes that the shape rule promises, a gradient those of its input, and bad
// input must raise what the record says.
//
// dispatch is replaced by one that only infers: no kernel runs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "api/call.h"
#include "sample.h"
#include "tests/paths.h"

namespace paddle {

namespace {
void infer_only(OpCall& c) {
  c.op.meta(c);
  for (size_t i = 0; i < c.num_outs(); ++i) {
    if (c.op.outs[i].kind == ArgKind::kTensors) {
      for (const TensorMeta& m : c.list_metas) c.out_list(i).push_back(Tensor::meta(m.shape, m.dtype, Place::cpu()));
    } else if (c.meta(i).dtype != DType::kUndefined) {
      c.out(i) = Tensor::meta(c.meta(i).shape, c.meta(i).dtype, Place::cpu());
    }
  }
}
}  // namespace

namespace dispatch {
void call(OpCall& c) { infer_only(c); }
}  // namespace dispatch

namespace {

using nlohmann::json;
using testing::Sample;

json rows() {
  std::ifstream file(std::string(test::kGeneratedFolder) + "/tests/op_rows.json");
  return json::parse(file);
}

// A shape as numbers: of a symbol what it stands for; -1 for a size that only running tells.
std::vector<int64_t> numbers(const Shape& s) {
  std::vector<int64_t> out;
  for (Dim d : s) out.push_back(has_hint(d) ? d.hint() : -1);
  return out;
}

std::vector<const Tensor*> outputs(OpCall& c) {
  std::vector<const Tensor*> all;
  for (size_t i = 0; i < c.num_outs(); ++i) {
    if (c.op.outs[i].kind == ArgKind::kTensors) {
      for (const Tensor& t : c.out_list(i)) all.push_back(&t);
    } else {
      all.push_back(&c.out(i));
    }
  }
  return all;
}

void expect_same(OpCall& a, OpCall& b, const std::string& what) {
  const auto x = outputs(a), y = outputs(b);
  ASSERT_EQ(x.size(), y.size()) << what;
  for (size_t i = 0; i < x.size(); ++i) {
    ASSERT_EQ(x[i]->defined(), y[i]->defined()) << what << ", output " << i;
    if (!x[i]->defined()) continue;
    EXPECT_EQ(numbers(x[i]->shape()), numbers(y[i]->shape())) << what << ", output " << i;
    EXPECT_EQ(x[i]->dtype(), y[i]->dtype()) << what << ", output " << i;
  }
}

Arg saved(const Arg& a, SaveKind kind) { return kind == SaveKind::kNo ? Arg() : a; }

void expect_gradients(const OpInfo& op, OpCall& c, const std::string& what) {
  std::deque<Tensors> lists;
  std::vector<Arg> args, outs, grads;
  std::vector<uint8_t> needs;
  auto floats = [](const Tensor& t) { return t.defined() && is_inexact(t.dtype()); };
  for (size_t i = 0; i < op.args.size(); ++i) {
    const ArgInfo& a = op.args[i];
    args.push_back(is_tensor_kind(a.kind) ? saved(c.args[i], a.saved) : c.args[i]);
    bool need = is_tensor_kind(a.kind) && !a.nondifferentiable;
    for (const Tensor& t : is_tensor_kind(a.kind) ? c.args[i].tensors() : std::span<const Tensor>{}) need &= floats(t);
    needs.push_back(need && !c.args[i].none());
  }
  for (size_t i = 0; i < op.outs.size(); ++i) {
    const OutInfo& o = op.outs[i];
    Arg out = o.kind == ArgKind::kTensors ? Arg(c.out_list(i)) : Arg(c.out(i));
    outs.push_back(saved(out, o.saved));
    grads.push_back(o.nondifferentiable || o.intermediate ? Arg() : out);
  }
  if (std::none_of(needs.begin(), needs.end(), [](uint8_t n) { return n; })) return;
  VjpCall v{op, args, outs, grads, needs, {}};
  v.in_grads.resize(op.args.size());
  op.vjp(v);
  for (size_t i = 0; i < op.args.size(); ++i) {
    if (!needs[i]) continue;
    const bool list = op.args[i].kind == ArgKind::kTensors;
    const auto inputs = c.args[i].tensors();
    const auto got =
        list ? std::span<const Tensor>(v.in_grads[i].list) : std::span<const Tensor>(&v.in_grads[i].tensor, 1);
    ASSERT_EQ(got.size(), inputs.size()) << what << ", gradient of " << op.args[i].name;
    for (size_t k = 0; k < got.size(); ++k) {
      ASSERT_TRUE(got[k].defined()) << what << ", gradient of " << op.args[i].name;
      EXPECT_EQ(numbers(got[k].shape()), numbers(inputs[k].shape())) << what << ", gradient of " << op.args[i].name;
      EXPECT_EQ(got[k].dtype(), inputs[k].dtype()) << what << ", gradient of " << op.args[i].name;
    }
  }
}

void check_sample(const OpInfo& op, const json& values, const std::string& what) {
  std::vector<DimGuard> guards;
  DimGuardSink sink(&guards);
  Sample plain(op, values, false), symbolic(op, values, true);
  OpCall a(op, plain.args()), b(op, symbolic.args());
  infer_only(a);
  infer_only(b);
  expect_same(a, b, what + ", symbolic");
  for (auto* sample : {&plain, &symbolic}) {
    OpCall inferred(op, sample->args());
    infer_only(inferred);
    const std::string mode = what + (sample == &plain ? "" : ", symbolic");
    if (op.decompose) {
      OpCall composed(op, sample->args());
      op.decompose(composed);
      expect_same(inferred, composed, mode + ", composition");
    }
    if (op.vjp) expect_gradients(op, inferred, mode);
  }
}

TEST(Rules, SamplesOfEveryRecord) {
  size_t count = 0;
  for (const json& row : rows()) {
    const OpInfo& op = op_named(row["op"].get<std::string>());
    for (const json& values : row["samples"]) {
      const std::string what =
          row["op"].get<std::string>() + " " + values.dump() + " (" + row["line"].get<std::string>() + ")";
      try {
        check_sample(op, values, what);
      } catch (const std::exception& e) {
        ADD_FAILURE() << what << ": " << e.what();
      }
      ++count;
    }
  }
  EXPECT_GT(count, 400u);
}

const char* name_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kValue:
      return "ValueError";
    case ErrorKind::kType:
      return "TypeError";
    case ErrorKind::kIndex:
      return "IndexError";
    case ErrorKind::kKey:
      return "KeyError";
    case ErrorKind::kRuntime:
      return "RuntimeError";
    case ErrorKind::kNotImplemented:
      return "NotImplementedError";
    default:
      return "?";
  }
}

// Faults of values (an index out of range, an empty interval) show only when a kernel runs.
bool holds_values(const OpInfo& op, const json& values) {
  if (op.has(kRandom)) return true;
  for (const json& v : values) {
    if (v.is_array()) {
      for (const json& item : v)
        if (item.is_object() && item.contains("values")) return true;
    }
    if (v.is_object() && v.contains("values")) return true;
  }
  return false;
}

// What Python sees of a kind: a bad index or axis is a bad value too, a bad argument all three (bindings/errors.cc).
bool is_a(ErrorKind kind, std::string_view name) {
  if (name_of(kind) == name) return true;
  if (kind == ErrorKind::kIndex) return name == "ValueError";
  return kind == ErrorKind::kType && (name == "ValueError" || name == "RuntimeError");
}

TEST(Rules, ErrorsOfEveryRecord) {
  for (const json& row : rows()) {
    const OpInfo& op = op_named(row["op"].get<std::string>());
    for (const json& error : row["errors"]) {
      const std::string what = row["op"].get<std::string>() + " " + error["args"].dump();
      try {
        Sample sample(op, error["args"], false);
        OpCall c(op, sample.args());
        op.meta(c);
        if (!holds_values(op, error["args"])) ADD_FAILURE() << what << ": raised nothing";
      } catch (const Error& e) {
        EXPECT_TRUE(is_a(e.kind(), error["raises"].get<std::string>()))
            << what << ": " << name_of(e.kind()) << " " << e.what();
        EXPECT_THAT(e.what(), ::testing::HasSubstr("[")) << what;
      } catch (const std::exception& e) {
        ADD_FAILURE() << what << ": " << e.what();
      }
    }
  }
}

TEST(Rules, FindOpKnowsEveryName) {
  for (const OpInfo& op : all_ops()) EXPECT_EQ(find_op(op.name), &op);
  EXPECT_EQ(find_op("no_such_operator"), nullptr);
}

// Shapes by hand, for rules whose symbolic and concrete forms could err alike.
struct Expected {
  const char* op;
  const char* values;
  std::vector<std::vector<int64_t>> shapes;
};

TEST(Rules, ShapesByHand) {
  const Expected cases[] = {
      {"reshape", R"({"x":{"dtype":"float32","shape":[2,3,4]},"shape":[0,-1]})", {{2, 12}}},
      {"slice", R"({"input":{"dtype":"float32","shape":[4,5]},"axes":[0,1],"starts":[1,-3],"ends":[3,100]})", {{2, 3}}},
      {"slice", R"({"input":{"dtype":"float32","shape":[4,5]},"axes":[1],"starts":[4],"ends":[2]})", {{4, 0}}},
      {"strided_slice",
       R"({"x":{"dtype":"float32","shape":[6,5]},"axes":[0],"starts":[5],"ends":[0],"strides":[-2]})",
       {{3, 5}}},
      {"strided_slice",
       R"({"x":{"dtype":"float32","shape":[4]},"axes":[0],"starts":[-1],"ends":[-5],"strides":[-1]})",
       {{4}}},
      {"arange", R"({"start":1.0,"end":2.0,"step":0.3,"dtype":"float32"})", {{4}}},
      {"arange", R"({"start":5,"end":0,"step":-2,"dtype":"int64"})", {{3}}},
      {"arange", R"({"start":5,"end":1,"dtype":"int64"})", {{0}}},
      {"unsqueeze", R"({"x":{"dtype":"float32","shape":[2,3]},"axis":[-1,1]})", {{2, 1, 3, 1}}},
      {"tile", R"({"x":{"dtype":"float32","shape":[2,3]},"repeat_times":[2,1,2]})", {{2, 2, 6}}},
      {"diagonal", R"({"x":{"dtype":"float32","shape":[2,3,4]},"offset":1,"axis1":1,"axis2":2})", {{2, 3}}},
      {"diagonal", R"({"x":{"dtype":"float32","shape":[3,4]},"offset":-1})", {{2}}},
      {"tensor_unfold", R"({"input":{"dtype":"float32","shape":[7]},"axis":0,"size":3,"step":2})", {{3, 3}}},
      {"split", R"({"x":{"dtype":"float32","shape":[2,5]},"sections":[1,-1],"axis":1})", {{2, 1}, {2, 4}}},
      {"gather_nd", R"({"x":{"dtype":"float32","shape":[3,4,5]},"index":{"dtype":"int64","shape":[7,2]}})", {{7, 5}}},
      {"topk", R"({"x":{"dtype":"float32","shape":[5,3]},"k":2,"axis":0})", {{2, 3}, {2, 3}}},
      {"sum", R"({"x":{"dtype":"int32","shape":[2,3,4]},"axis":[0,-1],"keepdim":true})", {{1, 3, 1}}},
      {"diag_embed", R"({"input":{"dtype":"float32","shape":[2,3]},"offset":-1,"dim1":0,"dim2":2})", {{4, 2, 4}}},
  };
  for (const Expected& e : cases) {
    const OpInfo& op = op_named(e.op);
    Sample sample(op, json::parse(e.values), false);
    OpCall c(op, sample.args());
    infer_only(c);
    std::vector<std::vector<int64_t>> got;
    for (const Tensor* t : outputs(c)) got.push_back(numbers(t->shape()));
    EXPECT_EQ(got, e.shapes) << e.op << " " << e.values;
  }
}

}  // namespace
}  // namespace paddle
