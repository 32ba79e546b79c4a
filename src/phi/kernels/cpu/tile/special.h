// Special functions that SLEEF and libm lack, in double.
#pragma once

namespace paddle::tile {

double digamma(double x);                  // psi; NaN at 0, -1, -2, ... except: -0 -> inf, 0 -> -inf, as SciPy
double polygamma(double order, double x);  // order a whole number >= 0, else NaN
double gammainc(double a, double x);       // regularised lower incomplete gamma function; NaN unless a > 0, x >= 0
double gammaincc(double a, double x);      // its complement
double erfinv(double x);                   // NaN outside [-1, 1]
double bessel_i0e(double x);               // exp(-|x|) I0(x)
double bessel_i1e(double x);               // exp(-|x|) I1(x)

}  // namespace paddle::tile
