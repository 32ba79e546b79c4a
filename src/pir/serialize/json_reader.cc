// Programs out of Paddle's JSON.
#include <set>
#include <unordered_map>

#include "base/disk_cache.h"
#include "pir/serialize/json.h"
#include "pir/serialize/json_words.h"
#include "pir/serialize/wire_types.h"
#include "spmd/placement.h"

namespace paddle::pir::wire {
namespace {

class Reader {
 public:
  Program read(const Json& root, JsonInfo* info) {
    const Json& base = member(root, "base_code");
    if (text(member(base, "magic"), "magic") != "pir") malformed("expected magic \"pir\"");
    int64_t version = integer(member(base, "version"), "version");
    if (version < 1 || version > kJsonVersion)
      unsupported(fmt::format("version {} is unknown; versions 1 to {} can be read", version, kJsonVersion));
    if (info) {
      info->version = static_cast<int>(version);
      if (auto it = base.find("trainable"); it != base.end()) info->trainable = boolean(*it, "trainable");
    }
    Program p;
    compare_digests(root, base, p);
    const Json& regions = array(member(member(root, "program"), "regions"), "regions");
    if (regions.size() != 1) malformed("expected one region, got {}", regions.size());
    const Json& blocks = array(member(regions[0], "blocks"), "blocks");
    if (blocks.size() != 1) malformed("expected one block, got {}", blocks.size());
    find_unknown(blocks[0], 0);
    if (!unknown_.empty()) {
      std::string names;
      for (const std::string& n : unknown_) names += (names.empty() ? "" : ", ") + n;
      unsupported("these operations are not known: " + names);
    }
    block(blocks[0], p.block(), 0);
    return p;
  }

 private:
  static void compare_digests(const Json& root, const Json& base, Program& p) {
    auto digest = base.find("digest");
    if (digest == base.end()) return;
    if (auto it = digest->find("program"); it != digest->end())
      if (text(*it, "digest") != digest_of(member(root, "program").dump()).str())
        malformed(
            "the program was changed since it was written, its digest is another; to read a file that was changed on "
            "purpose, remove the key \"digest\" from \"base_code\"");
    if (auto it = digest->find("parameters"); it != digest->end())
      p.module().set_attr(kParametersDigest, Attribute::string(text(*it, "digest")));
  }

  // All unknown operations at once: a user who must know what is missing wants the whole list.
  void find_unknown(const Json& b, int depth) {
    if (depth > kMaxDepth) malformed("regions are nested too deeply");
    for (const Json& op : array(member(b, "ops"), "ops")) {
      std::string name = op_name(text(member(op, "#"), "an operation's name"));
      if (!find_op_def(name)) unknown_.insert(name);
      auto it = op.find("regions");
      if (it == op.end()) continue;
      for (const Json& region : array(*it, "regions"))
        for (const Json& inner : array(member(region, "blocks"), "blocks")) find_unknown(inner, depth + 1);
    }
  }

  static std::string op_name(const std::string& code) {
    if (code == "p") return "builtin.parameter";
    size_t dot = code.find('.');
    if (dot == std::string::npos)
      malformed("expected an operation's name as \"1.add\", got \"{}\"", code.substr(0, 80));
    std::string prefix = code.substr(0, dot);
    for (size_t i = 0; i < std::size(kDialects); ++i)
      if (prefix == std::to_string(i)) return std::string(kDialects[i]) + code.substr(dot);
    return code;
  }

  void block(const Json& j, Block& to, int depth) {
    if (auto it = j.find("args"); it != j.end())
      for (const Json& a : array(*it, "args")) argument(a, to);
    if (auto it = j.find("kwargs"); it != j.end())
      for (const Json& a : array(*it, "kwargs")) {
        Value v = argument(a, to);
        if (auto key = a.find("key"); key != a.end()) v.set_attr("keyword", Attribute::string(text(*key, "key")));
      }
    size_t number = 0;
    for (const Json& op : member(j, "ops")) {
      try {
        operation(op, to, depth);
      } catch (const Error& e) {
        // The innermost operation names itself.
        std::string message = e.what();
        if (message.find(" (operation ") != std::string::npos) throw;
        std::string name = op.is_object() && op.contains("#") && op["#"].is_string() ? op["#"].get<std::string>() : "?";
        throw Error(e.kind(), fmt::format("{} (operation {} of its block, {})", message, number, name.substr(0, 80)));
      }
      ++number;
    }
  }

  Value argument(const Json& a, Block& to) {
    Value v = to.add_arg(type(member(a, "TT"), 0));
    define(integer(member(a, "#"), "an argument's number"), v);
    return v;
  }

