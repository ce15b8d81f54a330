/* Tables of numbers: .csv, .tsv and .txt. A column is a number of each row: of the array's last axis, or a field of its
 * records. */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/cells.h"
#include "io/gzip.h"

/* A number of each element, and the column that it comes from. */
typedef struct part {
    char name[128];
    kj_dtype type; /* KJ_VOID: still to be found */
    int64_t offset;
    int64_t column;
} part;

typedef struct table {
    const kj_load_request *q;
    char *text;
    size_t size;
    char separator;
    kj_cell *first; /* the cells of the first row: [columns] */
    int64_t columns, rows;
    bool titled; /* the first row has names */
    part *parts; /* [n], by column */
    int64_t n;
    size_t counted; /* bytes that count as arrays' */
} table;

static kjit_status no_memory(const table *t)
{
    return kj_no_memory(t->q->ctx);
}

static kjit_status check_quotes(const table *t, const kj_cells *at, const kj_cell *cell)
{
    return cell->wrong ? kj_fail(t->q->ctx, KJIT_FORMAT, "cannot read '%s': line %lld: %s",
                                 t->q->path, (long long)at->line, cell->wrong)
                       : KJIT_OK;
}

/* Room for n elements of that size, which counts as arrays do: of a row of commas alone it takes far more than the text. */
static void *grown(table *t, void *data, int64_t had, int64_t n, size_t size, kjit_status *status)
{
    kj_failure why;
    *status = kj_limit_arrays(t->q->ctx, (size_t)(n - had) * size, &why);
    if (*status != KJIT_OK) {
        kj_fail_why(t->q->ctx, *status, &why);
        return NULL;
    }
    t->counted += (size_t)(n - had) * size;
    void *more = realloc(data, (size_t)n * size);
    if (!more)
        *status = no_memory(t);
    return more;
}

/* ---- The first row ---- */

static kjit_status read_first(table *t)
{
    kj_cells cells = kj_cells_of(t->text, t->size, t->separator);
    kj_cell cell;
    kj_value v;
    int64_t room = 0;
    t->separator = cells.separator;
    while (kj_cells_next(&cells, &cell)) {
        kjit_status status = check_quotes(t, &cells, &cell);
        if (status != KJIT_OK)
            return status;
        if (t->columns == room) {
            int64_t had = room;
            room = 2 * room + 8;
            kj_cell *more = grown(t, t->first, had, room, sizeof *more, &status);
            if (!more)
                return status;
            t->first = more;
        }
        t->first[t->columns++] = cell;
        t->titled |= !kj_cell_number(&cell, KJ_F64, &v);
        if (cell.last)
            return KJIT_OK;
    }
    return kj_fail(t->q->ctx, KJIT_FORMAT, "'%s' has no rows", t->q->path);
}

/* How many bytes of a cell a message has: whole characters. */
static int shown(const kj_cell *cell)
{
    enum { MOST = 40 };
    const char *end = cell->text + cell->n, *at = cell->text;
    uint32_t code;
    for (size_t n; at < end; at += n) {
        n = kj_utf8(at, end, &code);
        if (at - cell->text + (int64_t)n > MOST)
            break;
    }
    return (int)(at - cell->text);
}

static void put_name(kj_text *names, const char *before, const kj_cell *cell)
{
    size_t n = (size_t)shown(cell);
    kj_text_printf(names, "%s'", before);
    for (size_t i = 0; i < n; i += kj_cell_step(cell, i))
        kj_text_printf(names, "%c", cell->text[i]);
    kj_text_puts(names, "'");
}

static kjit_status no_column(const table *t, const char *name)
{
    enum { SHOWN = 12 };
    kj_text names = {0};
    for (int64_t i = 0; i < t->columns && i < SHOWN; i++)
        put_name(&names, i ? ", " : "", &t->first[i]);
    kjit_status status =
        names.failed ? no_memory(t)
        : t->titled  ? kj_fail(t->q->ctx, KJIT_NOT_FOUND, "'%s' has no column '%s': it has %s%s",
                               t->q->path, name, names.data, t->columns > SHOWN ? ", ..." : "")
                     : kj_fail(t->q->ctx, KJIT_NOT_FOUND,
                               "'%s' has no column '%s': its first line has numbers, not names",
                               t->q->path, name);
    kj_text_free(&names);
    return status;
}

/* The one column of that name. */
static kjit_status find_column(const table *t, const char *name, int64_t *out)
{
    int64_t found = -1;
    for (int64_t i = 0; t->titled && i < t->columns; i++) {
        if (!kj_cell_is(&t->first[i], name))
            continue;
        if (found >= 0)
            return kj_fail(t->q->ctx, KJIT_FORMAT, "'%s' has two columns '%s': %lld and %lld",
                           t->q->path, name, (long long)found + 1, (long long)i + 1);
        found = i;
    }
    *out = found;
    return found < 0 ? no_column(t, name) : KJIT_OK;
}

