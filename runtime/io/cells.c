/* Tables as text, as programs write them: RFC 4180's quotes, and the separators, comments and names of missing values
 * that NumPy and pandas take. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "io/cells.h"

static bool is_blank(const kj_cells *c)
{
    return c->at < c->end && (*c->at == ' ' || (*c->at == '\t' && c->separator != '\t'));
}

static bool ends_line(const kj_cells *c)
{
    return c->at == c->end || *c->at == '\n' || *c->at == '\r';
}

static bool ends_cell(const kj_cells *c)
{
    return ends_line(c) || (c->separator == ' ' ? is_blank(c) : *c->at == c->separator);
}

static void skip_blanks(kj_cells *c)
{
    while (is_blank(c))
        c->at++;
}

static void skip_line(kj_cells *c)
{
    while (!ends_line(c))
        c->at++;
}

/* "\n", "\r\n" or "\r". */
static void take_line_end(kj_cells *c)
{
    if (c->at == c->end)
        return;
    if (*c->at++ == '\r' && c->at < c->end && *c->at == '\n')
        c->at++;
    c->ended++;
}

/* Lines without cells. */
static void skip_to_row(kj_cells *c)
{
    while (c->at < c->end) {
        const char *start = c->at;
        skip_blanks(c);
        if (c->at < c->end && *c->at == '#')
            skip_line(c);
        if (!ends_line(c)) {
            c->at = start;
            return;
        }
        take_line_end(c);
    }
}

/* The opening quote is taken. A quote within is written twice. */
static void take_quoted(kj_cells *c, kj_cell *out)
{
    out->text = c->at;
    out->quoted = true;
    for (; c->at < c->end; c->at++) {
        c->ended += *c->at == '\n';
        if (*c->at != '"')
            continue;
        if (c->at + 1 == c->end || c->at[1] != '"')
            break;
        c->at++;
    }
    out->n = (size_t)(c->at - out->text);
    if (c->at == c->end) {
        out->wrong = "a quote is opened here and not closed";
        return;
    }
    c->at++;
    if (c->separator != ' ')
        skip_blanks(c);
    if (!ends_cell(c))
        out->wrong = "something stands behind a cell's closing quote";
    while (!ends_cell(c))
        c->at++;
}

static void take_plain(kj_cells *c, kj_cell *out)
{
    out->text = c->at;
    while (!ends_cell(c))
        c->at++;
    out->n = (size_t)(c->at - out->text);
    while (out->n > 0 && (out->text[out->n - 1] == ' ' || out->text[out->n - 1] == '\t'))
        out->n--;
}

bool kj_cells_next(kj_cells *c, kj_cell *out)
{
    if (!c->inside) {
        skip_to_row(c);
        if (c->at == c->end)
            return false;
    }
    *out = (kj_cell){.n = 0};
    c->line = c->ended + 1;
    skip_blanks(c);
    if (c->at < c->end && *c->at == '"') {
        c->at++;
        take_quoted(c, out);
    } else {
        take_plain(c, out);
    }
    skip_blanks(c);
    out->last = ends_line(c);
    c->inside = !out->last;
    if (out->last)
        take_line_end(c);
    else if (c->separator != ' ')
        c->at++;
    return true;
}

kj_cells kj_cells_of(const char *text, size_t size, char separator)
{
    static const char bom[] = "\xef\xbb\xbf", candidates[] = ",;\t";
    size_t skipped = size >= 3 && memcmp(text, bom, 3) == 0 ? 3 : 0;
    kj_cells c = {.at = text + skipped, .end = text + size, .separator = separator};
    if (separator)
        return c;
    kj_cells row = c;
    int counts[3] = {0}, most = 0;
    skip_to_row(&row);
    for (bool quoted = false; row.at < row.end && (quoted || !ends_line(&row)); row.at++) {
        const char *is = memchr(candidates, *row.at, 3);
        quoted ^= *row.at == '"';
        if (is && !quoted)
            counts[is - candidates]++;
    }
    for (int i = 1; i < 3; i++)
        most = counts[i] > counts[most] ? i : most;
    c.separator = candidates[most];
    return c;
}

/* ---- What a cell holds ---- */

static bool is_word(const kj_cell *cell, const char *word)
{
    size_t i = 0;
    while (i < cell->n && word[i] && kj_to_lower(cell->text[i]) == word[i])
        i++;
    return i == cell->n && !word[i];
}

static bool take_bool(const kj_cell *cell, bool *out)
{
    *out = is_word(cell, "true");
    return *out || is_word(cell, "false");
}

static bool is_missing(const kj_cell *cell)
{
    static const char *const words[] = {"", "na", "n/a", "nan", "null", "none"};
    bool missing = false;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        missing |= is_word(cell, words[i]);
    return missing;
}

/* ---- Integers, by their digits: an f64 holds 53 bits of one ---- */

static const char *behind_sign(const kj_cell *cell)
{
    return cell->text + (cell->n > 0 && (cell->text[0] == '-' || cell->text[0] == '+'));
}

/* i64, or u64 where that does not hold it. */
static bool put_int(const kj_cell *cell, uint64_t u, kj_value *out)
{
    bool negative = cell->text[0] == '-';
    if (negative && u > (uint64_t)INT64_MAX + 1)
        return false;
    *out = kj_int(negative || u <= INT64_MAX ? KJ_I64 : KJ_U64, (int64_t)(negative ? 0 - u : u));
    return true;
}

