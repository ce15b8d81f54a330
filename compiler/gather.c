/* The files of a program. In: the one that was given, parsed, and who finds others; out: all that it uses,
 * and they in turn, each parsed once, their texts behind one another. */
#include <string.h>

#include "compile.h"
#include "parse/ast.h"

typedef struct gathering {
    kj_arena *arena;
    kj_diag *diag;
    kj_source *source;
    const kj_loader *loader;
    kj_files *files;
    kj_source_part *parts;
    size_t room, limit; /* of the source's text; of the arena, for trees */
    int found;          /* uses so far */
} gathering;

enum { MAX_USES = 4 * KJ_MAX_FILES }; /* each reads a file, be it one that is known */

/* ---- Texts ---- */

/* Room for `size` more bytes; what points into the text as it was goes on doing so. */
static char *make_room(gathering *g, size_t size)
{
    kj_source *s = g->source;
    if (s->size + size + 1 > g->room) {
        g->room = 2 * (s->size + size + 1);
        char *text = kj_arena_alloc(g->arena, g->room);
        memcpy(text, s->text, s->size);
        s->text = text;
    }
    return (char *)s->text; /* it is ours */
}

static uint32_t add_text(gathering *g, const kj_found *found)
{
    kj_source *s = g->source;
    char *text = make_room(g, found->size + 1);
    uint32_t begin = (uint32_t)s->size + 1;
    text[s->size] = '\n';
    memcpy(text + begin, found->text, found->size);
    s->size = begin + found->size;
    text[s->size] = '\0';
    g->parts[s->nparts++] =
        (kj_source_part){kj_arena_printf(g->arena, "%s", found->name), begin, (uint32_t)s->size};
    return begin;
}

/* ---- Files ---- */

static kj_file *known(const gathering *g, const char *id)
{
    for (int i = 0; i < g->files->n; i++)
        if (strcmp(g->files->all[i]->id, id) == 0)
            return g->files->all[i];
    return NULL;
}

static kj_file *parse(gathering *g, uint32_t begin)
{
    size_t used = g->arena->used;
    return kj_parse(g->arena, g->diag, begin, used < g->limit ? g->limit - used : 0);
}

/* Files that others use may be called alike. */
static const char *own_space(const gathering *g, const char *name)
{
    const char *space = name;
    int i = 1;
    while (i < g->files->n && strcmp(g->files->all[i]->space, space) != 0)
        i++;
    return i < g->files->n ? kj_arena_printf(g->arena, "%s#%d", name, g->files->n) : name;
}

/* The file that a use names; NULL after an error. */
static kj_file *find(gathering *g, const kj_item *use)
{
    kj_found found = {0};
    kj_wanted wanted = {use->path, use->library, use->file->id,
                        kj_source_at(g->source, use->file->begin).name};
    if (!g->loader->find(g->loader->user, g->arena, &wanted, &found)) {
        kj_message *m = kj_error(g->diag, use->end, KJ_RULE_USE_NOT_FOUND, "%s", found.error);
        if (found.hint)
            kj_hint(g->diag, m, "%s", found.hint);
        return NULL;
    }
    kj_file *file = known(g, found.id);
    if (file)
        return file;
    if (g->files->n == KJ_MAX_FILES) {
        kj_error(g->diag, use->end, KJ_RULE_TOO_MANY, "a program has at most %d files",
                 KJ_MAX_FILES);
        return NULL;
    }
    if (found.size > KJ_SOURCE_MAX || g->source->size + 1 + found.size > KJ_SOURCE_MAX) {
        kj_error(g->diag, use->end, KJ_RULE_TOO_LARGE, "the program's files are over %d MiB",
                 KJ_SOURCE_MAX >> 20);
        return NULL;
    }
    file = parse(g, add_text(g, &found));
    file->id = kj_arena_printf(g->arena, "%s", found.id);
    file->checked = found.checked;
    file->space = own_space(g, use->name);
    return g->files->all[g->files->n++] = file;
}

static bool has_uses(const kj_file *file)
{
    return file->items && file->items->kind == KJ_I_USE;
}

static void find_uses(gathering *g, kj_file *file)
{
    for (kj_item *item = file->items; item && item->kind == KJ_I_USE; item = item->next) {
        if (g->found == MAX_USES) {
            kj_error(g->diag, item->end, KJ_RULE_TOO_MANY, "a program's files have at most %d uses",
                     MAX_USES);
            return;
        }
        if (kj_diag_has_room(g->diag)) {
            g->found++;
            item->used = find(g, item);
        }
    }
}

/* ---- Circles, and names of types ---- */

/* The way to a file that is being looked through. */
typedef struct way {
    const struct way *up;
    const kj_file *file;
} way;

static const char *file_name(const gathering *g, const kj_file *file)
{
    return kj_source_at(g->source, file->begin).name;
}

static void refuse_circle(gathering *g, const way *at, const kj_item *use)
{
    const char *circle = file_name(g, use->used);
    for (;; at = at->up) {
        circle = kj_arena_printf(g->arena, "%s -> %s", file_name(g, at->file), circle);
        if (at->file == use->used)
            break;
    }
    kj_error(g->diag, use->end, KJ_RULE_USE_CYCLE, "files cannot use each other in a circle: %s",
             circle);
}

/* Every file behind those that it uses, whose names of types are known by then. done: by the order of the
 * files. */
static void visit(gathering *g, kj_file *file, const way *up, bool *done)
{
    way here = {up, file};
    for (const kj_item *item = file->items; item && item->kind == KJ_I_USE; item = item->next) {
        const way *at = &here;
        while (at && at->file != item->used)
            at = at->up;
        if (at)
            refuse_circle(g, &here, item);
        int i = 0;
        while (i < g->files->n && g->files->all[i] != item->used)
            i++;
        if (at || i == g->files->n || done[i])
            continue;
        done[i] = true;
        visit(g, item->used, &here, done);
    }
    kj_expand_aliases_of_files(g->arena, g->diag, file);
}

kj_files *kj_gather_files(kj_arena *arena, kj_diag *diag, kj_source *source,
                          const kj_loader *loader)
{
    kj_files *files = KJ_NEW(arena, kj_files);
    gathering g = {.arena = arena,
                   .diag = diag,
                   .source = source,
                   .loader = loader,
                   .files = files,
                   .room = source->size + 1,
                   .limit = arena->used + KJ_TREE_MAX};
    kj_file *first = parse(&g, 0);
    first->id = kj_arena_printf(arena, "%s", loader->id);
    files->first = first;
    files->all = &files->first;
    files->n = 1;
    if (diag->errors || !has_uses(first))
        return files;
    files->all = KJ_NEW_ARRAY(arena, kj_file *, KJ_MAX_FILES);
    g.parts = KJ_NEW_ARRAY(arena, kj_source_part, KJ_MAX_FILES);
    files->all[0] = first;
    g.parts[0] = (kj_source_part){source->name, 0, (uint32_t)source->size};
    source->parts = g.parts;
    source->nparts = 1;
    for (int i = 0; i < files->n; i++)
        find_uses(&g, files->all[i]);
    visit(&g, first, NULL, KJ_NEW_ARRAY(arena, bool, KJ_MAX_FILES));
    return files;
}
