// paddle._core.trace.save and load: captured programs as Paddle's inference files, <path>.json and <path>.pdiparams; a
// method other than forward goes to <path>.<method>.json.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unordered_map>

#include "base/build_id.h"
#include "base/disk_cache.h"
#include "bindings/trace.h"
#include "bindings/trace_types.h"
#include "cinn/jit/compiled.h"
#include "compile/official.h"
#include "compile/program_cache.h"
#include "compile/runner.h"
#include "dispatch/state.h"
#include "passes/passes.h"
#include "pir/builder.h"
#include "pir/custom_gradient.h"
#include "pir/serialize/json.h"
#include "pir/serialize/params.h"
#include "pir/verifier.h"

namespace paddle::bindings {
namespace {

// The results `outputs` as fetches, in this order; nothing is written back. With `prune`, inputs that they don't follow
// from go, but for those named in `keep`.
pir::Program for_file(const dispatch::CapturedProgram& captured, std::span<const size_t> outputs, bool prune,
                      const std::vector<std::string>& keep) {
  pir::Program p = captured.program.clone();
  std::unordered_map<std::string, pir::Value> results;
  for (pir::Operation& op : p.block()) {
    if (op.is("builtin.shadow_output")) results[op.attr("output_name").as_string()] = op.operand(0);
    if (op.is("builtin.shadow_output") || op.is("builtin.set_parameter")) op.erase();
  }
  pir::Builder b(p);
  for (size_t k = 0; k < outputs.size(); ++k)
    b.fetch("fetch_name_" + std::to_string(k), results.at("output_" + std::to_string(outputs[k])), static_cast<int>(k));
  pir::drop_custom_gradients(p.module());
  passes::remove_dead_code(p.module());
  for (pir::Operation& op : p.block())
    if (prune && op.is("pd_op.data") && op.result().use_empty() &&
        std::find(keep.begin(), keep.end(), op.attr("name").as_string()) == keep.end())
      op.erase();
  std::vector<std::string> unused;
  for (pir::Operation& op : p.block())
    if (op.is("builtin.parameter") && op.result().use_empty()) {
      unused.push_back(op.attr("parameter_name").as_string());
      op.erase();
    }
  for (const std::string& name : unused) p.erase_parameter(name);
  return p;
}

std::string prefix_of(const std::string& path, const std::string& method) {
  return method == "forward" ? path : path + "." + method;
}

void write_text(const std::string& path, const std::string& text) {
  std::string beside = path + ".tmp";
  {
    std::ofstream out(beside, std::ios::binary);
    out << text;
    check(static_cast<bool>(out.flush()), ErrorKind::kOS, "can't write '{}'", path);
  }
  std::filesystem::rename(beside, path);
}

std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  check(static_cast<bool>(in), ErrorKind::kOS, "can't read '{}': no such file, or not readable", path);
  std::ostringstream out;
  out << in.rdbuf();
  return std::move(out).str();
}

// What a runner needs, from a program that was read.
dispatch::CapturedProgram captured_from(pir::Program p, const std::string& name) {
  dispatch::CapturedProgram c;
  c.name = name;
  for (pir::Operation& op : p.block()) {
    if (op.is("pd_op.data") || op.is("pd_op.feed")) {
      pir::Value v = op.result();
      c.inputs.push_back({op.attr("name").as_string(), v.shape(), v.dtype(), v.stop_gradient()});
    } else if (op.is("pd_op.fetch")) {
      std::string output = "output_" + std::to_string(c.num_outputs++);
      pir::Builder b;
      b.before(&op);
      pir::Value v = op.operand(0);
      b.shadow_output(output, v);
      c.output_names.push_back(output);
      c.output_stop_gradient.push_back(!is_inexact(v.dtype()) || v.stop_gradient());
      op.erase();
    }
  }
  c.program = std::move(p);
  return c;
}

PyObject* save(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    PyObject *path_object, *programs, *configs = Py_None;
    if (!PyArg_ParseTuple(args, "OO|O", &path_object, &programs, &configs)) throw PythonError();
    std::string path = string_from(path_object, "save");
    std::filesystem::path folder = std::filesystem::path(path).parent_path();
    if (!folder.empty()) std::filesystem::create_directories(folder);
    PyObject *key, *value;
    Py_ssize_t at = 0;
    while (PyDict_Next(programs, &at, &key, &value)) {
      std::string prefix = prefix_of(path, string_from(key, "save"));
      PyObject *concrete, *layer, *order, *kept;
      if (!PyArg_ParseTuple(value, "OOOO", &concrete, &layer, &order, &kept)) throw PythonError();
      Object main = own(PyObject_GetAttrString(concrete, "main_program"));
      std::vector<size_t> outputs;
      Object positions = own(PySequence_Fast(order, "save"));
      for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(positions.get()); ++i)
        outputs.push_back(PyLong_AsSize_t(PySequence_Fast_GET_ITEM(positions.get(), i)));
      if (PyErr_Occurred()) throw PythonError();
      std::vector<std::string> keep;
      if (kept != Py_None) {
        Object names = own(PySequence_Fast(kept, "save"));
        for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(names.get()); ++i)
          keep.push_back(string_from(PySequence_Fast_GET_ITEM(names.get(), i), "save"));
      }
      const auto& captured = program_in(main.get())->captured();
      pir::Program p = compile::official_form(for_file(captured, outputs, kept != Py_None, keep));
      Tensors parameters;
      for (const std::string& name : pir::parameter_names(p)) parameters.push_back(p.parameter(name));
      pir::JsonInfo info;
      info.digest = true;
      info.parameters_digest = pir::digest_of_tensors(parameters);
      write_text(prefix + ".json", pir::program_to_json(p, info));
      // Official Paddle refuses a file without tensors.
      if (pir::parameter_names(p).empty())
        std::filesystem::remove(prefix + ".pdiparams");
      else
        pir::save_parameters(p, prefix + ".pdiparams");
    }
    Py_RETURN_NONE;
  });
}

