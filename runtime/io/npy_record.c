/* Records in .npy files: the list of fields in a header, matched by name with the fields of the
 * record that is wanted, whatever lies between them in the file; and that list written. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "io/npy.h"

enum { PIECE = 1 << 20, DESCR = 32, NAME = 256 };

static kjit_status take_fields(kj_npy_reader *r, kj_npy_records *m, const kj_aggregate *of,
                               int64_t from, int64_t to, int64_t *size);

/* ---- What goes where ---- */

static bool add_move(kj_npy_records *m, kj_npy_move move)
{
    kj_npy_move *last = m->n > m->apart ? &m->moves[m->n - 1] : NULL;
    int64_t bytes = last ? last->n * last->size : 0;
    if (last && last->size == move.size && !last->swapped && !move.swapped && !last->bools &&
        !move.bools && last->from + bytes == move.from && last->to + bytes == move.to) {
        last->n += move.n;
        return true;
    }
    if (m->n == m->room) {
        int room = m->room ? 2 * m->room : 16;
        kj_npy_move *moves = realloc(m->moves, (size_t)room * sizeof *moves);
        if (!moves)
            return false;
        m->moves = moves;
        m->room = room;
    }
    m->moves[m->n++] = move;
    return true;
}

void kj_npy_records_free(kj_npy_records *m)
{
    free(m->moves);
    m->moves = NULL;
}

/* ---- Reading a list of fields ---- */

/* A field of the file. */
typedef struct field {
    char name[NAME], descr[DESCR]; /* descr: "" of a list */
    int ndim;
    int64_t shape[2 * KJIT_MAX_NDIM], count;
    int64_t size; /* bytes of one of its elements */
    int depth;    /* of arrays of arrays */
} field;

/* The name alone, or a title and the name. */
static bool take_name(kj_npy_reader *r, field *f)
{
    if (!kj_npy_take(r, '('))
        return kj_npy_take_string(r, f->name, sizeof f->name);
    return kj_npy_take_string(r, f->name, sizeof f->name) && kj_npy_take(r, ',') &&
           kj_npy_take_string(r, f->name, sizeof f->name) && kj_npy_take(r, ')');
}

static bool take_shape(kj_npy_reader *r, field *f)
{
    bool tuple = kj_npy_take(r, '('), more = true;
    while (more && !(tuple && kj_npy_take(r, ')'))) {
        int64_t n;
        if (f->ndim == 2 * KJIT_MAX_NDIM || !kj_npy_take_extent(r, &n) || n > KJ_MAX_RECORD_BYTES ||
            (f->count *= n) > KJ_MAX_RECORD_BYTES)
            return false;
        f->shape[f->ndim++] = n;
        if (!tuple)
            return true;
        more = kj_npy_take(r, ',');
        if (!more && !kj_npy_take(r, ')'))
            return false;
    }
    return true;
}

/* Those of an array of arrays: behind each other, the outer one's first. */
static bool take_extents(kj_npy_reader *r, field *f)
{
    int64_t inner[2 * KJIT_MAX_NDIM];
    int n = f->ndim;
    memcpy(inner, f->shape, (size_t)n * sizeof *inner);
    f->ndim = 0;
    bool taken = take_shape(r, f);
    if (!taken || f->ndim + n > 2 * KJIT_MAX_NDIM)
        return false;
    memcpy(f->shape + f->ndim, inner, (size_t)n * sizeof *inner);
    f->ndim += n;
    return true;
}

static const kj_field *find_field(const kj_aggregate *of, const char *name, int *i)
{
    for (*i = 0; *i < of->n; ++*i)
        if (strcmp(of->fields[*i].name, name) == 0)
            return &of->fields[*i];
    return NULL;
}

static kjit_status other_type(const kj_npy_reader *r, const kj_aggregate *of, const field *f,
                              const kj_field *wanted)
{
    char shape[2 * KJ_SHAPE_TEXT] = "";
    size_t n = 0;
    for (int i = 0; i < f->ndim; i++)
        n += (size_t)kj_snprintf(shape + n, sizeof shape - n, i ? ", %lld" : " of shape (%lld",
                                 (long long)f->shape[i]);
    return kj_fail(r->ctx, KJIT_TYPE, "'%s': the field '%.80s' is %s%s%s there, and %s in %.80s",
                   r->path, f->name, *f->descr ? f->descr : "a record", shape, f->ndim ? ")" : "",
                   wanted->of ? wanted->of->name : kj_types[wanted->type].name, of->name);
}

/* The shape that a field has in NumPy, and the type of its numbers; KJ_VOID: records. */
static kj_dtype numpy_shape(const kj_field *f, int *ndim, int64_t *shape)
{
    const kj_aggregate *of = f->of;
    kj_dtype type = f->type;
    *ndim = 0;
    if (kj_is_fixed(of)) {
        for (int i = 0; i < of->ndim; i++)
            shape[(*ndim)++] = of->shape[i];
        type = of->elem;
        of = of->fields[0].of;
    }
    if (kj_is_vector(of)) {
        shape[(*ndim)++] = of->n;
        type = of->elem;
    }
    return kj_is_record(of) ? KJ_VOID : type;
}

