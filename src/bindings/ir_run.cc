// Running programs as they stand.

#include "api/ops.h"
#include "base/error.h"
#include "base/generator.h"
#include "bindings/ir_classes.h"
#include "compile/interpret.h"
#include "compile/pipeline.h"
#include "device/default_place.h"
#include "dispatch/eager.h"

namespace paddle::bindings {
namespace {

using dispatch::Trace;

struct Prepared {
  std::shared_ptr<executor::Executable> run;
  pir::Program whole;  // before the passes, for shapes whose guards don't hold
  std::vector<DimGuard> guards;
  std::vector<std::pair<std::string, Shape>> inputs;
  std::vector<DType> dtypes;
  size_t num_fetched = 0;
  compile::PipelineOptions options;
  std::unordered_map<std::string, std::shared_ptr<executor::Executable>> special;  // by shapes
};
struct PyPrepared {
  PyObject_HEAD Prepared* value;
};
PyTypeObject* prepared_type;
Prepared& prepared_of(PyObject* o) { return *reinterpret_cast<PyPrepared*>(o)->value; }

std::shared_ptr<executor::Executable> compiled(Prepared& r, const pir::Program& p) {
  dispatch::StackScope scope;
  DimGuardSink sink(&r.guards);
  return compile::prepare(p, r.options);
}

// prepare(program, fetches, inference)
PyObject* prepare(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *program, *fetches;
    int inference = 0, writes = 1;
    if (!PyArg_ParseTuple(args, "OO|pp", &program, &fetches, &inference, &writes)) throw PythonError();
    auto r = std::make_unique<Prepared>();
    Tensors outs = tensors_from(fetches, "fetch_list");
    r->num_fetched = outs.size();
    r->options.inference = inference != 0;
    r->options.place = device::default_place();
    r->whole = cut_to(program_of(program), outs, writes != 0, false);
    for (pir::Operation& op : r->whole.block())
      if (op.is("pd_op.data") || op.is("pd_op.feed")) {
        r->inputs.emplace_back(op.attr("name").as_string(), op.result().shape());
        r->dtypes.push_back(op.result().dtype());
      }
    r->run = compiled(*r, r->whole.clone());
    auto* o = reinterpret_cast<PyPrepared*>(must(prepared_type->tp_alloc(prepared_type, 0)));
    o->value = r.release();
    return reinterpret_cast<PyObject*>(o);
  });
}

// What the symbols of the inputs' shapes are in a call; false where a size that is known is another one.
bool bind_symbols(const Prepared& r, std::span<const Tensor> inputs, std::unordered_map<int64_t, int64_t>& values) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Shape& expected = r.inputs[i].second;
    for (size_t k = 0; k < expected.size(); ++k) {
      int64_t size = inputs[i].dim(static_cast<int64_t>(k)).value();
      if (expected[k].is_symbolic() && node_of(expected[k]).op == DimOp::kSymbol)
        values.emplace(node_of(expected[k]).value, size);
      else if (expected[k].is_const() && expected[k].value() >= 0 && expected[k].value() != size)
        return false;
    }
  }
  return true;
}

bool guards_hold(const Prepared& r, const std::unordered_map<int64_t, int64_t>& values) {
  for (const DimGuard& g : r.guards) {
    bool known = true;
    auto value = [&](int64_t id) -> int64_t {
      auto it = values.find(id);
      known &= it != values.end();
      return it == values.end() ? 2 : it->second;
    };
    int64_t a = evaluate(g.a, value), b = evaluate(g.b, value);
    if (!known) continue;
    bool ok = g.rel == DimRel::kEq ? a == b : g.rel == DimRel::kNe ? a != b : g.rel == DimRel::kLt ? a < b : a <= b;
    if (!ok) return false;
  }
  return true;
}

