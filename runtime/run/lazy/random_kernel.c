/* Kernels of random arrays. In: an array in C order, a seed and what is made of the generator's
 * numbers; out: a launch that has filled it, with the bits that run/random.c makes. */
#include "run/lazy/lazy.h"

static bool fill(kj_run *r, kj_span at, kjit_array *out, kjit_array *flat, kj_lazy_kernel *k)
{
    enum { THREADS = 256 };
    int64_t n = kjit_array_size(out), grid[3] = {(n + THREADS - 1) / THREADS, 1, 1};
    k->run = r;
    k->at = k->named = at;
    kj_lazy_flat(k, "out", flat);
    return kj_lazy_launch(k, grid, (int64_t[3]){THREADS, 1, 1}, "");
}

/* The array as one axis, filled by the body, which has its parameters by now. */
static bool fill_array(kj_run *r, kj_span at, kjit_array *out, kj_lazy_kernel *k)
{
    kjit_array *flat = NULL;
    bool ok = kj_run_check(r, kjit_array_ravel(out, 'C', &flat), at) && fill(r, at, out, flat, k);
    kjit_array_free(flat);
    kj_lazy_free(k);
    return ok;
}

bool kj_lazy_random_uniform(kj_run *r, kj_span at, uint64_t seed, double offset, double scale,
                            double most, kjit_array *out)
{
    kj_lazy_kernel k = {.run = r, .at = at, .named = at};
    const char *type = kjit_dtype_name(out->dtype);
    kj_lazy_parameter(&k, "seed", "u64", kjit_arg_u64(seed));
    kj_lazy_parameter(&k, "offset", "f64", kjit_arg_f64(offset));
    kj_lazy_parameter(&k, "scale", "f64", kjit_arg_f64(scale));
    kj_lazy_parameter(&k, "most", "f64", kjit_arg_f64(most));
    /* the product is named, so that it is rounded */
    kj_text_printf(&k.body,
                   "let i = grid(1)\n"
                   "if i < out.size {\n"
                   "let u = f64(random.uniform(seed, i, %s))\n"
                   "let x = scale * u\n"
                   "let y = offset + x\n"
                   "out[i] = %s(most if y > most else y)\n"
                   "}\n",
                   type, type);
    return fill_array(r, at, out, &k);
}

bool kj_lazy_random_integers(kj_run *r, kj_span at, uint64_t seed, int64_t low, int64_t high,
                             kjit_array *out)
{
    kj_lazy_kernel k = {.run = r, .at = at, .named = at};
    kj_lazy_parameter(&k, "seed", "u64", kjit_arg_u64(seed));
    kj_lazy_parameter(&k, "low", "i64", kjit_arg_i64(low));
    kj_lazy_parameter(&k, "high", "i64", kjit_arg_i64(high));
    kj_text_printf(&k.body,
                   "let i = grid(1)\n"
                   "if i < out.size { out[i] = %s(random.randint(low, high, seed, i)) }\n",
                   kjit_dtype_name(out->dtype));
    return fill_array(r, at, out, &k);
}