/* Numbers: the same type, the same shape. */
static kjit_status take_scalars(kj_npy_reader *r, kj_npy_records *m, const kj_aggregate *of,
                                field *f, const kj_field *wanted, int64_t from, int64_t to)
{
    int64_t shape[KJIT_MAX_NDIM + 1];
    int ndim;
    kj_dtype type = numpy_shape(wanted, &ndim, shape), found;
    kj_npy_move move = {.from = from, .to = to + wanted->offset};
    if (!kj_npy_scalar(f->descr, &found, &move.swapped) || found != type || ndim != f->ndim ||
        memcmp(shape, f->shape, (size_t)ndim * sizeof *shape) != 0)
        return other_type(r, of, f, wanted);
    const kj_aggregate *complex = kj_aggregate_of(type);
    move.size = kj_types[complex ? complex->elem : type].size;
    f->size = complex ? complex->size : move.size;
    move.n = f->count * f->size / move.size;
    move.bools = type == KJ_BOOL;
    return add_move(m, move) ? KJIT_OK : kj_no_memory(r->ctx);
}

/* What was found of the first of several records, for the others too. */
static kjit_status repeat(kj_npy_reader *r, kj_npy_records *m, int first, const field *f,
                          int64_t stride)
{
    int last = m->n;
    m->apart = last;
    for (int64_t k = 1; k < f->count; k++) {
        for (int i = first; i < last; i++) {
            kj_npy_move move = m->moves[i];
            move.from += k * f->size;
            move.to += k * stride;
            if (!add_move(m, move))
                return kj_no_memory(r->ctx);
        }
    }
    return KJIT_OK;
}

/* The rest of a field behind its type: perhaps a shape. */
static kjit_status close_field(kj_npy_reader *r, field *f)
{
    bool comma = kj_npy_take(r, ',');
    if (kj_npy_take(r, ')'))
        return KJIT_OK;
    if (comma && !take_extents(r, f))
        return kj_npy_bad(r, "a field's shape is none");
    if (comma)
        kj_npy_take(r, ',');
    return kj_npy_take(r, ')') ? KJIT_OK : kj_npy_bad(r, "a field is not closed");
}

static kjit_status take_nested(kj_npy_reader *r, kj_npy_records *m, const kj_aggregate *of,
                               field *f, const kj_field *wanted, int64_t from, int64_t to)
{
    int64_t shape[KJIT_MAX_NDIM + 1];
    int ndim, first = m->n;
    bool records = numpy_shape(wanted, &ndim, shape) == KJ_VOID;
    if (!records)
        return other_type(r, of, f, wanted);
    m->apart = first;
    const kj_aggregate *inner = kj_is_fixed(wanted->of) ? wanted->of->fields[0].of : wanted->of;
    kjit_status status = take_fields(r, m, inner, from, to + wanted->offset, &f->size);
    if (status == KJIT_OK)
        status = close_field(r, f);
    if (status != KJIT_OK)
        return status;
    if (ndim != f->ndim || memcmp(shape, f->shape, (size_t)ndim * sizeof *shape) != 0)
        return other_type(r, of, f, wanted);
    return repeat(r, m, first, f, inner->size);
}

/* A number's type, or (type, shape). */
static bool take_type(kj_npy_reader *r, field *f)
{
    if (!kj_npy_take(r, '('))
        return kj_npy_take_string(r, f->descr, sizeof f->descr);
    return f->depth++ < KJIT_MAX_NDIM && take_type(r, f) && kj_npy_take(r, ',') &&
           take_extents(r, f) && (kj_npy_take(r, ','), kj_npy_take(r, ')'));
}

/* ('name', type[, shape]), its '(' taken; *size grows by its bytes. */
static kjit_status take_field(kj_npy_reader *r, kj_npy_records *m, const kj_aggregate *of,
                              bool *seen, int64_t from, int64_t to, int64_t *size)
{
    field f = {.count = 1};
    int i;
    if (!take_name(r, &f) || !kj_npy_take(r, ','))
        return kj_npy_bad(r, "a field has no name");
    bool nested = kj_npy_take(r, '[');
    if (!nested && !take_type(r, &f))
        return kj_npy_bad(r, "a field has no type");
    const kj_field *wanted = find_field(of, f.name, &i);
    kjit_status status = KJIT_OK;
    const char *raw = strchr(f.descr, 'V');
    if (!*f.name && raw) { /* a gap */
        f.size = strtol(raw + 1, NULL, 10);
        status = close_field(r, &f);
        if (f.size < 0 || f.size > KJ_MAX_RECORD_BYTES)
            return kj_npy_bad(r, "a gap between fields is too large");
    } else if (!wanted || seen[i]) {
        return kj_fail(r->ctx, KJIT_TYPE, "'%s' has a field '%.80s', which %.80s %s", r->path,
                       f.name, of->name, wanted ? "has once" : "does not have");
    } else if (nested) {
        status = take_nested(r, m, of, &f, wanted, from + *size, to);
    } else {
        status = close_field(r, &f);
        if (status == KJIT_OK)
            status = take_scalars(r, m, of, &f, wanted, from + *size, to);
    }
    if (wanted)
        seen[i] = true;
    *size += f.size * f.count;
    if (status == KJIT_OK && *size > KJ_MAX_RECORD_BYTES)
        return kj_npy_bad(r, "its records are too large");
    return status;
}

