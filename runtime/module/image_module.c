/* What a module is, as bytes: options, source, declarations. Of the syntax tree there are the names that are asked
 * for: files that are used, and records. */
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

#include "module/image.h"

uint64_t kj_image_sum(const char *image, size_t size)
{
    return XXH3_64bits(image + KJ_IMAGE_HEAD, size - KJ_IMAGE_HEAD);
}

/* ---- Options, source ---- */

static void pack_options(kj_pack *p, kj_compile_options *o)
{
    KJ_PACK(p, o->opt_level);
    KJ_PACK(p, o->no_contract);
    KJ_PACK(p, o->ftz);
    KJ_PACK(p, o->checks);
    KJ_PACK(p, o->polls);
    KJ_PACK(p, o->untrusted);
}

static void pack_source(kj_pack *p, kj_source *s)
{
    kj_pack_text(p, &s->name);
    KJ_PACK(p, s->size);
    bool fits = !kj_pack_reads(p) || s->size <= (size_t)(p->end - p->at);
    p->failed |= !fits;
    char *text = kj_pack_room(p, s->text, fits ? (int)s->size : 0, 1);
    if (fits)
        kj_pack_bytes(p, text, s->size);
    s->text = text;
    KJ_PACK(p, s->nparts);
    kj_source_part *parts = kj_pack_room(p, s->parts, s->nparts, sizeof *parts);
    s->parts = parts;
    for (int i = 0; i < s->nparts && !p->failed; i++) {
        kj_source_part part = parts[i];
        kj_pack_text(p, &part.name);
        KJ_PACK(p, part.begin);
        KJ_PACK(p, part.end);
        if (kj_pack_reads(p))
            parts[i] = part;
    }
    KJ_PACK(p, s->statements);
    KJ_PACK(p, s->written);
}

/* ---- Names of the file's ---- */

static bool is_asked_for(const kj_item *item)
{
    return item->kind == KJ_I_RECORD || (item->kind == KJ_I_USE && item->used);
}

static void pack_item(kj_pack *p, kj_item *item)
{
    const char *space = item->used ? item->used->space : NULL;
    KJ_PACK(p, item->kind);
    kj_pack_text(p, &item->name);
    kj_pack_text(p, &space);
    if (!kj_pack_reads(p) || item->kind != KJ_I_USE)
        return;
    item->used = KJ_NEW(p->arena, kj_file);
    item->used->space = space;
}

/* Those that are used come first, as in the file. */
static const kj_file *pack_items(kj_pack *p, const kj_file *from)
{
    int n = 0;
    for (const kj_item *item = from ? from->items : NULL; item; item = item->next)
        n += is_asked_for(item);
    KJ_PACK(p, n);
    for (const kj_item *item = from ? from->items : NULL; item; item = item->next) {
        kj_item copy = *item;
        if (is_asked_for(item))
            pack_item(p, &copy);
    }
    if (from)
        return from;
    kj_file *file = KJ_NEW(p->arena, kj_file);
    kj_item **last = &file->items;
    for (int i = 0; i < n && !p->failed; i++, last = &(*last)->next) {
        *last = KJ_NEW(p->arena, kj_item);
        pack_item(p, *last);
    }
    return file;
}

/* ---- Declarations ---- */

static void pack_records(kj_pack *p, kj_program *program)
{
    KJ_PACK(p, program->ndeclared);
    program->declared =
        kj_pack_room(p, program->declared, program->ndeclared, sizeof *program->declared);
    for (int i = 0; i < program->ndeclared && !p->failed; i++) {
        const kj_aggregate *of = kj_pack_reads(p) ? NULL : program->declared[i].of;
        of = kj_pack_aggregate(p, of);
        if (kj_pack_reads(p))
            program->declared[i] = (kj_record_decl){.of = of};
        p->failed |= !of;
    }
}

static void pack_filled_array(kj_pack *p, kj_const_array_info *c)
{
    KJ_PACK(p, c->index);
    kj_pack_text(p, &c->name);
    kj_pack_text(p, &c->symbol);
    KJ_PACK(p, c->span);
    kj_pack_type(p, &c->elem);
    c->of = kj_pack_aggregate(p, c->of);
    KJ_PACK(p, c->elem_size);
    KJ_PACK(p, c->ndim);
    KJ_PACK(p, c->shape);
}

