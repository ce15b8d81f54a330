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

enum { BLOCK = 4096 }; /* bytes, in front of each of which lines are counted */

void kj_source_count(kj_arena *arena, kj_source *s)
{
    uint32_t *lines = KJ_NEW_ARRAY(arena, uint32_t, s->size / BLOCK + 1), n = 0;
    for (size_t i = 0; i <= s->size; i++) {
        if (i % BLOCK == 0)
            lines[i / BLOCK] = n;
        n += i < s->size && s->text[i] == '\n';
    }
    s->lines = lines;
}

static uint32_t lines_before(const kj_source *s, uint32_t offset)
{
    uint32_t i = s->lines ? offset / BLOCK * BLOCK : 0, n = s->lines ? s->lines[i / BLOCK] : 0;
    for (; i < offset; i++)
        n += s->text[i] == '\n';
    return n;
}

kj_position kj_where(const kj_source *s, uint32_t offset)
{
    kj_source_part part = kj_source_at(s, offset);
    uint32_t first =
        part.begin + (uint32_t)kj_byte_order_mark(s->text + part.begin, part.end - part.begin);
    uint32_t at = offset < part.end ? offset : part.end, start = at > first ? at : first;
    kj_position out = {part.name, lines_before(s, start) - lines_before(s, first) + 1, 1};
    while (start > first && s->text[start - 1] != '\n')
        start--;
    uint32_t code;
    for (const char *p = s->text + start; p < s->text + at;
         p += kj_utf8(p, s->text + part.end, &code))
        out.column++;
    return out;
}