Object namespace_of(Object fields) {
  Object types = own(PyImport_ImportModule("types"));
  Object cls = own(PyObject_GetAttrString(types.get(), "SimpleNamespace"));
  Object none = own(PyTuple_New(0));
  return own(PyObject_Call(cls.get(), none.get(), fields.get()));
}

// A program that keeps the IR's rules, with its parameters.
pir::Program read_program(const std::string& program_file, const std::string& params_file) {
  const std::string* where = &program_file;
  try {
    pir::Program p = pir::program_from_json(read_text(program_file));
    pir::verify(p);
    for (pir::Operation& op : p.block())
      if (op.has(pir::kGraphInput) && !op.result().type().has_shape())
        fail(ErrorKind::kValue, "{} brings in a value of type {}, expected a tensor", op.describe(),
             op.result().type().str());
    where = &params_file;
    if (std::filesystem::exists(params_file))
      pir::load_parameters(p, params_file);
    else
      check(pir::parameter_names(p).empty(), ErrorKind::kValue, "no such file, but the program has {} parameters",
            pir::parameter_names(p).size());
    where = &program_file;
    pir::make_scratch(p);
    compile::arrays_from_official(p);
    pir::refine_types(p);
    return p;
  } catch (const Error& e) {
    fail(e.kind(), "[jit.load] '{}': {}", *where, e.what());
  }
}

Object load_method(const std::string& program_file, const std::string& params_file, const std::string& name,
                   PyObject* parameters) {
  pir::Program p = read_program(program_file, params_file);
  for (auto& [parameter, tensor] : p.parameters()) {
    Tensor t = tensor;
    PyObject* known = PyDict_GetItemString(parameters, parameter.c_str());
    if (known) {  // shared by several methods
      p.set_parameter(parameter, expect_tensor(known, "load"));
      continue;
    }
    t->name = std::make_unique<std::string>(parameter);
    t->persistable = true;
  }
  Object framework = own(PyImport_ImportModule("paddle.base.framework"));
  Object parameter_class = own(PyObject_GetAttrString(framework.get(), "EagerParamBase"));
  for (pir::Operation& op : p.block())
    if (op.is("builtin.parameter")) {
      std::string parameter = op.attr("parameter_name").as_string();
      Tensor t = p.parameter(parameter);
      pir::Attribute trainable = op.result().attr("stop_gradient");
      bool stop = !is_inexact(t.dtype()) || (trainable && trainable.as_bool());
      op.result().set_stop_gradient(stop);
      if (PyDict_GetItemString(parameters, parameter.c_str())) continue;
      t.set_stop_gradient(true);
      Object object = own(wrap(t));
      if (!stop) {
        object = own(PyObject_CallOneArg(parameter_class.get(), object.get()));
        t = expect_tensor(object.get(), "load");
        t->name = std::make_unique<std::string>(parameter);
        t->persistable = true;
        t->is_parameter = true;
        t.set_stop_gradient(false);
        p.set_parameter(parameter, t);
      }
      must_zero(PyDict_SetItemString(parameters, parameter.c_str(), object.get()));
    }
  auto runner = std::make_shared<compile::Runner>(captured_from(std::move(p), name), compile::PipelineOptions{});
  Object specs = own(PyList_New(0));
  Object static_module = own(PyImport_ImportModule("paddle.static"));
  Object input_spec = own(PyObject_GetAttrString(static_module.get(), "InputSpec"));
  for (const auto& i : runner->captured().inputs) {
    Object shape = own(PyList_New(0));
    for (Dim d : i.shape)
      must_zero(PyList_Append(shape.get(), d.is_const() ? own(PyLong_FromLongLong(d.value())).get() : Py_None));
    Object dtype = own(wrap_dtype(i.dtype));
    must_zero(PyList_Append(
        specs.get(),
        own(PyObject_CallFunction(input_spec.get(), "OOs", shape.get(), dtype.get(), i.name.c_str())).get()));
  }
  Object fields = own(PyDict_New());
  auto put = [&](const char* k, PyObject* v) { must_zero(PyDict_SetItemString(fields.get(), k, v)); };
  put("runner", own(wrap_runner(runner)).get());
  put("program", own(wrap_program(runner)).get());
  put("specs", specs.get());
  put("out_structure", Py_None);
  return namespace_of(std::move(fields));
}

