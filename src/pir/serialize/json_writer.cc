// Programs as Paddle's JSON.
#include <unordered_map>

#include "base/disk_cache.h"
#include "pir/serialize/json.h"
#include "pir/serialize/json_words.h"
#include "pir/serialize/wire_types.h"
#include "spmd/placement.h"

namespace paddle::pir::wire {
namespace {

class Writer {
 public:
  Json write(const Program& p, const JsonInfo& info) {
    Json root;
    root["base_code"] = {{"magic", "pir"}, {"trainable", info.trainable}, {"version", info.version}};
    root["program"]["regions"] = Json::array({region(p.region())});
    if (info.digest) root["base_code"]["digest"]["program"] = digest_of(root["program"].dump()).str();
    if (!info.parameters_digest.empty()) root["base_code"]["digest"]["parameters"] = info.parameters_digest;
    return root;
  }

 private:
  Json region(const Region& r) {
    Json j;
    j["#"] = fmt::format("region_{}", regions_++);
    j["blocks"] = Json::array();
    for (size_t i = 0; i < r.size(); ++i) j["blocks"].push_back(block(r.block(i)));
    return j;
  }

  Json block(const Block& b) {
    Json j;
    j["#"] = fmt::format("block_{}", blocks_++);
    j["args"] = Json::array();
    for (size_t i = 0; i < b.num_args(); ++i) {
      int64_t id = -++arguments_;
      ids_[b.arg(i)] = id;
      Json a = {{"#", id}, {"TT", type(b.arg(i).type())}};
      if (Attribute key = b.arg(i).attr("keyword")) {
        a["key"] = key.as_string();
        j["kwargs"].push_back(std::move(a));
      } else {
        j["args"].push_back(std::move(a));
      }
    }
    j["ops"] = Json::array();
    for (Operation& op : b) j["ops"].push_back(operation(op));
    return j;
  }

  static std::string op_code(const Operation& op) {
    for (size_t i = 0; i < std::size(kDialects); ++i)
      if (op.def().dialect == kDialects[i]) return fmt::format("{}.{}", i, op.def().short_name());
    unsupported(op.describe() + " has no place in Paddle's files");
  }

  Json operation(const Operation& op) {
    if (op.is("builtin.parameter")) return parameter(op);
    Json j;
    j["#"] = op_code(op);
    j["I"] = Json::array();
    for (const OpOperand& o : op.op_operands()) {
      if (o.get() && !ids_.count(o.get())) malformed("{} uses a value that is not defined before it", op.describe());
      j["I"].push_back({{"%", o.get() ? ids_[o.get()] : 0}});
    }
    attributes(op, j);
    // Results take their numbers before what is inside the regions, as in Paddle.
    j["O"] = Json::array();
    for (size_t i = 0; i < op.num_results(); ++i) j["O"].push_back(result(op.result(i)));
    for (size_t r = 0; r < op.num_regions(); ++r) j["regions"].push_back(region(op.region(r)));
    return j;
  }

  Json result(Value v) {
    ids_[v] = ++values_;
    return {{"%", values_}, {"TT", type(v.type())}};
  }

  static bool describes_results(std::string_view name) { return name == "stop_gradient" || name == "persistable"; }

  void attributes(const Operation& op, Json& j) {
    j["A"] = Json::array();
    j["OA"] = Json::array();
    auto put = [&](Json& list, std::string_view name, const Attribute& value) {
      const AttrDef* def = op.def().attr(name);
      list.push_back({{"AT", attribute(op, to_wire(op.def(), def, value))}, {"N", name}});
    };
    // In the order of the operation's table, then the rest by name.
    for (const AttrDef& a : op.def().attrs)
      if (const Attribute* v = op.attrs().find(a.name)) put(j["A"], a.name, *v);
    for (const NamedAttr& a : op.attrs()) {
      if (op.def().attr(a.name.str())) continue;
      put(j[describes_results(a.name.str()) ? "OA" : "A"], a.name.str(), a.value);
    }
  }