static void pack_filled(kj_pack *p, kj_program *program)
{
    KJ_PACK(p, program->nfilled);
    p->failed |= program->nfilled < 0 || program->nfilled > KJ_MAX_FILLED;
    program->filled = kj_pack_room(p, program->filled, program->nfilled, sizeof *program->filled);
    for (int i = 0; i < program->nfilled && !p->failed; i++) {
        kj_const_array_info c = program->filled[i];
        pack_filled_array(p, &c);
        if (kj_pack_reads(p))
            program->filled[i] = c;
    }
}

static kj_generic *pack_generics(kj_pack *p, kj_generic *g, int n)
{
    if (n == 0 || p->failed)
        return NULL;
    if (kj_pack_reads(p))
        g = KJ_NEW(p->arena, kj_generic);
    kj_pack_text(p, &g->name);
    kj_pack_text(p, &g->bound);
    kj_generic *next = pack_generics(p, g->next, n - 1);
    if (kj_pack_reads(p))
        g->next = next;
    return g;
}

static void pack_param(kj_pack *p, kj_kernel_param *param)
{
    kj_pack_text(p, &param->name);
    KJ_PACK(p, param->span);
    KJ_PACK(p, param->is_const);
    KJ_PACK(p, param->has_default);
    KJ_PACK(p, param->init);
    kj_pack_type(p, &param->type);
    KJ_PACK(p, param->generic);
    KJ_PACK(p, param->ndim);
    KJ_PACK(p, param->may_be_written);
}

static void pack_kernel(kj_pack *p, kj_kernel_decl *k)
{
    kj_span at = k->item ? k->item->name_span : (kj_span){0, 0};
    kj_pack_text(p, &k->name);
    KJ_PACK(p, at);
    KJ_PACK(p, k->nconsts);
    KJ_PACK(p, k->ngenerics);
    KJ_PACK(p, k->launch_bounds);
    KJ_PACK(p, k->asks_grid);
    KJ_PACK(p, k->nparams);
    p->failed |= k->nparams < 0 || k->nparams > KJ_MAX_PARAMS;
    k->params = kj_pack_room(p, k->params, k->nparams, sizeof *k->params);
    for (int i = 0; i < k->nparams && !p->failed; i++) {
        kj_kernel_param param = k->params[i];
        pack_param(p, &param);
        if (kj_pack_reads(p))
            k->params[i] = param;
    }
    kj_generic *generics = pack_generics(p, k->generics, k->ngenerics);
    if (!kj_pack_reads(p))
        return;
    kj_item *item = KJ_NEW(p->arena, kj_item);
    item->kind = KJ_I_KERNEL;
    item->name = k->name;
    item->name_span = at;
    k->item = item;
    k->generics = generics;
}

static void pack_kernels(kj_pack *p, kj_program *program)
{
    KJ_PACK(p, program->nkernels);
    KJ_PACK(p, program->nall);
    p->failed |= program->nkernels < 0 || program->nkernels > program->nall;
    program->kernels = kj_pack_room(p, program->kernels, program->nall, sizeof *program->kernels);
    for (int i = 0; i < program->nall && !p->failed; i++) {
        kj_kernel_decl kernel = program->kernels[i];
        pack_kernel(p, &kernel);
        if (kj_pack_reads(p))
            program->kernels[i] = kernel;
    }
}

/* ---- What is told of them ---- */

static void pack_told_param(kj_pack *p, kjit_kernel_param *t)
{
    kj_dtype type = (kj_dtype)t->dtype;
    t->size = sizeof *t;
    kj_pack_text(p, &t->name);
    kj_pack_text(p, &t->type);
    kj_pack_text(p, &t->value);
    kj_pack_text(p, &t->doc);
    KJ_PACK(p, t->has_dtype);
    kj_pack_type(p, &type);
    t->dtype = (kjit_dtype)type;
    kj_pack_text(p, &t->generic);
    kj_pack_text(p, &t->bound);
    KJ_PACK(p, t->ndim);
    KJ_PACK(p, t->is_const);
    KJ_PACK(p, t->may_be_written);
}

