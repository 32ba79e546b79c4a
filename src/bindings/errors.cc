#include "bindings/py.h"

#include <dlfcn.h>
#include <frameobject.h>

#include "base/error.h"
#include "bindings/trace.h"
#include "dispatch/trace.h"
#include "executor/executable.h"

namespace paddle::bindings {
namespace {

PyObject* class_of(ErrorKind k) {
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