  Json parameter(const Operation& op) {
    auto flag = [&](const char* name, bool otherwise) {
      Attribute a = op.attr(name);
      if (a.kind() == AttrKind::kArray && !a.items().empty()) a = a.items()[0];
      return static_cast<int>(a.kind() == AttrKind::kBool ? a.as_bool() : otherwise);
    };
    Json j;
    j["#"] = "p";
    j["A"] = {flag("is_distributed", false), flag("is_parameter", true), flag("need_clip", true),
              op.attr("parameter_name").as_string()};
    j["OA"] = {flag("persistable", true), flag("stop_gradient", false), flag("trainable", true)};
    j["DA"] = Json::array();
    j["QA"] = Json::array();
    j["O"] = result(op.result());
    return j;
  }

  // -1 where Paddle has no other word, and the expressions beside it.
  static Json dims(const Shape& s) {
    Json j = Json::array();
    for (Dim d : s) j.push_back(d.is_const() ? d.value() : -1);
    return j;
  }
  static void expressions(const Shape& s, Json& owner) {
    if (is_static(view(s))) return;
    Json j = Json::array();
    for (Dim d : s) j.push_back(d.str());
    owner["SD"] = std::move(j);
  }

  static Json dtype(DType t) {
    for (const DTypeCode& d : kDTypeCodes)
      if (d.dtype == t) return {{"#", d.code}};
    unsupported(fmt::format("Paddle's files have no tensors of dtype {}", dtype_word(t)));
  }

  static Json type(Type t) {
    Json j;
    switch (t.kind()) {
      case TypeKind::kNone:
        j["#"] = "NULL";
        return j;
      case TypeKind::kStack:
        j["#"] = "2.t_stack";
        return j;
      case TypeKind::kInlet:
        j["#"] = "2.t_inlet";
        return j;
      case TypeKind::kOutlet:
        j["#"] = "2.t_outlet";
        return j;
      case TypeKind::kScalar:
        return dtype(t.dtype());
      case TypeKind::kVector:
        j["#"] = "0.t_vec";
        j["D"] = Json::array();
        for (Type e : t.elements()) j["D"].push_back(type(e));
        return j;
      case TypeKind::kTensor:
        j["#"] = "0.t_dtensor";
        j["D"] = {dtype(t.dtype()), dims(t.shape()), name_of(t.layout()), Json::array(), 0};
        expressions(t.shape(), j);
        return j;
      case TypeKind::kSelectedRows:
        j["#"] = "1.t_selected_rows";
        j["D"] = {dtype(t.dtype()), dims(t.shape()), name_of(t.layout()), Json::array(), 0};
        expressions(t.shape(), j);
        return j;
      case TypeKind::kTensorArray:
        j["#"] = "1.t_dense_tensor_array";
        j["D"] = {dtype(t.dtype()), dims(t.shape()), name_of(t.layout())};
        expressions(t.shape(), j);
        return j;
      case TypeKind::kDist:
        j["#"] = "4.t_dist_dtensor";
        j["D"] = {type(t.global()), tensor_dist(t.dist_attr(), t.shape().size()), dims(t.local().shape())};
        expressions(t.local().shape(), j);
        return j;
      default:
        unsupported("type " + t.str() + " has no place in Paddle's files");
    }
  }

  static Json tensor_dist(const spmd::DistAttr& a, size_t rank) {
    std::vector<int64_t> mapping(rank, -1);
    Json partial = Json::array();
    for (size_t i = 0; i < a.placements.size(); ++i) {
      const spmd::Placement& p = a.placements[i];
      if (p.is_shard()) {
        if (static_cast<size_t>(p.dim) >= rank || mapping[static_cast<size_t>(p.dim)] != -1)
          unsupported("Paddle's files can't say that several mesh axes shard one dimension");
        mapping[static_cast<size_t>(p.dim)] = static_cast<int64_t>(i);
      }
      static constexpr int codes[] = {0, 4, 1, 2, 3, 5, 6};  // by PartialKind
      if (p.is_partial()) partial.push_back({i, codes[static_cast<size_t>(p.partial)]});
    }
    Json mesh = {{"#", "4.a_process_mesh"}, {"D", {a.mesh.shape(), a.mesh.process_ids(), a.mesh.dim_names()}}};
    return {{"#", "4.a_tensor_dist"}, {"D", {mesh, mapping, partial}}};
  }

