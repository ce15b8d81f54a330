/* What may stand behind the dot of a run block's value, of which more or less is certain. */
#include <string.h>

#include "sema/file/file.h"

enum { MOST = 512 /* names: of values that are not known, where a file has more fields */ };

/* Names, each once. */
typedef struct list {
    const kj_sema *s;
    const char *text;
    int n;
} list;

static bool has(const list *l, const char *name)
{
    size_t n = strlen(name);
    for (const char *at = l->text; *at; at += strspn(at, ", ")) {
        if (strncmp(at, name, n) == 0 && (at[n] == ',' || at[n] == '(' || !at[n]))
            return true;
        at += strcspn(at, ",");
    }
    return false;
}

static void add(list *l, const char *name, const char *behind)
{
    if (l->n < MOST && !has(l, name) && ++l->n)
        l->text = kj_arena_printf(l->s->diag->arena, "%s%s%s%s", l->text, *l->text ? ", " : "",
                                  name, behind);
}

static void add_rows(list *l, kj_rkind kind)
{
    for (int i = 0; i < KJ_NRUN; i++) {
        const char *name = kj_run_builtins[i].name;
        if (kind == KJ_R_NONE ? *name == '.' : kj_rkind_has(kind, (kj_run_id)i))
            add(l, name + 1, *kj_run_builtins[i].signature ? "(...)" : "");
    }
}

static void add_fields(list *l, const kj_aggregate *of)
{
    for (int i = 0; of && i < of->n; i++)
        add(l, of->fields[i].name, "");
}

/* Those of all types that a file may have. */
static void add_all_fields(list *l)
{
    for (int t = 0; t < KJ_VOID; t++)
        add_fields(l, kj_aggregate_of((kj_dtype)t));
    for (int i = 0; i < l->s->program->nfiles; i++)
        for (const kj_item *item = l->s->program->files[i]->items; item; item = item->next)
            if (item->kind == KJ_I_RECORD)
                for (const kj_param_decl *f = item->params; f; f = f->next)
                    add(l, f->name, "");
}

const char *kj_run_members(const kj_sema *s, kj_known of)
{
    list l = {s, "", 0};
    if (of.kind == KJ_R_NONE && of.of) {
        add_fields(&l, of.of);
        return l.text;
    }
    add_rows(&l, of.kind);
    if (of.kind == KJ_R_COMPLEX)
        add_fields(&l, &kj_complex_literal);
    else if (of.kind == KJ_R_ARRAY && of.type != KJ_VOID)
        add_fields(&l, kj_sema_aggregate(s, of.type));
    else if (of.kind == KJ_R_NONE || of.kind == KJ_R_ARRAY)
        add_all_fields(&l);
    return l.text;
}