  void define(int64_t id, Value v) {
    if (id == 0 || !values_.emplace(id, v).second) malformed("value {} is defined twice, or 0", id);
  }

  void operation(const Json& j, Block& to, int depth) {
    if (text(member(j, "#"), "name") == "p") return parameter(j, to);
    const OpDef& def = op_def(op_name(j["#"].get<std::string>()));
    std::vector<Value> operands;
    for (const Json& o : array(member(j, "I"), "I")) {
      int64_t id = integer(member(o, "%"), "an operand");
      auto it = values_.find(id);
      if (id != 0 && it == values_.end()) malformed("operand {} is not defined before its use", id);
      operands.push_back(id == 0 ? Value() : it->second);
    }
    std::vector<Type> types;
    std::vector<int64_t> ids;
    for (const Json& r : array(member(j, "O"), "O")) {
      ids.push_back(integer(member(r, "%"), "a result's number"));
      types.push_back(type(member(r, "TT"), 0));
    }
    AttrMap attrs;
    for (const char* list : {"A", "OA", "DA", "QA"}) {
      auto it = j.find(list);
      if (it == j.end()) continue;
      for (const Json& a : array(*it, list)) {
        std::string name = text(member(a, "N"), "an attribute's name");
        attrs.set(Name(name), attribute(member(a, "AT"), 0));
      }
    }
    def.fill_defaults(attrs);  // of a version that had fewer
    size_t num_regions = 0;
    auto regions = j.find("regions");
    if (regions != j.end()) num_regions = array(*regions, "regions").size();
    Operation* op = Operation::create(def, operands, std::move(attrs), types, num_regions, Location::unknown());
    to.push_back(op);  // owned from here on
    for (size_t r = 0; r < num_regions; ++r)
      for (const Json& b : array(member((*regions)[r], "blocks"), "blocks"))
        block(b, op->region(r).add_block(), depth + 1);
    for (size_t i = 0; i < ids.size(); ++i) define(ids[i], op->result(i));
  }

  // {"#": "p", "A": [is_distributed, is_parameter, need_clip, name], "O": one value, "OA": [persistable, stop_gradient,
  // trainable]}
  void parameter(const Json& j, Block& to) {
    const Json &a = member(j, "A"), &o = member(j, "O"), &oa = member(j, "OA");
    auto flag = [](const Json& list, size_t i, const char* what) {
      return Attribute::array({Attribute::boolean(boolean(item(list, i, what), what))});
    };
    AttrMap attrs{{"is_distributed", flag(a, 0, "is_distributed")},
                  {"is_parameter", flag(a, 1, "is_parameter")},
                  {"need_clip", flag(a, 2, "need_clip")},
                  {"parameter_name", Attribute::string(text(item(a, 3, "a parameter's name"), "a parameter's name"))},
                  {"persistable", flag(oa, 0, "persistable")},
                  {"stop_gradient", flag(oa, 1, "stop_gradient")},
                  {"trainable", flag(oa, 2, "trainable")}};
    for (const char* list : {"DA", "QA"}) {
      auto it = j.find(list);
      if (it == j.end()) continue;
      for (const Json& x : array(*it, list)) attrs.set(Name(text(member(x, "N"), "N")), attribute(member(x, "AT"), 0));
    }
    std::vector<Type> types = {type(member(o, "TT"), 0)};
    Operation* op = Operation::create(op_def("builtin.parameter"), {}, std::move(attrs), types, 0, Location::unknown());
    to.push_back(op);
    define(integer(member(o, "%"), "a parameter's number"), op->result());
  }

  static DType dtype(const Json& j) {
    std::string code = text(member(j, "#"), "a dtype");
    for (const DTypeCode& d : kDTypeCodes)
      if (code == d.code) return d.dtype;
    unsupported("dtype \"" + code.substr(0, 80) + "\" is not known");
  }

  static Shape dims(const Json& j) {
    Shape s;
    for (int64_t d : integers(j, "dimensions")) {
      s.push_back(d < 0 ? -1 : d);  // official Paddle multiplies unknown extents, too
    }
    return s;
  }
  // Our own key beside Paddle's: sizes as expressions.
  static Shape dims(const Json& j, const Json& owner) {
    Shape s = dims(j);
    auto it = owner.find("SD");
    if (it == owner.end()) return s;
    array(*it, "SD");
    if (it->size() != s.size()) malformed("expected {} sizes under SD, got {}", s.size(), it->size());
    for (size_t i = 0; i < s.size(); ++i) s[i] = parse_dim(text((*it)[i], "a size"));
    return s;
  }

  static Layout layout(const Json& j) {
    std::string name = text(j, "a layout");
    Layout l;
    if (!layout_from_name(name, &l)) unsupported("layout \"" + name.substr(0, 80) + "\" is not known");
    return l;
  }

