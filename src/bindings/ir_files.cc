// Programs cut to what some outputs need, and their files.
#include <algorithm>
#include <fstream>
#include <sstream>

#include "base/error.h"
#include "bindings/ir_classes.h"
#include "compile/official.h"
#include "passes/passes.h"
#include "pir/serialize/json.h"
#include "pir/serialize/params.h"

namespace paddle::bindings {
namespace {

using dispatch::Trace;

// Inputs that nothing depends on need not be fed.
void drop_unused_inputs(pir::Program& p) {
  // What overwrites an argument writes nothing where no builtin.set_parameter takes its result.
  for (bool again = true; again;) {
    passes::remove_dead_code(p.module());
    again = false;
    std::vector<pir::Operation*> ops = p.block().ops();
    for (size_t i = ops.size(); i-- > 0;)
      if (ops[i]->info() && ops[i]->has(kInplaceOnly) && ops[i]->results_unused()) {
        ops[i]->erase();
        again = true;
      }
  }
  std::vector<pir::Operation*> unused;
  for (pir::Operation& op : p.block())
    if ((op.is("pd_op.data") || op.is("pd_op.feed") || op.is("builtin.parameter")) && op.result().use_empty())
      unused.push_back(&op);
  for (pir::Operation* op : unused) {
    if (op->is("builtin.parameter")) p.erase_parameter(op->attr("parameter_name").as_string());
    op->erase();
  }
}

// A copy that gives out `outs` and, where wanted, keeps its writes.
}  // namespace

pir::Program cut_to(IrProgram& program, const Tensors& outs, bool writes, bool as_fetch) {
  std::vector<pir::Value> values;
  for (const Tensor& t : outs) values.push_back(resolve(program, t));
  pir::ValueMap map;
  pir::Program p = program.building().snapshot(map, [&](const Trace::Captured&) { return writes; });
  for (pir::Operation& op : p.block())
    if (op.is("pd_op.fetch") || op.is("builtin.shadow_output")) op.erase();
  pir::Builder b;
  pir::Operation* first_write = nullptr;
  for (pir::Operation& op : p.block())
    if (op.is("builtin.set_parameter") && !first_write) first_write = &op;
  if (first_write)
    b.before(first_write);
  else
    b.to_end(&p.block());
  for (size_t i = 0; i < values.size(); ++i) {
    pir::Value v = pir::mapped(map, values[i]);
    if (as_fetch)
      b.fetch("fetch_name_" + std::to_string(i), v, static_cast<int>(i));
    else
      b.shadow_output("fetch_" + std::to_string(i), v);
  }
  drop_unused_inputs(p);
  return p;
}

namespace {

// pruned(program, outputs): a new program that gives out just these, as pd_op.fetch.
PyObject* pruned(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *program, *outs;
    if (!PyArg_ParseTuple(args, "OO", &program, &outs)) throw PythonError();
    auto state = std::make_shared<IrProgram>();
    pir::Program p = cut_to(program_of(program), tensors_from(outs, "fetch_vars"), false, true);
    state->trace = std::make_unique<Trace>(Trace::Lasting{}, "program", std::move(p));
    for (pir::Operation& op : state->program().block())
      if (op.is("pd_op.fetch")) state->fetched.push_back(state->trace->tensor_of(op.operand(0), true));
    return wrap_program_state(std::move(state), Py_TYPE(program));
  });
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  check(static_cast<bool>(in), ErrorKind::kOS, "can't read '{}': no such file, or not readable", path);
  std::ostringstream out;
  out << in.rdbuf();
  return std::move(out).str();
}

