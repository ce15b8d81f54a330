/* <math.h>, whose functions OpenMP's simd loops take from glibc's vector library where it has them, at most 4 units in the
 * last place wrong. clang is told so by -fveclib. */
#ifndef BENCH_VECMATH_H
#define BENCH_VECMATH_H

#include <math.h>

#if defined __x86_64__ && !defined __clang__ && defined __GLIBC__ && \
    (__GLIBC__ > 2 || __GLIBC_MINOR__ >= 35)
#pragma omp declare simd notinbranch
float expf(float);
#pragma omp declare simd notinbranch
float logf(float);
#pragma omp declare simd notinbranch
float sinf(float);
#pragma omp declare simd notinbranch
float cosf(float);
#pragma omp declare simd notinbranch
float tanhf(float);
#pragma omp declare simd notinbranch
float erff(float);
#pragma omp declare simd notinbranch
float powf(float, float);
#pragma omp declare simd notinbranch
double exp(double);
#endif

#endif
