/* Capsules, read: the launch of one is made again. In: an archive as capsule.c writes it, which may be anybody's; out:
 * that launch's status. Whatever its lines say is looked at before it is used. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "launch/replay.h"
#include "parse/ast.h"

enum {
    MOST_MANIFEST = 16 << 20, /* bytes */
    MOST_USES = 4096
};

/* ---- Words of a line ---- */

kjit_status kj_replay_bad(const kj_replay *r, const char *what)
{
    if (r->no_memory)
        return kj_no_memory(r->ctx);
    return kj_fail(r->ctx, KJIT_FORMAT, "'%s' is no capsule: line %d of its manifest %s", r->path,
                   r->line, what);
}

static bool next_line(kj_replay *r, const char **from)
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
bool kj_replay_word(kj_replay *r, char *out, size_t room)
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

char *kj_replay_name(kj_replay *r)
{
    const char *end = r->at;
    for (int depth = 0; end < r->end && *end && (*end != ' ' || depth > 0); end++)
        depth += (*end == '(') - (*end == ')');
    char *out =
        end > r->at && (end == r->end || *end) ? strndup(r->at, (size_t)(end - r->at)) : NULL;
    r->no_memory |= !out && end > r->at && (end == r->end || *end);
    r->at = end < r->end ? end + 1 : r->end;
    return out;
}

/* All that is left, for free(), which may be nothing; NULL: it has a zero, or no memory. */
static char *take_rest(kj_replay *r)
{
    size_t n = (size_t)(r->end - r->at);
    bool zero = memchr(r->at, 0, n) != NULL;
    char *out = zero ? NULL : strndup(r->at, n);
    r->no_memory |= !out && !zero;
    r->at = r->end;
    return out;
}