static const char *hex_digits(const kj_cell *cell)
{
    const char *at = behind_sign(cell), *end = cell->text + cell->n;
    bool prefixed = end - at > 2 && at[0] == '0' && kj_to_lower(at[1]) == 'x';
    size_t n = prefixed ? strspn(at + 2, "0123456789abcdefABCDEF") : 0;
    return n > 0 && at + 2 + n == end ? at + 2 : NULL;
}

static bool take_hex(const kj_cell *cell, const char *digits, kj_value *out)
{
    uint64_t u = 0;
    for (const char *at = digits; at < cell->text + cell->n; at++) {
        uint64_t digit =
            kj_is_digit(*at) ? (uint64_t)(*at - '0') : (uint64_t)(kj_to_lower(*at) - 'a') + 10;
        if (__builtin_mul_overflow(u, 16, &u))
            return false;
        u += digit;
    }
    return put_int(cell, u, out);
}

static bool times_tens(uint64_t *u, int64_t tens)
{
    for (; tens > 0 && *u; tens--)
        if (__builtin_mul_overflow(*u, 10, u))
            return false;
    return true;
}

/* What is behind an `e`, but no more than cells are long. */
static int64_t exponent_at(const char *at)
{
    enum { MOST = INT32_MAX };
    int64_t n = 0;
    bool negative = *at == '-';
    for (at += negative || *at == '+'; kj_is_digit(*at); at++)
        n = n < MOST / 10 ? 10 * n + (*at - '0') : MOST;
    return negative ? -n : n;
}

/* The integer that a decimal number is, "3", "3.0" or "1.5e3". */
static bool take_whole(const kj_cell *cell, kj_value *out)
{
    const char *at = behind_sign(cell), *end = cell->text + cell->n;
    uint64_t u = 0;
    int64_t places = 0, behind = 0; /* since the last digit that is not 0; behind the point */
    bool point = false;
    for (; at < end && (kj_is_digit(*at) || *at == '.'); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        places++;
        behind += point;
        if (*at == '0')
            continue;
        if (!times_tens(&u, places) || __builtin_add_overflow(u, (uint64_t)(*at - '0'), &u))
            return false;
        places = 0;
    }
    int64_t tens = places - behind + (at < end ? exponent_at(at + 1) : 0);
    return (u == 0 || tens >= 0) && times_tens(&u, tens) && put_int(cell, u, out);
}

/* Digits and a sign, also hexadecimal ones; false, too, where no type holds it. */
static bool take_int(const kj_cell *cell, kj_value *out)
{
    const char *hex = hex_digits(cell), *at = behind_sign(cell), *end = cell->text + cell->n;
    if (hex)
        return take_hex(cell, hex, out);
    bool digits = at < end;
    for (; at < end; at++)
        digits &= kj_is_digit(*at);
    return digits && take_whole(cell, out);
}

static double read_float(const char *text, kj_dtype type, char **end)
{
    return type == KJ_F32 ? (double)kj_strtof(text, end) : kj_strtod(text, end);
}

/* 1.5D+03, as Fortran writes doubles: `at` is where the D stands. */
static bool take_fortran(const kj_cell *cell, const char *at, kj_dtype type, double *v)
{
    char text[64], *end;
    size_t i = (size_t)(at - cell->text);
    if (i == 0 || cell->n >= sizeof text || kj_to_lower(*at) != 'd')
        return false;
    memcpy(text, cell->text, cell->n);
    text[cell->n] = '\0';
    text[i] = 'e';
    *v = read_float(text, type, &end);
    return end == text + cell->n;
}

/* The text behind the cell ends with what is no part of a number. */
static bool take_float(const kj_cell *cell, kj_dtype type, kj_value *out)
{
    char *end;
    if (cell->n == 0 || cell->text[0] <= ' ') /* strtod takes lines */
        return false;
    double v = read_float(cell->text, type, &end);
    if (end != cell->text + cell->n &&
        !(end < cell->text + cell->n && take_fortran(cell, end, type, &v)))
        return false;
    *out = kj_fold_convert(kj_float(KJ_F64, v), type);
    return true;
}

static bool put_as(kj_value v, kj_dtype type, kj_value *out)
{
    *out = kj_fold_convert(v, type);
    return kj_value_fits(v, type);
}

bool kj_cell_number(const kj_cell *cell, kj_dtype type, kj_value *out)
{
    bool truth, is_truth = take_bool(cell, &truth);
    if (is_missing(cell)) {
        *out = kj_float(kj_is_float(type) ? type : KJ_F64, NAN);
        return type == KJ_VOID || kj_is_float(type);
    }
    if (is_truth) {
        *out = kj_fold_convert(kj_int(KJ_BOOL, truth), type == KJ_VOID ? KJ_BOOL : type);
        return true;
    }
    if (kj_is_float(type))
        return take_float(cell, type, out);
    if (take_int(cell, out))
        return type == KJ_VOID || put_as(*out, type, out);
    if (hex_digits(cell) || !take_float(cell, KJ_F64, out))
        return false;
    if (type == KJ_VOID)
        return true;
    bool decimal =
        isfinite(out->f) && !memchr(cell->text, 'x', cell->n) && !memchr(cell->text, 'X', cell->n);
    return (!decimal || take_whole(cell, out)) && put_as(*out, type, out);
}

size_t kj_cell_step(const kj_cell *cell, size_t i)
{
    return cell->quoted && cell->text[i] == '"' ? 2 : 1;
}

bool kj_cell_is(const kj_cell *cell, const char *name)
{
    size_t i = 0;
    for (; *name && i < cell->n; i += kj_cell_step(cell, i))
        if (cell->text[i] != *name++)
            return false;
    return !*name && i == cell->n;
}