std::string option(PyObject* configs, const char* name) {
  PyObject* v = PyDict_Check(configs) ? PyDict_GetItemString(configs, name) : nullptr;
  return v && v != Py_None ? string_from(v, name) : std::string();
}

PyObject* load(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *path_object, *configs = Py_None;
    if (!PyArg_ParseTuple(args, "O|O", &path_object, &configs)) throw PythonError();
    std::string path = string_from(path_object, "load");
    std::string model = option(configs, "model_filename"), params = option(configs, "params_filename");
    Object methods = own(PyDict_New()), parameters = own(PyDict_New());
    std::string program_file = model.empty() ? path + ".json" : path + "/" + model;
    std::string params_file = params.empty() ? path + ".pdiparams" : path + "/" + params;
    check(std::filesystem::exists(program_file), ErrorKind::kValue, "[jit.load] no program at '{}'", program_file);
    must_zero(PyDict_SetItemString(methods.get(), "forward",
                                   load_method(program_file, params_file, "forward", parameters.get()).get()));
    namespace fs = std::filesystem;
    fs::path folder = fs::path(path).parent_path();
    std::string stem = fs::path(path).filename().string() + ".";
    if (model.empty())
      for (const auto& file : fs::directory_iterator(folder.empty() ? fs::path(".") : folder)) {
        std::string name = file.path().filename().string();
        if (!name.starts_with(stem) || !name.ends_with(".json") || name.size() <= stem.size() + 5) continue;
        std::string method = name.substr(stem.size(), name.size() - stem.size() - 5);
        if (method.find('.') != std::string::npos) continue;
        std::string prefix = prefix_of(path, method);
        must_zero(
            PyDict_SetItemString(methods.get(), method.c_str(),
                                 load_method(prefix + ".json", prefix + ".pdiparams", method, parameters.get()).get()));
      }
    Object fields = own(PyDict_New());
    must_zero(PyDict_SetItemString(fields.get(), "methods", methods.get()));
    must_zero(PyDict_SetItemString(fields.get(), "parameters", parameters.get()));
    return namespace_of(std::move(fields)).release();
  });
}

// ---- what Python keeps on disk

std::string kept_key(const char* key, Py_ssize_t size) {
  return fmt::format("for Python, {} {}", build_id(), std::string_view(key, static_cast<size_t>(size)));
}

PyObject* kept_bytes(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    const char* key;
    Py_ssize_t size;
    if (!PyArg_ParseTuple(args, "y#", &key, &size)) throw PythonError();
    std::optional<std::string> value;
    if (!build_id().empty()) value = compile_cache().get(kept_key(key, size));
    if (!value) Py_RETURN_NONE;
    return must(PyBytes_FromStringAndSize(value->data(), static_cast<Py_ssize_t>(value->size())));
  });
}

PyObject* keep_bytes(PyObject*, PyObject* args) {
  return guard([&]() -> PyObject* {
    const char *key, *value;
    Py_ssize_t size, length;
    if (!PyArg_ParseTuple(args, "y#y#", &key, &size, &value, &length)) throw PythonError();
    if (!build_id().empty())
      compile_cache().put(kept_key(key, size), std::string_view(value, static_cast<size_t>(length)));
    Py_RETURN_NONE;
  });
}

PyObject* cache_counts(PyObject*, PyObject*) {
  return guard([] {
    const compile::ProgramCounts programs = compile::program_counts();
    const cinn::CompileCounts code = cinn::compile_counts();
    return must(Py_BuildValue("{s:L,s:L,s:L,s:L}", "programs_found", static_cast<long long>(programs.found),
                              "programs_kept", static_cast<long long>(programs.kept), "groups_compiled",
                              static_cast<long long>(code.compiled), "groups_loaded",
                              static_cast<long long>(code.loaded)));
  });
}

PyMethodDef functions[] = {{"cache_counts", cache_counts, METH_NOARGS, nullptr},
                           {"save", save, METH_VARARGS, nullptr},
                           {"load", load, METH_VARARGS, nullptr},
                           {"kept_bytes", kept_bytes, METH_VARARGS, nullptr},
                           {"keep_bytes", keep_bytes, METH_VARARGS, nullptr},
                           {}};

}  // namespace

void add_trace_files(PyObject* module) { add_functions(module, functions); }

}  // namespace paddle::bindings
