/* What a module's file declares, for programs that call kernels they do not know: kernels, their parameters, records. */
#include <string.h>

#include "module/module.h"
#include "sema/program.h"

/* Where the string that begins there ends, at `end` at the latest. */
static uint32_t behind_string(const char *text, uint32_t at, uint32_t end)
{
    for (at++; at < end && text[at] != '"'; at++)
        at += text[at] == '\\';
    return at < end ? at + 1 : end;
}

/* Comments, line ends and blanks around them are a blank each, and none where brackets begin and end. */
const char *kj_on_one_line(kjit_module *mod, kj_span span)
{
    char *out = kj_arena_alloc(&mod->arena, span.end - span.begin + 1), *to = out;
    const char *text = mod->source.text;
    for (uint32_t at = span.begin, end; at < span.end; at = end) {
        bool begins = to == out || strchr(" ([", to[-1]);
        end = text[at] == '"'   ? behind_string(text, at, span.end)
              : text[at] == '#' ? at + (uint32_t)strcspn(text + at, "\r\n")
                                : at + 1;
        if (strchr(" \t\r\n#", text[at])) {
            if (!begins)
                *to++ = ' ';
            continue;
        }
        if (strchr(")]", text[at]) && to > out && to[-1] == ' ')
            to--;
        memcpy(to, text + at, end - at);
        to += end - at;
    }
    while (to > out && to[-1] == ' ')
        to--;
    *to = '\0';
    return out;
}

/* From the word `kernel` to the parenthesis that closes the parameters. */
static kj_span head_of(const kjit_module *mod, const kj_item *kernel)
{
    const char *text = mod->source.text;
    kj_span span = kernel->name_span;
    do
        span.begin--;
    while (span.begin > kernel->span.begin &&
           strncmp(text + span.begin, "kernel", strlen("kernel")) != 0);
    int depth = 0;
    do {
        char c = text[span.end];
        depth += (c == '(') - (c == ')');
        span.end += c == '#' ? (uint32_t)strcspn(text + span.end, "\r\n") : 1;
    } while (text[span.end] && (depth > 0 || text[span.end - 1] != ')'));
    return span;
}

/* From the first @ to the kernel's head; NULL: none. */
static const char *attributes_of(kjit_module *mod, const kj_item *kernel)
{
    kj_span span = {0, head_of(mod, kernel).begin};
    if (!kernel->attrs)
        return NULL;
    span.begin = kernel->attrs->span.begin;
    while (mod->source.text[span.begin] != '@')
        span.begin--;
    return kj_on_one_line(mod, span);
}

static const char *requirements_of(kjit_module *mod, const kj_item *kernel)
{
    const char *all = NULL, *text = mod->source.text;
    for (const kj_stmt *s = kernel->body; s; s = s->next) {
        if (s->kind != KJ_S_REQUIRES)
            continue;
        kj_span condition = {s->span.begin + (uint32_t)strlen("requires"), s->span.end};
        condition.begin += (uint32_t)strspn(text + condition.begin, " \t");
        all = kj_arena_printf(&mod->arena, "%s%s%s", all ? all : "", all ? "\n" : "",
                              kj_on_one_line(mod, condition));
    }
    return all;
}

static uint32_t begin_of_line(const char *text, uint32_t at)
{
    while (at > 0 && text[at - 1] != '\n')
        at--;
    return at;
}

/* Lines of comments right before the item; NULL: none. */
static const char *comment_before(kjit_module *mod, const kj_item *item)
{
    const char *text = mod->source.text;
    uint32_t first = item->attrs ? item->attrs->span.begin : item->span.begin,
             end = begin_of_line(text, first), begin = end;
    if (end + strspn(text + end, " \t@") < first)
        return NULL; /* another item is on the line */
    while (begin > item->file->begin) {
        uint32_t line = begin_of_line(text, begin - 1);
        if (text[line + strspn(text + line, " \t")] != '#')
            break;
        begin = line;
    }
    if (begin == end)
        return NULL;
    char *out = kj_arena_alloc(&mod->arena, end - begin + 1), *to = out;
    while (begin < end) {
        begin += (uint32_t)strspn(text + begin, " \t");
        begin += (uint32_t)strspn(text + begin, "#");
        begin += text[begin] == ' ';
        size_t len = strcspn(text + begin, "\n"),
               kept = kj_trimmed(text + begin, strcspn(text + begin, "\r\n"));
        memcpy(to, text + begin, kept);
        to += kept;
        *to++ = '\n';
        begin += (uint32_t)len + 1;
    }
    to[-1] = '\0';
    return out;
}