bool kj_replay_int(kj_replay *r, int64_t least, int64_t most, int64_t *out)
{
    char word[32], *end;
    if (!kj_replay_word(r, word, sizeof word))
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
bool kj_replay_bytes(kj_replay *r, unsigned char *out, size_t size)
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

static kjit_status read_bytes(kj_replay *r, const char *name, int number, kjit_array **out)
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

kjit_status kj_replay_block(kj_replay *r, int64_t number, kjit_array **out)
{
    kjit_array **at = &r->blocks[number];
    kjit_status status = *at ? KJIT_OK : read_bytes(r, "block", (int)number, at);
    *out = *at;
    return status;
}

/* ---- What the source is and how it is compiled ---- */

static kjit_status read_file(kj_replay *r)
{
    int64_t i;
    if (!kj_replay_int(r, 0, KJ_MAX_FILES - 1, &i) || r->files[i].name)
        return kj_replay_bad(r, "has no number of a file");
    r->files[i].name = take_rest(r);
    if (r->bound && r->files[i].name)
        return KJIT_OK;
    return r->files[i].name ? read_bytes(r, "file", (int)i, &r->files[i].text)
                            : kj_replay_bad(r, "has no name of a file");
}

static kjit_status read_use(kj_replay *r)
{
    int64_t from, to;
    if (r->nuses == MOST_USES || !kj_replay_int(r, 0, KJ_MAX_FILES - 1, &from) ||
        !kj_replay_int(r, 0, KJ_MAX_FILES - 1, &to))
        return kj_replay_bad(r, "has no numbers of two files");
    if (!r->uses)
        r->uses = calloc(MOST_USES, sizeof *r->uses);
    char *path = r->uses ? take_rest(r) : NULL;
    if (!path)
        return r->uses ? kj_replay_bad(r, "has no path") : kj_no_memory(r->ctx);
    r->uses[r->nuses++] = (kj_replay_use){(int)from, (int)to, path};
    return KJIT_OK;
}

static kjit_status read_kernel(kj_replay *r)
{
    free(r->kernel);
    r->kernel = kj_replay_name(r);
    return r->kernel ? KJIT_OK : kj_replay_bad(r, "names no kernel");
}

static kjit_status read_dims(kj_replay *r, int64_t out[3])
{
    for (int i = 0; i < 3; i++)
        if (!kj_replay_int(r, 1, INT64_MAX, &out[i]))
            return kj_replay_bad(r, "has no three numbers from 1 on");
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

static kjit_status read_option(kj_replay *r, const char *key)
{
    int64_t n;
    kjit_compile_options *o = &r->options;
    bool check = strcmp(key, "check") == 0, optimise = strcmp(key, "optimise") == 0;
    bool written = strcmp(key, "written") == 0;
    if (!kj_replay_int(r, 0, check || written ? INT32_MAX : optimise ? 3 : 1, &n))
        return kj_replay_bad(r, "has a wrong number");
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
        return kj_replay_bad(r, "begins with a word that this kjit does not know");
    return KJIT_OK;
}

static bool is_for_later(const char *key)
{
    return strcmp(key, "argument") == 0 || strcmp(key, "const") == 0;
}

static kjit_status read_line(kj_replay *r)
{
    char key[16];
    if (!kj_replay_word(r, key, sizeof key))
        return kj_replay_bad(r, "begins with no word");
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
        return read_kernel(r);
    return read_option(r, key);
}

static kjit_status read_lines(kj_replay *r)
{
    static const char first[] = "kjit capsule 1";
    const char *from = r->manifest->data;
    bool is = next_line(r, &from) && (size_t)(r->end - r->at) == strlen(first) &&
              memcmp(r->at, first, strlen(first)) == 0;
    kjit_status status = is ? KJIT_OK : kj_replay_bad(r, "is not 'kjit capsule 1'");
    while (status == KJIT_OK && next_line(r, &from))
        status = read_line(r);
    if (status == KJIT_OK && (!r->kernel || !r->config.grid[0] || !r->config.block[0]))
        status = kj_replay_bad(r, "is the last, and there was no kernel, grid or block");
    if (status == KJIT_OK && !r->files[0].name)
        status = kj_replay_bad(r, "is the last, and there was no file 0");
    return status;
}

/* ---- The module ---- */

/* A line has '?' for what is no character. */
static bool is_written(const char *line, const char *path)
{
    for (; *line && *path; line++, path++)
        if (*line != ((unsigned char)*path < ' ' ? '?' : *path))
            return false;
    return *line == *path;
}

static bool find_text(void *user, kj_arena *arena, const kj_wanted *wanted, kj_found *out)
{
    kj_replay *r = user;
    int from = wanted->from[0] == 'c' ? atoi(wanted->from + 1) : -1;
    const char *path = kj_arena_printf(arena, "%s%s", wanted->library ? "std." : "", wanted->path);
    for (int i = 0; i < r->nuses; i++) {
        const kj_replay_use *u = &r->uses[i];
        const kj_replay_file *f = &r->files[u->to];
        if (u->from != from || !is_written(u->path, path) || !f->text)
            continue;
        out->id = kj_arena_printf(arena, "c%d", u->to);
        out->name = f->name;
        out->text = f->text->data;
        out->size = (size_t)f->text->size;
        return true;
    }
    return r->library.loader.find(r->library.loader.user, arena, wanted, out);
}

static kjit_status compile(kj_replay *r)
{
    const kj_replay_file *f = &r->files[0];
    kj_loader loader = {.find = find_text, .user = r, .id = "c0", .written = r->written};
    kjit_status status = kj_finder_open(&r->library, r->ctx, f->name, NULL);
    if (status == KJIT_OK)
        status = kj_module_make(r->ctx, f->name, f->text->data, (size_t)f->text->size, &r->options,
                                &loader, &r->mod);
    return status;
}

static kjit_status read_arguments(kj_replay *r)
{
    const char *from = r->manifest->data;
    char key[16];
    kjit_status status = KJIT_OK;
    r->line = 0;
    while (status == KJIT_OK && next_line(r, &from)) {
        if (!kj_replay_word(r, key, sizeof key) || !is_for_later(key))
            continue;
        status = strcmp(key, "const") == 0 ? kj_replay_const(r) : kj_replay_argument(r);
    }
    return status;
}

/* ---- All of it ---- */

static void end(kj_replay *r)
{
    for (int i = 0; i < KJ_MAX_PARAMS; i++) {
        kjit_array_free(r->arrays[i]);
        free(r->names[i]);
        free(r->values[i]);
    }
    for (int i = 0; i < KJ_REPLAY_BLOCKS; i++)
        kjit_array_free(r->blocks[i]);
    for (int i = 0; i < KJ_MAX_FILES; i++) {
        kjit_array_free(r->files[i].text);
        free(r->files[i].name);
    }
    for (int i = 0; i < r->nuses; i++)
        free(r->uses[i].path);
    free(r->uses);
    free(r->kernel);
    kj_finder_close(&r->library);
    kjit_module_free(r->mod);
    kjit_array_free(r->manifest);
    if (r->npz)
        kj_npz_close(r->npz);
}

static kjit_status launch(kj_replay *r, unsigned check)
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

/* All but the texts and the elements, which are copies. */
static kjit_status compare(kj_replay *r)
{
    const kj_binding *b = r->bound;
    kjit_status status = read_lines(r);
    int given = 0;
    for (int i = 0; i < b->kernel->decl->nparams; i++)
        given += b->args[i] != NULL;
    if (status == KJIT_OK)
        status = read_arguments(r);
    if (status == KJIT_OK && (given != r->nargs || strcmp(r->kernel, b->kernel->decl->name) != 0))
        status = kj_replay_bad(r, "is the last, and there were other arguments, or another kernel");
    return status;
}

kjit_status kj_capsule_check(const kj_binding *b, const char *path, kjit_array *manifest)
{
    kj_replay *r = calloc(1, sizeof *r);
    kjit_context *ctx = b->kernel->mod->ctx;
    if (!r)
        return kj_no_memory(ctx);
    r->ctx = ctx;
    r->path = path;
    r->bound = b;
    r->mod = b->kernel->mod;
    r->manifest = manifest;
    kjit_status status = compare(r);
    r->mod = NULL;
    r->manifest = NULL;
    end(r);
    free(r);
    return status;
}

kjit_status kjit_replay(kjit_context *ctx, const char *path, unsigned check)
{
    kjit_status status = kj_enter_context(ctx);
    if (status != KJIT_OK)
        return status;
    if (!path)
        return kj_fail(ctx, KJIT_INVALID, "path is NULL");
    kj_replay *r = calloc(1, sizeof *r);
    if (!r)
        return kj_no_memory(ctx);
    r->ctx = ctx;
    r->path = path;
    status = launch(r, check);
    end(r);
    free(r);
    return status;
}