// Sizes that a call tells, put in for their symbols everywhere.
pir::Program specialised(const pir::Program& whole, const std::unordered_map<int64_t, int64_t>& values) {
  pir::Program p = whole.clone();
  auto symbol = [&](Dim s) {
    auto it = values.find(node_of(s).value);
    return it == values.end() ? s : Dim(it->second);
  };
  auto size = [&](Dim d) { return d.is_symbolic() ? substitute(d, symbol) : d; };
  auto type_in = [&](pir::Value v) {
    if (v.type()) v.set_type(pir::map_dims(v.type(), size));
  };
  p.walk([&](pir::Operation& op) {
    for (pir::Value v : op.results_vector()) type_in(v);
    for (size_t r = 0; r < op.num_regions(); ++r)
      for (size_t b = 0; b < op.region(r).size(); ++b)
        for (pir::Value v : op.region(r).block(b).args()) type_in(v);
    pir::AttrMap attrs = op.attrs();
    for (const pir::NamedAttr& a : op.attrs()) {
      if (a.value.kind() == pir::AttrKind::kDim) attrs.set(a.name, pir::Attribute::dim(size(a.value.as_dim())));
      if (a.value.kind() != pir::AttrKind::kIntArray) continue;
      Shape dims = a.value.as_ints();
      for (Dim& d : dims) d = size(d);
      attrs.set(a.name, pir::Attribute::ints(view(dims)));
    }
    op.set_attrs(std::move(attrs));
  });
  return p;
}

std::shared_ptr<executor::Executable> for_shapes(Prepared& r, std::span<const Tensor> inputs) {
  if (r.guards.empty()) return r.run;
  std::unordered_map<int64_t, int64_t> values;
  if (!bind_symbols(r, inputs, values) || guards_hold(r, values)) return r.run;
  std::string key;
  for (const Tensor& t : inputs) key += to_string(view(t.shape()));
  auto& found = r.special[key];
  if (!found) {
    std::vector<DimGuard> before = r.guards;  // those of the special one concern no symbol of an input
    found = compiled(r, specialised(r.whole, values));
    r.guards = std::move(before);
  }
  return found;
}

// run(inputs, parameters, seed_state): lists in the order of .inputs and .parameters. Gives (fetched, written).
PyObject* prepared_run(PyObject* o, PyObject* args) {
  return guard([&] {
    PyObject *in, *params, *generator = Py_None;
    if (!PyArg_ParseTuple(args, "OO|O", &in, &params, &generator)) throw PythonError();
    Prepared& r = prepared_of(o);
    Tensors inputs = tensors_from(in, "feed"), parameters = tensors_from(params, "parameters");
    std::shared_ptr<executor::Executable> program = for_shapes(r, inputs);
    Generator own_keys;
    bool seeded = generator != Py_None;
    if (seeded) {
      unsigned long long seed = 0, offset = 0;
      if (!PyArg_ParseTuple(generator, "KK", &seed, &offset)) throw PythonError();
      own_keys.set_state({seed, offset});
    }
    std::vector<Tensor> results;
    {
      dispatch::StackScope scope;
      ReleaseGil release(true);
      results = program->run(inputs, parameters, seeded ? &own_keys : nullptr);
    }
    Object fetched = own(PyList_New(0)), written = own(PyList_New(0));
    for (size_t i = 0; i < results.size(); ++i) {
      PyObject* list = i < r.num_fetched ? fetched.get() : written.get();
      Tensor t = results[i];
      if (i < r.num_fetched) {  // a handle of its own: the program may give out what it was given
        Tensor alias(TensorImpl::make());
        alias.become(t);
        alias->grad_fn = nullptr;
        alias.set_stop_gradient(true);
        t = alias;
      }
      must_zero(PyList_Append(list, own(wrap(t)).get()));
    }
    RandomKey after = own_keys.state();
    return must(Py_BuildValue("(OO(KK))", fetched.get(), written.get(), static_cast<unsigned long long>(after.seed),
                              static_cast<unsigned long long>(after.draw)));
  });
}
PyObject* prepared_parameters(PyObject* o, void*) {
  return guard([&] {
    Object list = own(PyList_New(0));
    for (const std::string& name : prepared_of(o).run->parameter_names())
      must_zero(PyList_Append(list.get(), own(text(name)).get()));
    return list.release();
  });
}
// Those that the program itself holds: constants that passes made.
PyObject* prepared_held(PyObject* o, PyObject* name) {
  return guard([&] { return wrap(prepared_of(o).run->program().parameter(string_from(name, "held"))); });
}
PyObject* prepared_writes(PyObject* o, void*) {
  return guard([&] {
    Object list = own(PyList_New(0));
    const auto& results = prepared_of(o).run->results();
    for (size_t i = prepared_of(o).num_fetched; i < results.size(); ++i)
      must_zero(PyList_Append(list.get(), own(text(results[i].name)).get()));
    return list.release();
  });
}
// (name, shape with -1, dtype)
PyObject* prepared_inputs(PyObject* o, void*) {
  return guard([&] {
    Object list = own(PyList_New(0));
    Prepared& r = prepared_of(o);
    for (size_t i = 0; i < r.inputs.size(); ++i) {
      Object shape = own(PyList_New(0)), dtype = own(wrap_dtype(r.dtypes[i]));
      for (Dim d : r.inputs[i].second)
        must_zero(PyList_Append(shape.get(), own(PyLong_FromLongLong(d.is_const() ? d.value() : -1)).get()));
      must_zero(PyList_Append(list.get(),
                              own(Py_BuildValue("(sOO)", r.inputs[i].first.c_str(), shape.get(), dtype.get())).get()));
    }
    return list.release();
  });
}
PyObject* prepared_text(PyObject* o) {
  return guard([&] { return text(prepared_of(o).run->program().str()); });
}
PyObject* prepared_instructions(PyObject* o, PyObject*) {
  return guard([&] { return text(prepared_of(o).run->str()); });
}

