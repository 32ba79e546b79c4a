// The discrete Fourier transform of one length, over several sequences at once: a lane type L (a float, or a vector of
// them) holds the same element of each sequence.
//
// Lengths whose prime factors are small go through Stockham's self-sorting passes of radix 4, 2, 3, 5 and any odd
// number; others through Bluestein's chirp convolution of a smooth length (Van Loan, "Computational Frameworks for the
// Fast Fourier Transform", 1992; Bluestein, 1970).
#pragma once
#include <cstdint>
#include <memory>
#include <vector>

namespace paddle::kernels::fft {

template <class L>
struct Complex {
  L re, im;
};

template <class T>
class Plan {
 public:
  explicit Plan(int64_t n);

  int64_t size() const { return n_; }
  // Elements that `work` must have.
  int64_t work_size() const;
  // X_k = sum_j x_j exp(-2 pi i j k / n), in place. The other direction is the same with re and im exchanged.
  template <class L>
  void run(Complex<L>* x, Complex<L>* work) const;

 private:
  struct Pass {
    int64_t radix, rest, stride;  // a sequence of radix * rest, `stride` of them interleaved
    size_t twiddles;              // rest * (radix - 1) factors from here on
  };
  void make_passes();
  void make_chirp();
  template <class L>
  void run_passes(Complex<L>* x, Complex<L>* work) const;
  template <class L>
  void run_chirp(Complex<L>* x, Complex<L>* work) const;
  template <class L>
  void run_pass(const Pass& p, const Complex<L>* x, Complex<L>* y) const;

  int64_t n_;
  std::vector<Pass> passes_;
  std::vector<Complex<T>> twiddles_;
  std::vector<Complex<T>> chirp_, kernel_;  // Bluestein: exp(-pi i j^2 / n), and the transform of its conjugate
  std::unique_ptr<Plan> convolution_;
};

// exp(-2 pi i k / n), right to the last bit but one: the angle is reduced to an eighth of the circle in integers.
Complex<double> root(int64_t k, int64_t n);

// Plans are made once per length and kept.
template <class T>
std::shared_ptr<const Plan<T>> plan_for(int64_t n);

}  // namespace paddle::kernels::fft
