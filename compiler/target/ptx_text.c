/* Products of 64 bits whose low word is zero, once more (ptx_words.c), in the text that LLVM has written.
 *
 * LLVM makes more of them while it selects instructions: in a loop that it unrolled, (i * v) << 42 becomes sums of
 * v * (7 << 42) and its like, by reduction in strength. Each is a line of its own, and stays right where its high word
 * is computed in 32 bits. */
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/text.h"
#include "target/target.h"

enum { OPERAND = 32, LINE = 160 };

typedef struct product {
    char to[OPERAND], of[OPERAND], added[OPERAND];
    long long factor;
    bool adds;
} product;

/* The product in the line that begins here, of which the low word is zero. */
static bool read_product(const char *begin, product *p)
{
    char line[LINE];
    snprintf(line, sizeof line, "%.*s", (int)strcspn(begin, ";\n"), begin);
    p->adds = line[1] == 'a';
    int n = p->adds ? sscanf(line, "mad.lo.s64 \t%31[%a-z0-9], %31[%a-z0-9], %lld, %31s", p->to,
                             p->of, &p->factor, p->added)
                    : sscanf(line, "mul.lo.s64 \t%31[%a-z0-9], %31[%a-z0-9], %lld", p->to, p->of,
                             &p->factor);
    return n == (p->adds ? 4 : 3) && (uint32_t)p->factor == 0;
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
        if (!read_product(at + 2, &p))
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
