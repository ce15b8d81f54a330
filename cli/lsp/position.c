/* Lines and characters <-> bytes. A client counts lines from 0, ended by \n, \r\n or \r, and characters in units of
 * UTF-16, or in bytes where it agreed to. */
#include <string.h>

#include "lsp.h"

/* How long the character is, in bytes; a byte that begins none is one. */
static size_t char_bytes(const char *p, size_t left)
{
    unsigned char c = (unsigned char)*p;
    size_t n = c < 0x80 ? 1 : c < 0xc2 ? 1 : c < 0xe0 ? 2 : c < 0xf0 ? 3 : c < 0xf5 ? 4 : 1;
    if (n > left)
        return 1;
    for (size_t i = 1; i < n; i++)
        if (((unsigned char)p[i] & 0xc0) != 0x80)
            return 1;
    return n;
}

/* The last line that begins at the byte or before it. */
static uint32_t line_of(const document *d, size_t offset)
{
    uint32_t low = 0, high = d->nlines;
    while (high - low > 1) {
        uint32_t middle = low + (high - low) / 2;
        if (d->lines[middle] <= offset)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* Counts on from where the last position was, where that is in the line: many positions in one long line are one walk. */
json_t *position_json(const server *s, document *d, size_t offset)
{
    offset = offset < d->size ? offset : d->size;
    uint32_t line = line_of(d, offset), character = 0;
    size_t at = d->lines[line];
    if (s->utf8)
        return json_pack("{s:i, s:i}", "line", (int)line, "character", (int)(offset - at));
    if (d->last.line == line && d->last.offset >= at && d->last.offset <= offset) {
        at = d->last.offset;
        character = d->last.character;
    }
    while (at < offset) {
        size_t n = char_bytes(d->text + at, d->size - at);
        if (at + n > offset)
            break;
        character += n == 4 ? 2 : 1;
        at += n;
    }
    d->last.line = line;
    d->last.offset = at;
    d->last.character = character;
    return json_pack("{s:i, s:i}", "line", (int)line, "character", (int)character);
}

json_t *range_json(const server *s, document *d, size_t begin, size_t end)
{
    json_t *start = position_json(s, d, begin), *stop = position_json(s, d, end);
    return json_pack("{s:o, s:o}", "start", start, "end", stop);
}

bool offset_of(const server *s, const document *d, const json_t *position, size_t *out)
{
    const json_t *line = json_object_get(position, "line"),
                 *character = json_object_get(position, "character");
    if (!json_is_integer(line) || !json_is_integer(character))
        return false;
    json_int_t l = json_integer_value(line), c = json_integer_value(character);
    if (l < 0 || c < 0)
        return false;
    if (l >= (json_int_t)d->nlines) {
        *out = d->size;
        return true;
    }
    size_t at = d->lines[l], end = l + 1 < (json_int_t)d->nlines ? d->lines[l + 1] : d->size;
    while (end > at && (d->text[end - 1] == '\n' || d->text[end - 1] == '\r'))
        end--;
    while (at < end && c > 0) {
        size_t n = char_bytes(d->text + at, end - at);
        json_int_t units = s->utf8 ? (json_int_t)n : n == 4 ? 2 : 1;
        if (units > c)
            break;
        c -= units;
        at += n;
    }
    *out = at;
    return true;
}

/* The compiler's lines end at \n alone, and a mark of the byte order is in no column. */
size_t offset_of_column(const document *d, json_int_t line, json_int_t column)
{
    const char *p = d->text, *end = d->text + d->size;
    if (d->size >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
        p += 3;
    for (; line > 1 && p < end; line--) {
        const char *next = memchr(p, '\n', (size_t)(end - p));
        p = next ? next + 1 : end;
    }
    for (; column > 1 && p < end && *p != '\n'; column--)
        p += char_bytes(p, (size_t)(end - p));
    return (size_t)(p - d->text);
}
