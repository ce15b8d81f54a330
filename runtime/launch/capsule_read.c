/* Capsules, read: the launch of one is made again. In: an archive as capsule.c writes it, which may be anybody's; out:
 * that launch's status. Whatever its lines say is looked at before it is used. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "io/file.h"
#include "launch/launch.h"
#include "parse/ast.h"

enum {
    MOST_MANIFEST = 4 << 20, /* bytes */
    MOST_USES = 4096,
    MOST_BLOCKS = KJ_MAX_PARAMS + KJ_MAX_FILLED,
    MOST_VALUE = 4096 /* bytes of an argument that is a value */
};

typedef struct text_file {
    char *name;
    kjit_array *text;
} text_file;

typedef struct use {
    int from, to;
    char *path;
} use;

typedef struct replay {
    kjit_context *ctx;
    const char *path;
    kj_npz *npz;
    kjit_array *manifest;
    const char *at, *end; /* what is left of a line */
    int line;
    char kernel[256];
    kjit_config config;
    kjit_compile_options options;
    uint32_t written; /* kj_source's */
    text_file files[KJ_MAX_FILES];
    use *uses;
    int nuses;
    kj_finder library;
    kjit_module *mod;
    kjit_array *blocks[MOST_BLOCKS];
    kjit_array *arrays[KJ_MAX_PARAMS];
    kjit_arg args[KJ_MAX_PARAMS];
    char *names[KJ_MAX_PARAMS];
    unsigned char *values[KJ_MAX_PARAMS];
    int nargs;
} replay;

/* ---- Words of a line ---- */

static kjit_status bad(const replay *r, const char *what)
{
    return kj_fail(r->ctx, KJIT_FORMAT, "'%s' is no capsule: line %d of its manifest %s", r->path,
                   r->line, what);
}

static bool next_line(replay *r, const char **from)
{
    const char *all = r->manifest->data + r->manifest->size;
    if (*from >= all)
        return false;
    const char *end = memchr(*from, '\n', (size_t)(all - *from));
    r->at = *from;
    r->end = end ? end : all;
    r->line++;
    *from = r->end + 1;
    return true;
}

/* Up to a blank, which is skipped. False: there is none, or it is longer than the room. */
static bool take_word(replay *r, char *out, size_t room)
{
    const char *blank = memchr(r->at, ' ', (size_t)(r->end - r->at));
    const char *end = blank ? blank : r->end;
    size_t n = (size_t)(end - r->at);
    if (n == 0 || n >= room || memchr(r->at, 0, n))
        return false;
    memcpy(out, r->at, n);
    out[n] = 0;
    r->at = blank ? blank + 1 : r->end;
    return true;
}

/* All that is left, for free(); NULL: nothing is, or no memory. */
static char *take_rest(replay *r)
{
    size_t n = (size_t)(r->end - r->at);
    char *out = n > 0 && !memchr(r->at, 0, n) ? strndup(r->at, n) : NULL;
    r->at = r->end;
    return out;
}

