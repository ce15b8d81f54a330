/* What --digest says: a line for each array of the block's outermost scope, to compare the results
 * of two runs. In: the names that are left at the end; out: text for print's writer. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "base/hash.h"
#include "run/run.h"

/* An element's bits; every NaN has the same. */
static uint64_t element_bits(kjit_dtype dtype, const char *p)
{
    uint8_t b;
    uint16_t h;
    uint32_t w;
    uint64_t d;
    if (kj_is_float((kj_dtype)dtype) && isnan(kj_value_read(p, (kj_dtype)dtype, 0).f))
        return UINT64_MAX;
    switch (kjit_dtype_size(dtype)) {
    case 1: memcpy(&b, p, sizeof b); return b;
    case 2: memcpy(&h, p, sizeof h); return h;
    case 4: memcpy(&w, p, sizeof w); return w;
    default: memcpy(&d, p, sizeof d); return d;
    }
}

/* Of a record all scalars, but not what lies between them. */
static uint64_t mixed_element(uint64_t hash, kjit_dtype dtype, const kj_aggregate *of,
                              const char *p)
{
    if (!of)
        return kj_hash_word(hash, element_bits(dtype, p));
    for (int i = 0; i < of->n; i++)
        hash = mixed_element(hash, (kjit_dtype)of->fields[i].type, of->fields[i].of,
                             p + of->fields[i].offset);
    return hash;
}

static uint64_t digest(kjit_array *host)
{
    uint64_t hash = KJ_HASH_BEGIN;
    kj_rrows w;
    kj_run_rows(&w, host, NULL);
    while (kj_run_next_row(&w)) {
        for (int64_t i = 0; i < w.n; i++)
            hash = mixed_element(hash, host->dtype, host->of, w.data[0] + i * w.step[0]);
    }
    return hash;
}

bool kj_run_digest(kj_run *r)
{
    for (int i = 0; i < r->nnames && r->options->digest && r->options->write; i++) {
        kj_rvalue host;
        kj_text t = {0};
        char shape[KJ_SHAPE_TEXT];
        if (r->names[i].value.kind != KJ_R_ARRAY)
            continue;
        if (!kj_run_on_host(r, kj_run_nowhere, r->names[i].value, &host))
            return false;
        kjit_array *a = host.u.object->u.array;
        kj_text_printf(&t, "%s %s %s %016" PRIx64 "\n", r->names[i].name,
                       kj_dtype_name(r->ctx, a->dtype), kj_shape_text(a->ndim, a->shape, shape),
                       digest(a));
        bool failed = t.failed;
        if (!failed)
            r->options->write(r->options->user, t.data, t.size);
        kj_run_drop(&host);
        kj_text_free(&t);
        if (failed)
            return kj_run_no_memory(r, kj_run_nowhere);
    }
    return true;
}