/* ---- Which columns are read, and into what ---- */

static kjit_status add_part(table *t, part **made)
{
    if ((t->n & (t->n - 1)) == 0) { /* it has grown to a power of two */
        kjit_status status;
        part *more = grown(t, t->parts, t->n, t->n ? 2 * t->n : 1, sizeof *more, &status);
        if (!more)
            return status;
        t->parts = more;
    }
    t->parts[t->n] = (part){.column = t->n};
    *made = &t->parts[t->n++];
    return KJIT_OK;
}

/* The numbers of a record, in their order: "mass", "pos.x". */
static kjit_status add_fields(table *t, const kj_aggregate *of, const char *before, int64_t offset)
{
    for (int i = 0; i < of->n; i++) {
        const kj_field *f = &of->fields[i];
        char name[sizeof t->parts->name];
        kj_snprintf(name, sizeof name, "%s%s%s", before, *before ? "." : "",
                    f->name ? f->name : "");
        kjit_status status = KJIT_OK;
        if (kj_is_fixed(f->of))
            return kj_fail(t->q->ctx, KJIT_TYPE,
                           "a table has no columns for '%s' of %s, which is an array", name,
                           t->q->of->name);
        if (f->of)
            status = add_fields(t, f->of, name, offset + f->offset);
        part *p = NULL;
        if (!f->of)
            status = add_part(t, &p);
        if (status != KJIT_OK)
            return status;
        if (p) {
            p->type = f->type;
            p->offset = offset + f->offset;
            memcpy(p->name, name, sizeof name);
        }
    }
    return KJIT_OK;
}

static int by_column(const void *a, const void *b)
{
    const part *p = a, *q = b;
    return p->column < q->column ? -1 : p->column > q->column;
}

/* Columns are found by their names, or by their places where they have none. */
static kjit_status choose_fields(table *t)
{
    kjit_status status = add_fields(t, t->q->of, "", 0);
    if (status != KJIT_OK)
        return status;
    if (!t->titled && t->n != t->columns)
        return kj_fail(t->q->ctx, KJIT_FORMAT,
                       "'%s' has %lld columns without names, and %s %lld numbers", t->q->path,
                       (long long)t->columns, t->q->of->name, (long long)t->n);
    for (int64_t i = 0; t->titled && i < t->n; i++) {
        status = find_column(t, t->parts[i].name, &t->parts[i].column);
        if (status != KJIT_OK)
            return status;
    }
    qsort(t->parts, (size_t)t->n, sizeof *t->parts, by_column);
    return KJIT_OK;
}

static kjit_status choose(table *t)
{
    if (t->q->of && !kj_is_complex_type(t->q->dtype))
        return choose_fields(t);
    if (t->q->of)
        return kj_fail(t->q->ctx, KJIT_TYPE, "a table has real numbers, not %s",
                       kj_dtype_name(t->q->ctx, (kjit_dtype)t->q->dtype));
    for (int64_t i = 0; i < (t->q->name ? 1 : t->columns); i++) {
        part *p = NULL;
        kjit_status status = add_part(t, &p);
        if (status != KJIT_OK)
            return status;
        p->type = t->q->dtype;
    }
    return t->q->name ? find_column(t, t->q->name, &t->parts[0].column) : KJIT_OK;
}

/* ---- The rows ---- */

/* 1,5: a number as it is written where a comma is its point. */
static bool has_decimal_comma(const char *text, size_t n)
{
    size_t i = n > 0 && strchr("+-", *text), digits = i;
    while (i < n && kj_is_digit(text[i]))
        i++;
    bool before = i > digits && i < n && text[i] == ',';
    for (digits = ++i; i < n && kj_is_digit(text[i]); i++)
        ;
    return before && i == n && i > digits;
}

/* Why a cell is no number, where that is of the whole table. */
static const char *hint_of_cell(const table *t, const kj_cell *cell)
{
    if (has_decimal_comma(cell->text, cell->n))
        return "; numbers have a point: 1.5";
    if (t->separator == ',' && memchr(cell->text, ';', cell->n))
        return "; where ';' separates columns, numbers have a point: 1.5;2";
    return "";
}