// to_json(program, tensors=None): with the digests of the program and of these, its parameters in the file's order.
PyObject* to_json(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *program, *tensors = Py_None;
    if (!PyArg_ParseTuple(args, "O|O", &program, &tensors)) throw PythonError();
    IrProgram& p = program_of(program);
    pir::ValueMap map;
    pir::JsonInfo info;
    info.digest = tensors != Py_None;
    if (info.digest) info.parameters_digest = pir::digest_of_tensors(tensors_from(tensors, "parameters"));
    return text(
        pir::program_to_json(compile::official_form(p.trace ? p.trace->snapshot(map) : p.program().clone()), info));
  });
}
// compare_digest(program, tensors): ValueError if its file said that they are others.
PyObject* compare_digest(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *program, *tensors;
    if (!PyArg_ParseTuple(args, "OO", &program, &tensors)) throw PythonError();
    pir::compare_digest(program_of(program).program(), tensors_from(tensors, "parameters"));
    Py_RETURN_NONE;
  });
}
// from_json(text, parameters, type): parameters are a dict that fills the program's, or bytes of a .pdiparams.
PyObject* from_json(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *source, *params, *type;
    if (!PyArg_ParseTuple(args, "OOO", &source, &params, &type)) throw PythonError();
    Py_ssize_t n = 0;
    const char* s = PyUnicode_AsUTF8AndSize(source, &n);
    if (!s) throw PythonError();
    pir::Program p = pir::program_from_json(std::string_view(s, static_cast<size_t>(n)));
    if (PyBytes_Check(params)) {
      char* bytes = nullptr;
      Py_ssize_t size = 0;
      must_zero(PyBytes_AsStringAndSize(params, &bytes, &size));
      pir::load_parameters(p, {reinterpret_cast<const std::byte*>(bytes), static_cast<size_t>(size)});
    } else if (PyDict_Check(params)) {
      PyObject *key, *value;
      Py_ssize_t at = 0;
      while (PyDict_Next(params, &at, &key, &value))
        p.set_parameter(string_from(key, "parameters"), expect_tensor(value, "parameters"));
    }
    pir::make_scratch(p);
    compile::arrays_from_official(p);
    pir::refine_types(p);
    for (const auto& [name, tensor] : p.parameters()) {
      Tensor t = tensor;
      if (!t->name) t->name = std::make_unique<std::string>(name);
      t->persistable = true;
    }
    for (pir::Operation& op : p.block())
      if (op.is("builtin.parameter")) {
        Tensor t = p.parameter(op.attr("parameter_name").as_string());
        pir::Attribute stop = op.result().attr("stop_gradient");
        bool trainable = is_inexact(op.result().dtype()) && stop && !stop.as_bool();
        if (t.defined()) t->is_parameter = trainable || op.has_attr("is_parameter");
      }
    auto state = std::make_shared<IrProgram>();
    state->trace = std::make_unique<Trace>(Trace::Lasting{}, "program", std::move(p));
    std::vector<std::pair<int64_t, Tensor>> fetched;
    for (pir::Operation& op : state->program().block())
      if (op.is("pd_op.fetch")) {
        Tensor t = state->trace->tensor_of(op.operand(0), op.operand(0).stop_gradient());
        t->name = std::make_unique<std::string>(op.attr("name").as_string());
        state->trace->note_name(*t->name, t);
        fetched.emplace_back(op.attr("col") ? op.attr("col").as_int() : 0, t);
      }
    std::stable_sort(fetched.begin(), fetched.end(), [](auto& a, auto& b) { return a.first < b.first; });
    for (auto& [col, t] : fetched) state->fetched.push_back(t);
    return wrap_program_state(std::move(state), reinterpret_cast<PyTypeObject*>(type));
  });
}
PyObject* load_file(PyObject*, PyObject* path) {
  return guard([&] {
    const std::string name = string_from(path, "load"), contents = read_text(name);
    PyObject* decoded = PyUnicode_DecodeUTF8(contents.data(), static_cast<Py_ssize_t>(contents.size()), nullptr);
    if (decoded) return decoded;
    PyErr_Clear();
    fail(ErrorKind::kValue, "'{}' is no text in UTF-8, as programs are", name);
  });
}

// write_tensors(tensors) -> bytes, as a .pdiparams holds them.
PyObject* write_tensors(PyObject*, PyObject* list) {
  return guard([&] {
    std::ostringstream out(std::ios::binary);
    for (const Tensor& t : tensors_from(list, "parameters")) pir::write_tensor(out, t);
    std::string bytes = std::move(out).str();
    return must(PyBytes_FromStringAndSize(bytes.data(), static_cast<Py_ssize_t>(bytes.size())));
  });
}
PyObject* read_tensors(PyObject*, PyObject* bytes) {
  return guard([&] {
    char* data = nullptr;
    Py_ssize_t size = 0;
    must_zero(PyBytes_AsStringAndSize(bytes, &data, &size));
    return wrap_list(pir::read_tensors({reinterpret_cast<const std::byte*>(data), static_cast<size_t>(size)}));
  });
}

PyMethodDef functions[] = {{"pruned", pruned, METH_VARARGS, "(program, outputs)"},
                           {"to_json", to_json, METH_VARARGS, "(program, tensors=None)"},
                           {"compare_digest", compare_digest, METH_VARARGS, "(program, tensors)"},
                           {"from_json", from_json, METH_VARARGS, "(text, parameters, type)"},
                           {"read_text", load_file, METH_O, nullptr},
                           {"write_tensors", write_tensors, METH_O, nullptr},
                           {"read_tensors", read_tensors, METH_O, nullptr},
                           {}};

}  // namespace

void add_ir_files(PyObject* module) { add_functions(module, functions); }

}  // namespace paddle::bindings
