/* Which text a terminal may be given: characters that would move its cursor, colour it or turn the order of letters
 * around are written out, and so are bytes that are no UTF-8. Needs no other file, for the command has it too. */
#ifndef KJ_PLAIN_H
#define KJ_PLAIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The UTF-8 character at `text` (before `end`): its length, and its code in *code; one byte and
 * U+FFFD when invalid. */
static inline size_t kj_utf8(const char *text, const char *end, uint32_t *code)
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

/* Controls, of which a tab is none, line ends of Unicode, and what turns the order of letters around. */
static inline bool kj_is_control(uint32_t c)
{
    return (c < 0x20 && c != '\t') || (c >= 0x7f && c < 0xa0) || c == 0x061c || c == 0x200e ||
           c == 0x200f || (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

enum { KJ_PLAIN_MOST = 8 /* bytes of a character that is written out, with a NUL */ };

/* A backslash, the letter, and so many digits of the number. */
static inline void kj_escape(char out[KJ_PLAIN_MOST], char letter, unsigned code, int digits)
{
    out[0] = '\\';
    out[1] = letter;
    for (int i = 0; i < digits; i++)
        out[2 + i] = "0123456789abcdef"[code >> 4 * (digits - 1 - i) & 15];
    out[2 + digits] = '\0';
}

/* The character at `text` as it may be shown: its length, and in `out` what stands for it, nothing where that is
 * itself. */
static inline size_t kj_shown_as(const char *text, const char *end, char out[KJ_PLAIN_MOST])
{
    uint32_t code;
    size_t n = kj_utf8(text, end, &code);
    bool invalid = code == 0xfffd && n == 1;
    unsigned byte = (unsigned char)*text;
    out[0] = '\0';
    if (code == '\n' || code == '\r')
        kj_escape(out, code == '\n' ? 'n' : 'r', 0, 0);
    else if (invalid || (n == 1 && kj_is_control(code)))
        kj_escape(out, 'x', byte, 2);
    else if (kj_is_control(code))
        kj_escape(out, 'u', code, 4);
    return n;
}

#endif