  static Type type(const Json& j, int depth) {
    if (depth > kMaxDepth) malformed("types are nested too deeply");
    std::string code = text(member(j, "#"), "a type");
    if (code == "NULL") return {};
    if (code == "2.t_stack") return Type::marker(TypeKind::kStack);
    if (code == "2.t_inlet") return Type::marker(TypeKind::kInlet);
    if (code == "2.t_outlet") return Type::marker(TypeKind::kOutlet);
    if (code == "0.t_vec") {
      std::vector<Type> items;
      for (const Json& x : array(member(j, "D"), "D")) items.push_back(type(x, depth + 1));
      return Type::vector(items);
    }
    if (code == "0.t_dtensor" || code == "1.t_selected_rows" || code == "1.t_dense_tensor_array") {
      const Json& d = member(j, "D");
      TypeKind kind = code == "0.t_dtensor"         ? TypeKind::kTensor
                      : code == "1.t_selected_rows" ? TypeKind::kSelectedRows
                                                    : TypeKind::kTensorArray;
      if (kind == TypeKind::kTensor && d.is_array() && d.size() > 3 && !array(d[3], "levels").empty())
        unsupported("tensors with levels of detail (LoD)");
      return Type::tensor_like(kind, dtype(item(d, 0, "D")), dims(item(d, 1, "D"), j), layout(item(d, 2, "D")));
    }
    if (code == "4.t_dist_dtensor") return dist_type(j, depth);
    for (const DTypeCode& d : kDTypeCodes)
      if (code == d.code) return Type::scalar(d.dtype);
    unsupported("type \"" + code.substr(0, 80) + "\" is not known");
  }

  static Type dist_type(const Json& j, int depth) {
    const Json& d = member(j, "D");
    Json dense = item(d, 0, "D");
    if (dense.is_object() && !dense.contains("#")) dense["#"] = "0.t_dtensor";
    Type global = type(dense, depth + 1);
    if (!global.is_tensor()) malformed("expected a dense tensor type");
    spmd::DistAttr attr = tensor_dist(item(d, 1, "D"), global.shape().size());
    Shape local = dims(item(d, 2, "D"), j);
    if (local.size() != global.shape().size()) malformed("the local shape has another rank");
    return Type::dist(global, attr, local);
  }

  // [mesh, per dimension the mesh axis that shards it or -1, [[mesh axis, reduction], ...]]
  static spmd::DistAttr tensor_dist(const Json& j, size_t rank) {
    const Json& d = member(j, "D");
    const Json& mesh = member(item(d, 0, "D"), "D");
    std::vector<std::string> names;
    for (const Json& n : array(item(mesh, 2, "mesh"), "names")) names.push_back(text(n, "a mesh axis"));
    spmd::DistAttr attr;
    attr.mesh =
        spmd::ProcessMesh(integers(item(mesh, 0, "mesh"), "mesh"), integers(item(mesh, 1, "mesh"), "ranks"), names);
    int64_t axes = attr.mesh.ndim();
    attr.placements.assign(static_cast<size_t>(axes), spmd::Replicate());
    auto mapping = integers(item(d, 1, "D"), "dims_mapping");
    if (mapping.size() > rank) malformed("dims_mapping has {} entries for rank {}", mapping.size(), rank);
    for (size_t i = 0; i < mapping.size(); ++i) {
      if (mapping[i] == -1) continue;
      if (mapping[i] < 0 || mapping[i] >= axes) malformed("mesh axis {} of {}", mapping[i], axes);
      attr.placements[static_cast<size_t>(mapping[i])] = spmd::Shard(static_cast<int>(i));
    }
    for (const Json& p : array(item(d, 2, "D"), "partial")) {
      using K = spmd::PartialKind;
      static constexpr K kinds[] = {K::kSum, K::kMax, K::kMin, K::kProd, K::kAvg, K::kAny, K::kAll};
      auto axis = static_cast<size_t>(integer_in(item(p, 0, "partial"), "a mesh axis", 0, axes - 1));
      attr.placements[axis] = spmd::Partial(kinds[integer_in(item(p, 1, "partial"), "a reduction", 0, 6)]);
    }
    return attr;
  }