static kjit_status bad_cell(const table *t, const kj_cells *at, int64_t column, const kj_cell *cell,
                            kj_dtype type)
{
    char name[64] = "";
    bool fits = t->titled && t->first[column].n < sizeof name - 4;
    bool one = t->titled && t->columns > 1 && !t->q->name && !t->q->of;
    kj_value v;
    bool large = type == KJ_VOID && kj_cell_number(cell, KJ_F64, &v);
    if (fits)
        kj_snprintf(name, sizeof name, " '%.*s'", (int)t->first[column].n, t->first[column].text);
    else
        kj_snprintf(name, sizeof name, " %lld", (long long)column + 1);
    return kj_fail(
        t->q->ctx, KJIT_FORMAT, "cannot read '%s': line %lld, column%s: '%.*s' is not %s%s%s%s",
        t->q->path, (long long)at->line, name, shown(cell), cell->text,
        large             ? "an integer of 64 bits"
        : type == KJ_VOID ? "a number"
                          : "a value of ",
        type == KJ_VOID ? "" : kj_type_name(type), hint_of_cell(t, cell),
        one && !large && !*hint_of_cell(t, cell) ? "; another column is read alone, by its name"
                                                 : "");
}

/* The first column that a row of n cells has nothing for, or the first cell that is of none. */
static kjit_status wrong_width(const table *t, const kj_cells *at, int64_t n)
{
    char name[64];
    bool more = n > t->columns, titled = !more && t->titled && t->first[n].n < sizeof name - 4;
    if (titled)
        kj_snprintf(name, sizeof name, "'%.*s'", (int)t->first[n].n, t->first[n].text);
    else
        kj_snprintf(name, sizeof name, "%lld", (long long)(more ? t->columns : n) + 1);
    return kj_fail(t->q->ctx, KJIT_FORMAT,
                   "cannot read '%s': line %lld has %lld cell%s, the first row has %lld: %s%s%s",
                   t->q->path, (long long)at->line, (long long)n, n == 1 ? "" : "s",
                   (long long)t->columns, more ? "cell " : "nothing stands in column ", name,
                   !more ? ""
                   : n == 2 * t->columns && t->separator == ','
                       ? " is of no column; numbers have a point: 1.5"
                       : " is of no column");
}

/* A type that holds both. */
static kj_dtype joined(kj_dtype a, kj_dtype b)
{
    if (a == KJ_VOID || a == b)
        return b;
    if (a == KJ_BOOL || b == KJ_BOOL)
        return a == KJ_BOOL ? b : a;
    return a == KJ_F64 || b == KJ_F64
               ? KJ_F64
               : KJ_U64; /* i64 and u64: negative ones are looked for later */
}

/* Calls `visit` for each cell that is wanted, row by row. */
typedef kjit_status visit_fn(table *t, const kj_cells *at, const kj_cell *cell, part *p,
                             int64_t row, void *user);

static kjit_status each_cell(table *t, visit_fn *visit, void *user)
{
    kj_cells cells = kj_cells_of(t->text, t->size, t->separator);
    kj_cell cell;
    kjit_status status = KJIT_OK;
    int64_t row = -(int64_t)t->titled, column = 0, next = 0;
    while (status == KJIT_OK && kj_cells_next(&cells, &cell)) {
        status = check_quotes(t, &cells, &cell);
        for (; row >= 0 && next < t->n && t->parts[next].column == column && status == KJIT_OK;
             next++)
            status = visit(t, &cells, &cell, &t->parts[next], row, user);
        column++;
        if (!cell.last)
            continue;
        if (status == KJIT_OK && column != t->columns)
            status = wrong_width(t, &cells, column);
        row++;
        column = next = 0;
    }
    t->rows = row;
    return status;
}

typedef struct found {
    kj_dtype type;
    bool negative;
} found;

static kjit_status find_type(table *t, const kj_cells *at, const kj_cell *cell, part *p,
                             int64_t row, void *user)
{
    found *f = user;
    kj_value v;
    (void)row;
    if (p->type != KJ_VOID)
        return KJIT_OK;
    if (!kj_cell_number(cell, KJ_VOID, &v))
        return bad_cell(t, at, p->column, cell, KJ_VOID);
    f->type = joined(f->type, v.type);
    f->negative |= v.type == KJ_I64 && v.i < 0;
    return KJIT_OK;
}

typedef struct target {
    char *data;
    int64_t size; /* bytes of a row */
} target;

static kjit_status put(table *t, const kj_cells *at, const kj_cell *cell, part *p, int64_t row,
                       void *user)
{
    target *to = user;
    kj_value v;
    if (!kj_cell_number(cell, p->type, &v))
        return bad_cell(t, at, p->column, cell, p->type);
    kj_value_write(to->data + row * to->size + p->offset, 0, v);
    return KJIT_OK;
}

