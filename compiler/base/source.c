/* Places in source text: byte offsets in; lines, columns and characters out. */
#include <string.h>

#include "base/diag.h"

kj_source_part kj_source_at(const kj_source *s, uint32_t offset)
{
    int i = 0;
    while (i + 1 < s->nparts && s->parts[i + 1].begin <= offset)
        i++;
    return s->nparts ? s->parts[i] : (kj_source_part){s->name, 0, (uint32_t)s->size};
}

size_t kj_byte_order_mark(const char *text, size_t size)
{
    static const char mark[] = "\xef\xbb\xbf"; /* U+FEFF, which some editors write first */
    return size >= 3 && memcmp(text, mark, 3) == 0 ? 3 : 0;
}

kj_position kj_where(const kj_source *s, uint32_t offset)
{
    kj_source_part part = kj_source_at(s, offset);
    const char *at = s->text + (offset < part.end ? offset : part.end);
    const char *start = s->text + part.begin;
    start += kj_byte_order_mark(start, part.end - part.begin);
    kj_position out = {part.name, 1, 1};
    for (const char *p = start; p < at; p++) {
        if (*p == '\n') {
            out.line++;
            start = p + 1;
        }
    }
    uint32_t code;
    for (const char *p = start; p < at; p += kj_utf8(p, s->text + part.end, &code))
        out.column++;
    return out;
}