static kjit_status take_fields(kj_npy_reader *r, kj_npy_records *m, const kj_aggregate *of,
                               int64_t from, int64_t to, int64_t *size)
{
    bool seen[KJ_MAX_RECORD_PARTS] = {false};
    kjit_status status = KJIT_OK;
    *size = 0;
    while (status == KJIT_OK && !kj_npy_take(r, ']')) {
        if (!kj_npy_take(r, '('))
            return kj_npy_bad(r, "a field is no tuple");
        status = take_field(r, m, of, seen, from, to, size);
        if (status == KJIT_OK && !kj_npy_take(r, ',')) {
            if (!kj_npy_take(r, ']'))
                return kj_npy_bad(r, "the list of fields is not closed");
            break;
        }
    }
    for (int i = 0; status == KJIT_OK && i < of->n; i++)
        if (!seen[i])
            return kj_fail(r->ctx, KJIT_TYPE, "'%s' has no field '%.80s' of %.80s", r->path,
                           of->fields[i].name, of->name);
    return status;
}

kjit_status kj_npy_take_records(kj_npy_reader *r, kj_npy_records *m)
{
    return take_fields(r, m, m->of, 0, 0, &m->size);
}

/* ---- Elements ---- */

static void move_record(const kj_npy_records *m, const char *from, char *to)
{
    for (int i = 0; i < m->n; i++) {
        const kj_npy_move *v = &m->moves[i];
        memcpy(to + v->to, from + v->from, (size_t)(v->n * v->size));
        if (v->swapped)
            kj_npy_swap(to + v->to, v->n, (size_t)v->size);
        for (int64_t k = 0; v->bools && k < v->n; k++)
            to[v->to + k] = to[v->to + k] != 0;
    }
}

kjit_status kj_npy_read_records(kjit_context *ctx, const char *path, int fd,
                                const kj_npy_records *m, kjit_array *to)
{
    int64_t some = m->size < PIECE ? PIECE / m->size : 1, left = to->size;
    char *piece = malloc((size_t)(some * m->size)), *at = to->data;
    kjit_status status = piece ? KJIT_OK : kj_no_memory(ctx);
    memset(to->data, 0, (size_t)(to->size * m->of->size));
    while (status == KJIT_OK && left > 0) {
        int64_t n = left < some ? left : some, got = kj_file_read(fd, piece, (size_t)(n * m->size));
        if (got != n * m->size)
            status = got < 0 ? kj_file_error(ctx, "read", path)
                             : kj_fail(ctx, KJIT_FORMAT, "'%s' is truncated", path);
        for (int64_t i = 0; status == KJIT_OK && i < n; i++, at += m->of->size)
            move_record(m, piece + i * m->size, at);
        left -= n;
    }
    free(piece);
    return status;
}

/* ---- Writing ---- */

static void put_gap(kj_text *t, int64_t bytes)
{
    if (bytes > 0)
        kj_text_printf(t, ", ('', '|V%lld')", (long long)bytes);
}

static void put_field(kj_text *t, const kj_field *f)
{
    int64_t shape[KJIT_MAX_NDIM + 1];
    int ndim;
    kj_dtype type = numpy_shape(f, &ndim, shape);
    kj_text_printf(t, "('%s', ", f->name);
    if (type == KJ_VOID)
        kj_npy_put_record(t, kj_is_fixed(f->of) ? f->of->fields[0].of : f->of);
    else
        kj_npy_put_type(t, type);
    for (int i = 0; i < ndim; i++)
        kj_text_printf(t, "%s%lld%s", i ? ", " : ", (", (long long)shape[i],
                       i + 1 < ndim ? ""
                       : ndim == 1  ? ",)"
                                    : ")");
    kj_text_puts(t, ")");
}

void kj_npy_put_record(kj_text *t, const kj_aggregate *of)
{
    int64_t at = 0;
    kj_text_puts(t, "[");
    for (int i = 0; i < of->n; i++) {
        const kj_field *f = &of->fields[i];
        put_gap(t, f->offset - at);
        if (i > 0)
            kj_text_puts(t, ", ");
        put_field(t, f);
        at = f->offset + (f->of ? f->of->size : kj_types[f->type].size);
    }
    put_gap(t, of->size - at);
    kj_text_puts(t, "]");
}

void kj_npy_zero_gaps(const kj_aggregate *of, char *at)
{
    int64_t end = 0;
    for (int i = 0; i < of->n; i++) {
        const kj_field *f = &of->fields[i];
        memset(at + end, 0, (size_t)(f->offset - end));
        if (f->of && !kj_is_uniform(f->of))
            kj_npy_zero_gaps(f->of, at + f->offset);
        end = f->offset + (f->of ? f->of->size : kj_types[f->type].size);
    }
    memset(at + end, 0, (size_t)(of->size - end));
}