static kjit_status read_rows(table *t, kjit_array **out)
{
    found f = {.type = KJ_VOID};
    kjit_status status = each_cell(t, find_type, &f);
    if (status != KJIT_OK)
        return status;
    if (f.type == KJ_VOID || (f.type == KJ_U64 && f.negative))
        f.type = KJ_F64;
    kj_dtype type = t->q->dtype == KJ_VOID ? f.type : t->q->dtype;
    int64_t shape[2] = {t->rows, t->n};
    bool line = t->q->of || t->q->name || t->columns == 1;
    status =
        kjit_array_create(t->q->ctx, (kjit_dtype)type, line ? 1 : 2, shape, 'C', KJIT_HOST, out);
    if (status != KJIT_OK)
        return status;
    target to = {.data = (*out)->data, .size = (int64_t)kj_array_elem(*out)};
    for (int64_t i = 0; !t->q->of && i < t->n; i++) {
        t->parts[i].type = type;
        t->parts[i].offset = i * to.size;
    }
    to.size *= line ? 1 : t->n;
    kj_float_env env = kj_float_enter();
    if (t->q->of && t->rows > 0)
        memset(to.data, 0, (size_t)(t->rows * to.size)); /* what lies between fields */
    status = each_cell(t, put, &to);
    kj_float_leave(env);
    return status;
}

/* Spreadsheets write UTF-16 as "Unicode text": two bytes a character, of which one is zero in a number. */
static kjit_status check_text(const table *t)
{
    const unsigned char *b = (const unsigned char *)t->text;
    bool marked =
        t->size >= 2 && ((b[0] == 0xff && b[1] == 0xfe) || (b[0] == 0xfe && b[1] == 0xff));
    bool plain = t->size >= 4 && ((b[0] == 0) != (b[1] == 0)) && (b[0] == 0) == (b[2] == 0) &&
                 (b[1] == 0) == (b[3] == 0);
    return marked || plain ? kj_fail(t->q->ctx, KJIT_FORMAT,
                                     "cannot read '%s': its text is UTF-16; save the table as "
                                     "UTF-8 (\"CSV UTF-8\")",
                                     t->q->path)
                           : KJIT_OK;
}

kjit_status kj_table_load(const kj_load_request *q, kjit_array **out)
{
    table t = {.q = q};
    kjit_status status = kj_file_get(q->ctx, q->path, &t.text, &t.size);
    bool packed = kj_ends_with(q->kind, ".gz");
    if (status == KJIT_OK && kj_is_gzip(t.text, t.size))
        status = kj_gunzip(q->ctx, q->path, &t.text, &t.size, &t.counted);
    else if (status == KJIT_OK && packed)
        status = kj_fail(q->ctx, KJIT_FORMAT,
                         "cannot read '%s': it is not compressed by gzip, as its name says; plain "
                         "text has a name without .gz",
                         q->path);
    if (kj_ends_with(q->kind, packed ? ".tsv.gz" : ".tsv"))
        t.separator = '\t';
    if (kj_ends_with(q->kind, packed ? ".txt.gz" : ".txt"))
        t.separator = ' ';
    if (status == KJIT_OK)
        status = check_text(&t);
    if (status == KJIT_OK)
        status = read_first(&t);
    if (status == KJIT_OK)
        status = choose(&t);
    if (status == KJIT_OK)
        status = read_rows(&t, out);
    free(t.parts);
    free(t.first);
    free(t.text);
    kj_unlimit_arrays(q->ctx, t.counted);
    return status;
}

/* ---- Tables under other names ---- */

/* The beginning of a regular file, whole lines of it unless it is one line; how many bytes, with a NUL behind them. */
static size_t read_beginning(const char *path, char *text, size_t room)
{
    struct stat st;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    int64_t got = 0;
    if (fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode))
        got = kj_file_read(fd, text, room - 1);
    bool all = got > 0 && got == st.st_size;
    if (fd >= 0)
        close(fd);
    while (got > 0 && !all && text[got - 1] != '\n')
        got--;
    size_t n = got > 0 ? (size_t)got : 0;
    text[n] = '\0';
    return n;
}

static bool is_printable(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if ((text[i] < ' ' || text[i] > '~') && text[i] != '\t' && text[i] != '\n' &&
            text[i] != '\r')
            return false;
    return n > 0;
}

/* Rows of numbers, of one width; names may stand in the first. */
static bool is_table(const char *text, size_t n, char separator)
{
    kj_cells cells = kj_cells_of(text, n, separator);
    kj_cell cell;
    kj_value v;
    int64_t row = 0, column = 0, width = 0;
    bool names = false;
    while (kj_cells_next(&cells, &cell)) {
        bool number = !cell.wrong && kj_cell_number(&cell, KJ_F64, &v);
        if (cell.wrong || (!number && row > 0))
            return false;
        names |= !number;
        column++;
        if (!cell.last)
            continue;
        width = row == 0 ? column : width;
        if (column != width)
            return false;
        row++;
        column = 0;
    }
    return row > names;
}

const char *kj_table_format(const char *path)
{
    char text[4096];
    size_t n = read_beginning(path, text, sizeof text);
    if (!is_printable(text, n))
        return NULL;
    bool separated = strpbrk(text, ",;") != NULL;
    return is_table(text, n, separated ? 0 : ' ') ? separated ? "csv" : "txt" : NULL;
}