static bool take_int(replay *r, int64_t least, int64_t most, int64_t *out)
{
    char word[32], *end;
    if (!take_word(r, word, sizeof word))
        return false;
    errno = 0;
    long long n = strtoll(word, &end, 10);
    *out = n;
    return !*end && !errno && n >= least && n <= most;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* So many bytes, two digits each, the last of the line. */
static bool take_bytes(replay *r, unsigned char *out, size_t size)
{
    if ((size_t)(r->end - r->at) != 2 * size)
        return false;
    for (size_t i = 0; i < size; i++) {
        int high = digit(r->at[2 * i]), low = digit(r->at[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        out[i] = (unsigned char)(16 * high + low);
    }
    r->at = r->end;
    return true;
}

/* ---- Members ---- */

static kjit_status read_bytes(replay *r, const char *name, int number, kjit_array **out)
{
    char member[32];
    kj_snprintf(member, sizeof member, number < 0 ? "%s" : "%s%d", name, number);
    kj_load_request q = {.ctx = r->ctx, .path = r->path, .name = member, .kind = "*.npz"};
    kjit_status status = kj_npz_read(r->npz, &q, out);
    if (status != KJIT_OK)
        return status == KJIT_NOT_FOUND
                   ? kj_fail(r->ctx, KJIT_FORMAT, "'%s' is no capsule: it has no array '%s'",
                             r->path, member)
                   : status;
    if ((*out)->dtype == KJIT_U8 && (*out)->ndim == 1)
        return KJIT_OK;
    kjit_array_free(*out);
    *out = NULL;
    return kj_fail(r->ctx, KJIT_FORMAT, "'%s' is no capsule: its array '%s' is not u8[]", r->path,
                   member);
}

static kjit_status block_at(replay *r, int64_t number, kjit_array **out)
{
    kjit_array **at = &r->blocks[number];
    kjit_status status = *at ? KJIT_OK : read_bytes(r, "block", (int)number, at);
    *out = *at;
    return status;
}

/* ---- What the source is and how it is compiled ---- */

static kjit_status read_file(replay *r)
{
    int64_t i;
    if (!take_int(r, 0, KJ_MAX_FILES - 1, &i) || r->files[i].name)
        return bad(r, "has no number of a file");
    r->files[i].name = take_rest(r);
    return r->files[i].name ? read_bytes(r, "file", (int)i, &r->files[i].text)
                            : bad(r, "has no name of a file");
}

static kjit_status read_use(replay *r)
{
    int64_t from, to;
    if (r->nuses == MOST_USES || !take_int(r, 0, KJ_MAX_FILES - 1, &from) ||
        !take_int(r, 0, KJ_MAX_FILES - 1, &to))
        return bad(r, "has no numbers of two files");
    if (!r->uses)
        r->uses = calloc(MOST_USES, sizeof *r->uses);
    char *path = r->uses ? take_rest(r) : NULL;
    if (!path)
        return r->uses ? bad(r, "has no path") : kj_no_memory(r->ctx);
    r->uses[r->nuses++] = (use){(int)from, (int)to, path};
    return KJIT_OK;
}

static kjit_status read_dims(replay *r, int64_t out[3])
{
    for (int i = 0; i < 3; i++)
        if (!take_int(r, 1, INT64_MAX, &out[i]))
            return bad(r, "has no three numbers from 1 on");
    return KJIT_OK;
}

/* Its checks, as far as they can be had. */
static unsigned checks_in(const kjit_context *ctx, unsigned asked)
{
    unsigned none = KJ_CHECK_NONE, have = ctx->ops->checks;
    bool all = !(asked & none) || ctx->limits.untrusted;
    unsigned checks = asked & have & ~(none | (unsigned)KJ_CHECK_ALL);
    return all ? checks | KJ_CHECK_BOUNDS : (checks & ~(unsigned)KJ_CHECK_BOUNDS) | none;
}

static kjit_status read_option(replay *r, const char *key)
{
    int64_t n;
    kjit_compile_options *o = &r->options;
    bool check = strcmp(key, "check") == 0, optimise = strcmp(key, "optimise") == 0;
    bool written = strcmp(key, "written") == 0;
    if (!take_int(r, 0, check || written ? INT32_MAX : optimise ? 3 : 1, &n))
        return bad(r, "has a wrong number");
    if (optimise)
        o->opt_level = n ? (int)n : KJIT_UNOPTIMISED;
    else if (check)
        o->check = checks_in(r->ctx, (unsigned)n);
    else if (strcmp(key, "contract") == 0)
        o->no_contract = !n;
    else if (strcmp(key, "ftz") == 0)
        o->ftz = (int)n;
    else if (strcmp(key, "statements") == 0)
        o->statements = (int)n;
    else if (written)
        r->written = (uint32_t)n;
    else
        return bad(r, "begins with a word that this kjit does not know");
    return KJIT_OK;
}

static bool is_for_later(const char *key)
{
    return strcmp(key, "argument") == 0 || strcmp(key, "const") == 0;
}

static kjit_status read_line(replay *r)
{
    char key[16];
    if (!take_word(r, key, sizeof key))
        return bad(r, "begins with no word");
    if (strcmp(key, "note") == 0 || is_for_later(key))
        return KJIT_OK;
    if (strcmp(key, "file") == 0)
        return read_file(r);
    if (strcmp(key, "use") == 0)
        return read_use(r);
    if (strcmp(key, "grid") == 0)
        return read_dims(r, r->config.grid);
    if (strcmp(key, "block") == 0)
        return read_dims(r, r->config.block);
    if (strcmp(key, "kernel") == 0)
        return take_word(r, r->kernel, sizeof r->kernel) ? KJIT_OK : bad(r, "names no kernel");
    return read_option(r, key);
}

static kjit_status read_lines(replay *r)
{
    static const char first[] = "kjit capsule 1";
    const char *from = r->manifest->data;
    bool is = next_line(r, &from) && (size_t)(r->end - r->at) == strlen(first) &&
              memcmp(r->at, first, strlen(first)) == 0;
    kjit_status status = is ? KJIT_OK : bad(r, "is not 'kjit capsule 1'");
    while (status == KJIT_OK && next_line(r, &from))
        status = read_line(r);
    if (status == KJIT_OK && (!*r->kernel || !r->config.grid[0] || !r->config.block[0]))
        status = bad(r, "is the last, and there was no kernel, grid or block");
    if (status == KJIT_OK && !r->files[0].text)
        status = bad(r, "is the last, and there was no file 0");
    return status;
}

/* ---- The module ---- */

static bool find_text(void *user, kj_arena *arena, const kj_wanted *wanted, kj_found *out)
{
    replay *r = user;
    int from = wanted->from[0] == 'c' ? atoi(wanted->from + 1) : -1;
    for (int i = 0; i < r->nuses && !wanted->library; i++) {
        const use *u = &r->uses[i];
        const text_file *f = &r->files[u->to];
        if (u->from != from || strcmp(u->path, wanted->path) != 0 || !f->text)
            continue;
        out->id = kj_arena_printf(arena, "c%d", u->to);
        out->name = f->name;
        out->text = f->text->data;
        out->size = (size_t)f->text->size;
        return true;
    }
    return r->library.loader.find(r->library.loader.user, arena, wanted, out);
}

static kjit_status compile(replay *r)
{
    const text_file *f = &r->files[0];
    kj_loader loader = {.find = find_text, .user = r, .id = "c0", .written = r->written};
    kjit_status status = kj_finder_open(&r->library, r->ctx, f->name, NULL);
    if (status == KJIT_OK)
        status = kj_module_make(r->ctx, f->name, f->text->data, (size_t)f->text->size, &r->options,
                                &loader, &r->mod);
    return status;
}

/* ---- Arguments ---- */

/* A type by its name: a record is one of the source's. */
static bool take_type(replay *r, kjit_dtype *out)
{
    char name[256];
    if (!take_word(r, name, sizeof name))
        return false;
    for (int i = 0; i < KJIT_FIRST_RECORD; i++) {
        const char *known = kjit_dtype_name((kjit_dtype)i);
        *out = (kjit_dtype)i;
        if (known && strcmp(known, name) == 0)
            return true;
    }
    const kj_program *program = r->mod->program;
    const kj_aggregate *of = kj_record_named(program, program->file, name);
    for (int i = 0; i < program->ndeclared && !of; i++)
        if (strcmp(program->declared[i].of->name, name) == 0)
            of = program->declared[i].of;
    if (of)
        *out = (kjit_dtype)of->type;
    return of != NULL;
}

/* An array as a line has it. */
typedef struct placed {
    int64_t block, offset, ndim, shape[KJIT_MAX_NDIM], strides[KJIT_MAX_NDIM];
    kjit_dtype dtype;
    int64_t elem;
} placed;

static bool take_placed(replay *r, placed *p)
{
    *p = (placed){0};
    if (!take_int(r, -1, MOST_BLOCKS - 1, &p->block) || !take_int(r, 0, INT64_MAX, &p->offset) ||
        !take_type(r, &p->dtype) || !take_int(r, 0, KJIT_MAX_NDIM, &p->ndim))
        return false;
    p->elem = (int64_t)kj_dtype_size(r->ctx, p->dtype);
    bool ok = p->elem > 0;
    for (int i = 0; i < p->ndim; i++)
        ok = ok && take_int(r, 0, KJ_MOST_EXTENT, &p->shape[i]);
    for (int i = 0; i < p->ndim; i++)
        ok = ok && take_int(r, INT64_MIN, INT64_MAX, &p->strides[i]);
    return ok;
}

static bool is_empty(const placed *p)
{
    for (int i = 0; i < p->ndim; i++)
        if (p->shape[i] == 0)
            return true;
    return false;
}

/* Does all of it lie in a block of so many bytes? */
static bool lies_inside(const placed *p, int64_t size)
{
    int64_t low = p->offset, high, way;
    bool beyond = __builtin_add_overflow(low, p->elem, &high);
    for (int i = 0; i < p->ndim; i++) {
        int64_t *end;
        beyond |= __builtin_mul_overflow(p->shape[i] - 1, p->strides[i], &way);
        end = way < 0 ? &low : &high;
        beyond |= __builtin_add_overflow(*end, way, end);
    }
    return !beyond && low >= 0 && high <= size;
}

static kjit_status read_array(replay *r, kjit_arg_kind kind)
{
    placed p;
    kjit_array *block = NULL, **out = &r->arrays[r->nargs];
    if (!take_placed(r, &p) || (p.block < 0 && !is_empty(&p)))
        return bad(r, "has no block, place, type and shape of an array");
    kjit_status status = p.block < 0 ? KJIT_OK : block_at(r, p.block, &block);
    if (status != KJIT_OK)
        return status;
    if (!is_empty(&p) && !lies_inside(&p, block->size))
        return bad(r, "has an array that is not within its block");
    status =
        kj_array_wrap(r->ctx, is_empty(&p) ? NULL : block->data + p.offset, p.dtype, (int)p.ndim,
                      p.shape, is_empty(&p) ? NULL : p.strides, KJIT_HOST, NULL, NULL, out);
    r->args[r->nargs] = kjit_arg_array(*out);
    r->args[r->nargs].kind = kind;
    return status;
}

static kjit_status read_value(replay *r)
{
    kjit_dtype type;
    size_t size = take_type(r, &type) ? kj_dtype_size(r->ctx, type) : 0;
    if (size == 0 || size > MOST_VALUE)
        return bad(r, "has no type of a value");
    unsigned char *bytes = malloc(size);
    if (!bytes)
        return kj_no_memory(r->ctx);
    r->values[r->nargs] = bytes;
    if (!take_bytes(r, bytes, size))
        return bad(r, "has not the digits of its value");
    r->args[r->nargs] = kjit_arg_value(type, bytes);
    return KJIT_OK;
}

static kjit_status read_number(replay *r, const char *kind)
{
    kjit_arg *arg = &r->args[r->nargs];
    char word[32], *end;
    int64_t n;
    double f;
    bool ok = true;
    errno = 0;
    if (strcmp(kind, "int") == 0 && take_int(r, INT64_MIN, INT64_MAX, &n))
        *arg = kjit_arg_i64(n);
    else if (strcmp(kind, "bool") == 0 && take_int(r, 0, 1, &n))
        *arg = kjit_arg_bool((int)n);
    else if (strcmp(kind, "float") == 0 && take_bytes(r, (unsigned char *)&f, sizeof f))
        *arg = kjit_arg_f64(f);
    else if (strcmp(kind, "uint") == 0 && take_word(r, word, sizeof word)) {
        *arg = kjit_arg_u64(strtoull(word, &end, 10));
        ok = !*end && !errno && *word != '-';
    } else
        ok = false;
    return ok ? KJIT_OK : bad(r, "has no number");
}

static kjit_status read_argument(replay *r)
{
    char name[256], kind[16];
    if (r->nargs == KJ_MAX_PARAMS || !take_word(r, name, sizeof name) ||
        !take_word(r, kind, sizeof kind))
        return bad(r, "is no argument");
    kjit_status status = strcmp(kind, "array") == 0   ? read_array(r, KJIT_ARG_ARRAY)
                         : strcmp(kind, "in") == 0    ? read_array(r, KJIT_ARG_IN)
                         : strcmp(kind, "out") == 0   ? read_array(r, KJIT_ARG_OUT)
                         : strcmp(kind, "value") == 0 ? read_value(r)
                                                      : read_number(r, kind);
    r->names[r->nargs] = strdup(name);
    r->args[r->nargs].name = r->names[r->nargs];
    if (status == KJIT_OK && !r->names[r->nargs])
        status = kj_no_memory(r->ctx);
    r->nargs++;
    return status;
}

static kjit_status read_const(replay *r)
{
    char name[256];
    int64_t number;
    kjit_array *block, *a;
    if (!take_int(r, 0, MOST_BLOCKS - 1, &number) || !take_word(r, name, sizeof name))
        return bad(r, "has no block and name of a const array");
    const kj_program *program = r->mod->program;
    int i = 0;
    while (i < program->nfilled && strcmp(program->filled[i].name, name) != 0)
        i++;
    if (i == program->nfilled)
        return bad(r, "names a const array that the source has not");
    const kj_const_array_info *f = &program->filled[i];
    kjit_status status = block_at(r, number, &block);
    if (status != KJIT_OK)
        return status;
    int64_t size = f->elem_size;
    for (int k = 0; k < f->ndim; k++)
        size *= f->shape[k];
    if (size != block->size)
        return bad(r, "has a const array of another size than its block");
    status = kj_array_wrap(r->ctx, block->data, (kjit_dtype)f->elem, f->ndim, f->shape, NULL,
                           KJIT_HOST, NULL, NULL, &a);
    if (status == KJIT_OK)
        status = kjit_module_set_const(r->mod, name, a);
    kjit_array_free(a);
    return status;
}

static kjit_status read_arguments(replay *r)
{
    const char *from = r->manifest->data;
    char key[16];
    kjit_status status = KJIT_OK;
    r->line = 0;
    while (status == KJIT_OK && next_line(r, &from)) {
        if (!take_word(r, key, sizeof key) || !is_for_later(key))
            continue;
        status = strcmp(key, "const") == 0 ? read_const(r) : read_argument(r);
    }
    return status;
}

/* ---- All of it ---- */

static void end(replay *r)
{
    for (int i = 0; i < KJ_MAX_PARAMS; i++) {
        kjit_array_free(r->arrays[i]);
        free(r->names[i]);
        free(r->values[i]);
    }
    for (int i = 0; i < MOST_BLOCKS; i++)
        kjit_array_free(r->blocks[i]);
    for (int i = 0; i < KJ_MAX_FILES; i++) {
        kjit_array_free(r->files[i].text);
        free(r->files[i].name);
    }
    for (int i = 0; i < r->nuses; i++)
        free(r->uses[i].path);
    free(r->uses);
    kj_finder_close(&r->library);
    kjit_module_free(r->mod);
    kjit_array_free(r->manifest);
    if (r->npz)
        kj_npz_close(r->npz);
}

static kjit_status launch(replay *r, unsigned check)
{
    kjit_status status = kj_npz_open(r->ctx, r->path, &r->npz);
    if (status == KJIT_OK)
        status = read_bytes(r, "manifest", -1, &r->manifest);
    if (status == KJIT_OK && r->manifest->size > MOST_MANIFEST)
        status = kj_fail(r->ctx, KJIT_FORMAT, "'%s' is no capsule: its manifest is over %d MiB",
                         r->path, MOST_MANIFEST >> 20);
    if (status == KJIT_OK)
        status = read_lines(r);
    if (check)
        r->options.check = check;
    if (status == KJIT_OK)
        status = compile(r);
    if (status == KJIT_OK)
        status = read_arguments(r);
    return status == KJIT_OK ? kjit_launch(r->mod, r->kernel, &r->config, r->args, r->nargs)
                             : status;
}

kjit_status kjit_replay(kjit_context *ctx, const char *path, unsigned check)
{
    kjit_status status = kj_enter_context(ctx);
    if (status != KJIT_OK)
        return status;
    if (!path)
        return kj_fail(ctx, KJIT_INVALID, "path is NULL");
    replay *r = calloc(1, sizeof *r);
    if (!r)
        return kj_no_memory(ctx);
    r->ctx = ctx;
    r->path = path;
    status = launch(r, check);
    end(r);
    free(r);
    return status;
}