  static Attribute scalar(const Json& d) {
    std::string name = text(item(d, 0, "a scalar"), "a scalar's dtype");
    const Json& v = item(d, 1, "a scalar");
    DType t = dtype_from_name(name);
    if (t == DType::kBool) return Attribute::scalar(Attribute::boolean(boolean(v, "a scalar")));
    if (t == DType::kInt32)
      return Attribute::scalar(Attribute::i32(static_cast<int32_t>(integer_in(v, "a scalar", INT32_MIN, INT32_MAX))));
    if (is_integer(t) && name != "uint16") return Attribute::scalar(Attribute::i64(integer(v, "a scalar")));
    if (t == DType::kFloat32) return Attribute::scalar(Attribute::f32(static_cast<float>(real(v, "a scalar"))));
    if (t == DType::kFloat64) return Attribute::scalar(Attribute::f64(real(v, "a scalar")));
    if (is_complex(t))
      return Attribute::scalar(Attribute::c128({real(v, "a scalar"), real(item(d, 2, "a scalar"), "a scalar")}));
    unsupported("a scalar of dtype \"" + name.substr(0, 80) + "\"");
  }

  static Attribute attribute(const Json& j, int depth) {
    if (depth > kMaxDepth) malformed("attributes are nested too deeply");
    std::string code = text(member(j, "#"), "an attribute's kind");
    if (code == "NULL") return {};
    if (code == "0.a_f32") return Attribute::f32(static_cast<float>(float_of(j)));
    if (code == "0.a_f64") return Attribute::f64(float_of(j));
    const Json& d = member(j, "D");
    if (code == "0.a_bool") return Attribute::boolean(boolean(d, "a_bool"));
    if (code == "0.a_i32") {
      if (auto sd = j.find("SD"); sd != j.end()) return Attribute::dim(parse_dim(text(*sd, "SD")));
      return Attribute::i32(static_cast<int32_t>(integer_in(d, "a_i32", INT32_MIN, INT32_MAX)));
    }
    if (code == "0.a_i64" || code == "0.a_index") {
      if (auto sd = j.find("SD"); sd != j.end()) return Attribute::dim(parse_dim(text(*sd, "SD")));
      return Attribute::i64(integer(d, "a_i64"));
    }
    if (code == "0.a_str") return Attribute::string(text(d, "a_str"));
    if (code == "0.a_tensorname") return Attribute::symbol(text(d, "a_tensorname"));
    if (code == "0.a_c64")
      return Attribute::c64({static_cast<float>(real(item(d, 0, "a_c64"), "a_c64")),
                             static_cast<float>(real(item(d, 1, "a_c64"), "a_c64"))});
    if (code == "0.a_c128")
      return Attribute::c128({real(item(d, 0, "a_c128"), "a_c128"), real(item(d, 1, "a_c128"), "a_c128")});
    if (code == "0.a_array") {
      std::vector<Attribute> items;
      for (const Json& x : array(d, "a_array")) items.push_back(attribute(x, depth + 1));
      return Attribute::array(items);
    }
    if (code == "0.a_type") return Attribute::type(type(d, depth + 1));
    if (code == "1.a_intarray") {
      Shape s;
      for (int64_t v : integers(d, "a_intarray")) s.push_back(v);
      if (auto sd = j.find("SD"); sd != j.end()) {
        s.clear();
        for (const Json& x : array(*sd, "SD")) s.push_back(parse_dim(text(x, "a size")));
      }
      return Attribute::ints(view(s));
    }
    if (code == "1.a_dtype") {
      std::string name = text(d, "a_dtype");
      if (name.starts_with("Undefined")) return Attribute::dtype(DType::kUndefined);
      DType t = dtype_from_name(name);
      if (t == DType::kUndefined) unsupported("dtype \"" + name.substr(0, 80) + "\" is not known");
      return Attribute::dtype(t);
    }
    if (code == "1.a_place") return place(d);
    if (code == "1.a_scalar") return scalar(d);
    if (code == "4.a_tensor_dist") return Attribute::dist(tensor_dist(j, 64));
    unsupported("attribute kind \"" + code.substr(0, 80) + "\" is not known");
  }

  // [kind, device, name]: 0 anywhere, 1 the CPU, 2 a GPU, others by name. A device that isn't here is left to
  // placement.
  static Attribute place(const Json& d) {
    int64_t kind = integer_in(item(d, 0, "a_place"), "a kind of device", 0, 127);
    int64_t index = integer_in(item(d, 1, "a_place"), "a device", -128, 127);
    std::string name = text(item(d, 2, "a_place"), "a device's name");
    if (kind == 1) return Attribute::place(Place::cpu());
    if (kind == 0) return Attribute::undefined_place();
    try {
      return Attribute::place(place_from_string(fmt::format("{}:{}", kind == 2 ? "gpu" : name, index)));
    } catch (const Error&) {
      return Attribute::undefined_place();
    }
  }

  std::unordered_map<int64_t, Value> values_;
  std::set<std::string> unknown_;
};

}  // namespace

Program read_program(const Json& root, JsonInfo* info) { return Reader().read(root, info); }

}  // namespace paddle::pir::wire
