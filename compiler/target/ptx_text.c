/* Products of 64 bits whose low word is zero, once more (ptx_words.c), in the text that LLVM has written.
 *
 * LLVM makes more of them while it selects instructions: in a loop that it unrolled, (i * v) << 42 becomes sums of
 * v * (7 << 42) and its like, by reduction in strength. Each is a line of its own, and stays right where its high word
 * is computed in 32 bits. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "target/target.h"

enum { OPERAND = 32 };

typedef struct product {
    char to[OPERAND], of[OPERAND], added[OPERAND];
    long long factor;
    bool adds;
} product;

/* The operand at `at`, and the place of the next one behind a comma; NULL: there is none. */
static const char *take(const char *at, const char *end, char out[OPERAND])
{
    size_t n = at ? strcspn(at, ",;\n") : OPERAND;
    if (n >= OPERAND || at + n > end)
        return NULL;
    memcpy(out, at, n);
    out[n] = '\0';
    return at[n] == ',' && at + n + 2 <= end ? at + n + 2 : at + n;
}

/* The product in the line that begins here, of which the low word is zero. */
static bool read_product(const char *begin, const char *end, product *p)
{
    static const char mul[] = "mul.lo.s64 \t", mad[] = "mad.lo.s64 \t";
    size_t n = sizeof mul - 1;
    p->adds = strncmp(begin, mad, n) == 0;
    if (!p->adds && strncmp(begin, mul, n) != 0)
        return false;
    char by[OPERAND], *stop;
    const char *at = take(take(take(begin + n, end, p->to), end, p->of), end, by);
    if (p->adds)
        at = take(at, end, p->added);
    if (!at || *at != ';')
        return false;
    p->factor = strtoll(by, &stop, 10);
    return stop > by && *stop == '\0' && (uint32_t)p->factor == 0;
}

static void write_product(kj_text *t, const product *p)
{
    const char *high = p->adds ? "%kj_high" : p->to;
    kj_text_puts(t, "{\n\t.reg .b32 \t%kj_word;\n");
    if (p->adds)
        kj_text_puts(t, "\t.reg .b64 \t%kj_high;\n");
    kj_text_printf(t, "\tcvt.u32.u64 \t%%kj_word, %s;\n", p->of);
    kj_text_printf(t, "\tmul.lo.s32 \t%%kj_word, %%kj_word, %d;\n", (int)(p->factor >> 32));
    kj_text_printf(t, "\tcvt.u64.u32 \t%s, %%kj_word;\n\tshl.b64 \t%s, %s, 32;\n", high, high,
                   high);
    if (p->adds)
        kj_text_printf(t, "\tadd.s64 \t%s, %s, %s;\n", p->to, high, p->added);
    kj_text_puts(t, "\t}");
}

LLVMMemoryBufferRef kj_ptx_mend_text(LLVMMemoryBufferRef ptx)
{
    const char *text = LLVMGetBufferStart(ptx), *end = text + LLVMGetBufferSize(ptx), *done = text;
    kj_text out = {0};
    for (const char *at = text; (at = strstr(at, "\n\tm")); at += 3) {
        product p;
        if (!read_product(at + 2, end, &p))
            continue;
        kj_text_add(&out, done, (size_t)(at + 2 - done));
        write_product(&out, &p);
        done = at + 2 + strcspn(at + 2, ";\n") + 1;
    }
    if (done == text)
        return ptx;
    kj_text_add(&out, done, (size_t)(end - done));
    LLVMMemoryBufferRef mended =
        out.failed ? NULL : LLVMCreateMemoryBufferWithMemoryRangeCopy(out.data, out.size, "ptx");
    kj_text_free(&out);
    LLVMDisposeMemoryBuffer(ptx);
    return mended;
}
