// Trains a two-layer perceptron on y = sin(3 x) from C++: operators, gradients and an update, no Python anywhere.
#include <cmath>
#include <cstdio>

#include "api/ops.h"
#include "api/tensor_ops.h"
#include "autograd/engine.h"
#include "dispatch/state.h"

using namespace paddle;

namespace {

Tensor parameter(std::initializer_list<int64_t> shape, double spread) {
  Shape dims(shape.begin(), shape.end());
  Tensor t = ops::gaussian(Ints(dims), 0.0, spread, 0, DType::kFloat32);
  t.set_stop_gradient(false);
  return t;
}

}  // namespace

int main() {
  generator().seed(7);
  constexpr int64_t kSamples = 256, kHidden = 64;
  Tensor x =
      ops::reshape(ops::linspace(Scalar(-1.0), Scalar(1.0), Scalar(kSamples), DType::kFloat32), Ints{kSamples, 1});
  Tensor y = ops::sin(ops::scale(x, Scalar(3.0)));
  Tensor w1 = parameter({1, kHidden}, 2.0), b1 = parameter({kHidden}, 1.0);
  Tensor w2 = parameter({kHidden, 1}, 1.0 / std::sqrt(double(kHidden))), b2 = parameter({1}, 0.0);

  double loss_value = 0;
  for (int step = 0; step <= 500; ++step) {
    Tensor hidden = ops::tanh(ops::matmul(x, w1) + b1);
    Tensor error = ops::matmul(hidden, w2) + b2 - y;
    Tensor loss = ops::mean(error * error);
    autograd::backward({loss}, {}, false);
    {
      dispatch::GradMode off(false);
      for (Tensor* p : {&w1, &b1, &w2, &b2}) {
        Tensor& grad = autograd::meta_of(*p).grad;
        ops::subtract_(*p, ops::scale(grad, Scalar(0.05)));
        grad = Tensor();
      }
    }
    loss_value = Scalar(loss).to_double();
    if (step % 100 == 0) std::printf("step %3d  loss %.5f\n", step, loss_value);
  }
  return loss_value < 0.01 ? 0 : 1;
}
