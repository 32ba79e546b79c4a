#include "tensor/default_dtype.h"

#include "base/context.h"

namespace paddle {
namespace {
struct DefaultDType {
  DType value = DType::kFloat32;
};
}  // namespace

DType default_dtype() { return Context::current().get<DefaultDType>().value; }
void set_default_dtype(DType t) { Context::current().get<DefaultDType>().value = t; }

}  // namespace paddle
