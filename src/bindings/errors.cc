#include "bindings/errors.h"

#include <dlfcn.h>
#include <frameobject.h>

#include <unordered_map>
#include <vector>

#include "base/error.h"
#include "bindings/trace.h"
#include "dispatch/trace.h"
#include "executor/executable.h"

namespace paddle::bindings {
namespace {

// Official Paddle raises one fault as several classes, depending on the layer that notices it. Here one class stands
// for the fault and derives from all of these, so that whatever a caller catches catches it.
struct FaultClass {
  ErrorKind kind;
  const char* name;
  std::vector<PyObject*> bases;
  const char* doc;
};
std::vector<FaultClass> fault_classes() {
  return {{ErrorKind::kType,
           "ArgumentError",
           {PyExc_TypeError, PyExc_ValueError, PyExc_NotImplementedError},  // the last a RuntimeError
           "An argument of a kind or dtype that a function doesn't take."},
          {ErrorKind::kIndex, "OutOfRangeError", {PyExc_IndexError, PyExc_ValueError}, "No such index, or axis."}};
}
std::unordered_map<ErrorKind, PyObject*> made_classes;  // immortal

PyObject* class_of(ErrorKind k) {
  if (auto made = made_classes.find(k); made != made_classes.end()) return made->second;
  switch (k) {
    case ErrorKind::kValue:
      return PyExc_ValueError;
    case ErrorKind::kType:
      return PyExc_TypeError;
    case ErrorKind::kIndex:
      return PyExc_IndexError;
    case ErrorKind::kKey:
      return PyExc_KeyError;
    case ErrorKind::kNotImplemented:
      return PyExc_NotImplementedError;
    case ErrorKind::kMemory:
      return PyExc_MemoryError;
    case ErrorKind::kOS:
      return PyExc_OSError;
    case ErrorKind::kTimeout:
      return PyExc_TimeoutError;
    case ErrorKind::kRuntime:
      break;
  }
  return PyExc_RuntimeError;
}

// The folder of the package: frames below it are ours, not the user's.
const std::string& package_folder() {
  static const std::string folder = [] {
    Dl_info info{};
    dladdr(reinterpret_cast<void*>(&set_error), &info);
    std::string path = info.dli_fname ? info.dli_fname : "";
    return path.substr(0, path.rfind('/') + 1);
  }();
  return folder;
}

// " (model.py:31)": the innermost frame outside of the package.
std::string user_line() {
  PyFrameObject* frame = PyEval_GetFrame();
  Object held = Object::borrow(reinterpret_cast<PyObject*>(frame));
  while (frame) {
    Object code(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
    Object file(PyObject_GetAttrString(code.get(), "co_filename"));
    const char* path = file ? PyUnicode_AsUTF8(file.get()) : nullptr;
    if (!path) {
      PyErr_Clear();
      return {};
    }
    std::string p(path);
    if (!p.starts_with(package_folder()) && !p.starts_with("<frozen")) {
      size_t slash = p.rfind('/');
      return " (" + p.substr(slash == std::string::npos ? 0 : slash + 1) + ":" +
             std::to_string(PyFrame_GetLineNumber(frame)) + ")";
    }
    PyFrameObject* back = PyFrame_GetBack(frame);
    held = Object(reinterpret_cast<PyObject*>(back));
    frame = back;
  }
  return {};
}

}  // namespace

bool is_package_file(const char* path) {
  std::string_view p(path);
  return p.starts_with(package_folder()) || p.starts_with("<frozen") || p.starts_with("<string>");
}

namespace {

// Messages may quote bytes of a damaged file.
void set_text(PyObject* cls, const std::string& message) noexcept {
  PyObject* text = PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "backslashreplace");
  if (!text) return;
  PyErr_SetObject(cls, text);
  Py_DECREF(text);
}

}  // namespace

void add_errors(PyObject* module) {
  for (const FaultClass& f : fault_classes()) {
    Object bases = own(PyTuple_New(static_cast<Py_ssize_t>(f.bases.size())));
    for (size_t i = 0; i < f.bases.size(); ++i)
      PyTuple_SET_ITEM(bases.get(), static_cast<Py_ssize_t>(i), Py_NewRef(f.bases[i]));
    const std::string name = std::string("paddle.base.core.") + f.name;
    PyObject* made = must(PyErr_NewExceptionWithDoc(name.c_str(), f.doc, bases.get(), nullptr));
    made_classes[f.kind] = made;
    must_zero(PyModule_AddObjectRef(module, f.name, made));
  }
}

void set_error() noexcept {
  try {
    throw;
  } catch (const PythonError&) {
    // already set
  } catch (const dispatch::GraphBreak& e) {
    set_text(graph_break_class ? graph_break_class : PyExc_RuntimeError, e.what());
  } catch (const executor::AssertionFailed& e) {
    set_text(PyExc_AssertionError, e.what());
  } catch (const Error& e) {
    set_text(class_of(e.kind()), e.what() + user_line());
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::exception& e) {
    set_text(PyExc_SystemError, e.what());
  } catch (...) {
    set_text(PyExc_SystemError, "an unknown C++ exception");
  }
}

}  // namespace paddle::bindings