// replay(program, variable): what the program computes for it once more, by calls on this thread: with autocast on,
// say. What was written in place is written by the new calls instead of the old ones.
PyObject* replay(PyObject*, PyObject* args) {
  return guard([&] {
    PyObject *program, *variable;
    if (!PyArg_ParseTuple(args, "OO", &program, &variable)) throw PythonError();
    IrProgram& p = program_of(program);
    Trace& trace = p.building();
    check(Trace::active() == &trace, ErrorKind::kRuntime, "[replay] this program is not the one that is being built");
    pir::Program copy = cut_to(p, {expect_tensor(variable, "replay")}, true, false);
    std::unordered_map<std::string, Trace::Captured> captured;
    for (const auto& c : trace.captured()) captured.emplace(c.name, c);
    Tensors inputs, parameters;
    std::vector<std::string> writes;
    for (pir::Operation& op : copy.block()) {
      if (op.is("pd_op.data") || op.is("pd_op.feed")) inputs.push_back(trace.named(op.attr("name").as_string()));
      if (op.is("builtin.set_parameter")) writes.push_back(op.attr("parameter_name").as_string());
      if (!op.is("builtin.parameter")) continue;
      const Trace::Captured& c = captured.at(op.attr("parameter_name").as_string());
      parameters.push_back(trace.tensor_of(c.original, c.handle.stop_gradient()));
    }
    std::vector<Tensor> results = compile::interpret(copy, inputs, parameters);
    for (size_t i = 0; i < writes.size(); ++i) {
      const Trace::Captured& c = captured.at(writes[i]);
      const Tensor& now = results[results.size() - writes.size() + i];
      trace.rebind(c.handle, now.dtype() == c.handle.dtype() ? now : ops::cast(now, c.handle.dtype()));
    }
    return wrap(results[0]);
  });
}

void prepared_dealloc(PyObject* o) {
  delete reinterpret_cast<PyPrepared*>(o)->value;
  PyTypeObject* type = Py_TYPE(o);
  type->tp_free(o);
  Py_DECREF(type);
}

PyMethodDef prepared_methods[] = {
    {"run", prepared_run, METH_VARARGS, "(inputs, parameters, generator): fetched, written, generator"},
    {"held", prepared_held, METH_O, "a constant that the program itself holds, or None"},
    {"instructions", prepared_instructions, METH_NOARGS, nullptr},
    {}};
PyGetSetDef prepared_getset[] = {{"inputs", prepared_inputs, nullptr, nullptr, nullptr},
                                 {"parameters", prepared_parameters, nullptr, nullptr, nullptr},
                                 {"writes", prepared_writes, nullptr, nullptr, nullptr},
                                 {}};
PyMethodDef functions[] = {{"prepare", prepare, METH_VARARGS, "(program, fetches, inference, writes)"},
                           {"replay", replay, METH_VARARGS, "(program, variable): computes it once more"},
                           {}};

}  // namespace

void add_ir_run(PyObject* module) {
  static PyType_Slot slots[] = {slot(Py_tp_dealloc, prepared_dealloc),
                                slot(Py_tp_str, prepared_text),
                                {Py_tp_methods, prepared_methods},
                                {Py_tp_getset, prepared_getset},
                                {0, nullptr}};
  static PyType_Spec spec{"paddle._core.ir.Prepared", sizeof(PyPrepared), 0,
                          Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  prepared_type = add_ir_type(spec, module, "Prepared");
  add_functions(module, functions);
}

}  // namespace paddle::bindings