  static Json number(const char* code, double v) {
    Json j = {{"#", code}};
    if (std::isnan(v))
      j["VD"] = "NAN";
    else if (std::isinf(v))
      j["VD"] = v < 0 ? "-INF" : "INF";
    else
      j["D"] = v;
    return j;
  }

  Json attribute(const Operation& op, const Attribute& a) {
    auto of = [](const char* code, Json data) { return Json{{"#", code}, {"D", std::move(data)}}; };
    switch (a.kind()) {
      case AttrKind::kNone:
        return Json{{"#", "NULL"}};
      case AttrKind::kBool:
        return of("0.a_bool", a.as_bool());
      case AttrKind::kInt32:
        return of("0.a_i32", a.as_int());
      case AttrKind::kInt64:
        return of("0.a_i64", a.as_int());
      case AttrKind::kFloat:
        return number("0.a_f32", a.as_double());
      case AttrKind::kDouble:
        return number("0.a_f64", a.as_double());
      case AttrKind::kComplex64:
        return of("0.a_c64", {a.as_complex().real(), a.as_complex().imag()});
      case AttrKind::kComplex128:
        return of("0.a_c128", {a.as_complex().real(), a.as_complex().imag()});
      case AttrKind::kString:
        return of("0.a_str", a.as_string());
      case AttrKind::kSymbol:
        return of("0.a_tensorname", a.as_string());
      case AttrKind::kDType:
        return of("1.a_dtype", dtype_word(a.as_dtype()));
      case AttrKind::kPlace:
        return place(a);
      case AttrKind::kType:
        return of("0.a_type", type(a.as_type()));
      case AttrKind::kScalar:
        return attribute(op, a.inner());
      case AttrKind::kArray: {
        Json items = Json::array();
        for (const Attribute& x : a.items()) items.push_back(attribute(op, x));
        return of("0.a_array", std::move(items));
      }
      case AttrKind::kIntArray: {
        Json j = of("1.a_intarray", dims(a.as_ints()));
        expressions(a.as_ints(), j);
        return j;
      }
      case AttrKind::kDim: {
        if (a.as_dim().is_const()) return of("0.a_i64", a.as_dim().value());
        Json j = of("0.a_i64", -1);
        j["SD"] = a.as_dim().str();
        return j;
      }
      case AttrKind::kDist:
        return tensor_dist(a.as_dist(), 8);
      default:
        unsupported(fmt::format("{} has an attribute of kind {}, which Paddle's files can't hold", op.describe(),
                                name_of(a.kind())));
    }
  }

  static Json place(const Attribute& a) {
    if (a.place_undefined()) return {{"#", "1.a_place"}, {"D", {0, 0, ""}}};
    Place p = a.as_place();
    if (p.is_cpu()) return {{"#", "1.a_place"}, {"D", {1, 0, ""}}};
    std::string name = to_string(p);
    name = name.substr(0, name.find(':'));
    bool gpu = name == "gpu";
    return {{"#", "1.a_place"}, {"D", {gpu ? 2 : 9, p.index, gpu ? "" : name}}};
  }

  std::unordered_map<Value, int64_t> ids_;
  int64_t values_ = 0, arguments_ = 0;
  int regions_ = 0, blocks_ = 0;
};

}  // namespace

Json write_program(const Program& program, const JsonInfo& info) { return Writer().write(program, info); }

}  // namespace paddle::pir::wire