static void pack_told(kj_pack *p, kj_kernel *k)
{
    kjit_kernel_decl *t = KJ_NEW(p->arena, kjit_kernel_decl);
    if (!kj_pack_reads(p))
        *t = *k->told;
    t->size = sizeof *t;
    kj_pack_text(p, &t->name);
    kj_pack_text(p, &t->head);
    kj_pack_text(p, &t->doc);
    kj_pack_text(p, &t->file);
    KJ_PACK(p, t->line);
    KJ_PACK(p, t->column);
    KJ_PACK(p, t->max_threads);
    KJ_PACK(p, t->min_blocks);
    kj_pack_text(p, &t->attributes);
    kj_pack_text(p, &t->requirements);
    t->nparams = k->decl->nparams;
    kjit_kernel_param *params = KJ_NEW_ARRAY(p->arena, kjit_kernel_param, (size_t)t->nparams + 1);
    for (int i = 0; i < t->nparams && !p->failed; i++) {
        if (!kj_pack_reads(p))
            params[i] = k->told_params[i];
        pack_told_param(p, &params[i]);
    }
    if (!kj_pack_reads(p))
        return;
    k->told = t;
    k->told_params = params;
}

static void pack_consts(kj_pack *p, kjit_module *mod)
{
    int n = mod->nconsts;
    KJ_PACK(p, n);
    kjit_const_info *consts = kj_pack_room(p, mod->consts, n, sizeof *consts);
    for (int i = 0; i < n && !p->failed; i++) {
        kjit_const_info c = consts[i];
        kj_pack_text(p, &c.name);
        kj_pack_text(p, &c.type);
        kj_pack_text(p, &c.value);
        kj_pack_text(p, &c.doc);
        if (kj_pack_reads(p))
            consts[i] = c;
    }
    if (!kj_pack_reads(p))
        return;
    mod->consts = consts;
    mod->nconsts = p->failed ? 0 : n;
}

/* ---- All of that ---- */

void kj_image_pack_module(kj_pack *p, kjit_module *mod)
{
    kj_program *program = KJ_NEW(p->arena, kj_program);
    kj_compile_options options = mod->options;
    kj_source source = mod->source;
    if (!kj_pack_reads(p))
        *program = *mod->program;
    pack_options(p, &options);
    pack_source(p, &source);
    if (kj_pack_reads(p)) {
        mod->options = options;
        mod->source = source;
    }
    program->file = pack_items(p, kj_pack_reads(p) ? NULL : program->file);
    program->records = p->records;
    pack_records(p, program);
    pack_filled(p, program);
    pack_kernels(p, program);
    if (kj_pack_reads(p) && !p->failed) {
        mod->program = program;
        kj_list_kernels(mod);
    }
    for (int i = 0; i < program->nall && !p->failed; i++)
        pack_told(p, &mod->kernels[i]);
    pack_consts(p, mod);
}

/* Types of a launch are written for themselves, since a record's number is another in each context. */
void kj_image_pack_made(kj_pack *p, const kjit_module *mod, kj_made *m)
{
    KJ_PACK(p, m->kernel);
    KJ_PACK(p, m->what);
    KJ_PACK(p, m->unheld);
    p->failed |= m->kernel < 0 || m->kernel >= mod->nall;
    if (p->failed)
        return;
    const kj_kernel *k = &mod->kernels[m->kernel];
    p->failed |= k->key_words > KJ_MAX_KEY;
    m->key = kj_pack_room(p, m->key, k->key_words, sizeof *m->key);
    for (int i = 0; i < k->key_words && !p->failed; i++)
        KJ_PACK(p, m->key[i]);
    if (p->failed)
        return;
    m->spec = kj_key_spec(p->arena, k, m->key);
    kj_dtype *generics = (kj_dtype *)m->spec.generics;
    for (int i = 0; i < k->decl->ngenerics && !p->failed; i++)
        kj_pack_type(p, &generics[i]);
    if (!p->failed)
        kj_spec_key(k, &m->spec, m->key);
    KJ_PACK(p, m->size);
}
