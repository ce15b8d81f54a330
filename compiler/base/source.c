/* Places in source text: byte offsets in; lines, columns and characters out. */
#include <string.h>

#include "base/diag.h"

size_t kj_utf8(const char *text, const char *end, uint32_t *code)
{
    const unsigned char *s = (const unsigned char *)text;
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    *code = 0xfffd;
    if (len == 1) {
        *code = s[0];
        return 1;
    }
    if (s[0] < 0xc2 || s[0] > 0xf4 || len > (size_t)(end - text))
        return 1;
    uint32_t c = s[0] & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 1;
        c = c << 6 | (s[i] & 0x3fu);
    }
    if (c < least[len] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
        return 1;
    *code = c;
    return len;
}

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