static kjit_kernel_param parameter(kjit_module *mod, const kj_kernel_decl *kernel, int i,
                                   const kj_param_decl *written)
{
    const kj_kernel_param *p = &kernel->params[i];
    const kj_generic *generic = p->generic >= 0 ? kernel->generics : NULL;
    for (int k = 0; k < p->generic; k++)
        generic = generic->next;
    kj_span type = written->type->span,
            value = written->init ? kj_written_value(mod, type.end, written->init->span) : type;
    return (kjit_kernel_param){
        .size = sizeof(kjit_kernel_param),
        .name = p->name,
        .type = kj_on_one_line(mod, written->type->span),
        .value = written->init ? kj_on_one_line(mod, value) : NULL,
        .doc = kj_remark_behind(mod, value.end),
        .has_dtype = !generic,
        .dtype = generic ? KJIT_BOOL : (kjit_dtype)p->type,
        .generic = generic ? generic->name : NULL,
        .bound = generic ? generic->bound : NULL,
        .ndim = p->ndim,
        .is_const = p->is_const,
        .may_be_written = p->may_be_written,
    };
}

static void describe(kjit_module *mod, kj_kernel *k)
{
    const kj_kernel_decl *kernel = k->decl;
    kjit_kernel_param *params =
        KJ_NEW_ARRAY(&mod->arena, kjit_kernel_param, (size_t)kernel->nparams + 1);
    const kj_param_decl *written = kernel->item->params;
    for (int i = 0; i < kernel->nparams; i++, written = written->next)
        params[i] = parameter(mod, kernel, i, written);
    kj_position at = kj_where(&mod->source, kernel->item->name_span.begin);
    kjit_kernel_decl *told = KJ_NEW(&mod->arena, kjit_kernel_decl);
    *told = (kjit_kernel_decl){
        .size = sizeof *told,
        .name = kernel->name,
        .head = kj_on_one_line(mod, head_of(mod, kernel->item)),
        .doc = comment_before(mod, kernel->item),
        .file = at.file,
        .line = (int)at.line,
        .column = (int)at.column,
        .nparams = kernel->nparams,
        .max_threads = kernel->launch_bounds[0],
        .min_blocks = kernel->launch_bounds[1],
        .attributes = attributes_of(mod, kernel->item),
        .requirements = requirements_of(mod, kernel->item),
    };
    k->told = told;
    k->told_params = params;
}

void kj_describe_kernels(kjit_module *mod)
{
    for (int i = 0; i < mod->nall; i++)
        describe(mod, &mod->kernels[i]);
}

/* KJIT_OK: *k is the kernel, and out, a struct that begins with its size, can be given. */
static kjit_status find(kjit_module *mod, const char *name, const size_t *out, kj_kernel **k)
{
    kjit_status status = kj_enter_compiled(mod);
    if (status != KJIT_OK)
        return status;
    if (!name)
        return kj_fail(mod->ctx, KJIT_INVALID, "kernel is NULL");
    if (!out)
        return kj_no_out(mod->ctx);
    status = kj_check_size(mod->ctx, "out", *out);
    if (status != KJIT_OK)
        return status;
    *k = kj_module_find(mod, name);
    return *k ? KJIT_OK : kj_no_kernel(mod, name);
}

kjit_status kjit_module_kernel_decl(kjit_module *mod, const char *kernel, kjit_kernel_decl *out)
{
    kj_kernel *k;
    kjit_status status = find(mod, kernel, out ? &out->size : NULL, &k);
    if (status == KJIT_OK)
        kj_give_struct(out, out->size, k->told, sizeof *k->told);
    return status;
}

kjit_status kjit_module_kernel_param(kjit_module *mod, const char *kernel, int i,
                                     kjit_kernel_param *out)
{
    kj_kernel *k;
    kjit_status status = find(mod, kernel, out ? &out->size : NULL, &k);
    if (status != KJIT_OK)
        return status;
    if (i < 0 || i >= k->decl->nparams)
        return kj_fail(mod->ctx, KJIT_NOT_FOUND, "%s has %d parameters: there is no number %d",
                       kernel, k->decl->nparams, i);
    kj_give_struct(out, out->size, &k->told_params[i], sizeof k->told_params[i]);
    return KJIT_OK;
}

const char *kjit_module_record_name(kjit_module *mod, int i)
{
    if (!kj_can_ask(mod, KJ_MODULE) || !mod->program || i < 0)
        return NULL;
    for (const kj_item *item = mod->program->file->items; item; item = item->next)
        if (item->kind == KJ_I_RECORD && i-- == 0)
            return item->name;
    return NULL;
}
