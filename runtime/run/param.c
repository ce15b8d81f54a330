/* What the caller gives a run block and takes from it: params by name=value, and arrays saved at
 * the end by name=file. In: the options' texts; out: values for params, files. */
#include "io/file.h"
#include "run/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* "name=value" of the options: is it this name's? Returns the value. */
static const char *value_for(const char *option, const char *name)
{
    size_t n = strlen(name);
    return strncmp(option, name, n) == 0 && option[n] == '=' ? option + n + 1 : NULL;
}

/* ---- Before the run: do the options name what there is? ---- */

/* Names declared at the block's top: params only, or all. At most `max` are given; the count is of
 * all. */
static size_t declared_names(const kj_run *r, bool params_only, const char **out, size_t max)
{
    size_t n = 0;
    for (const kj_stmt *s = r->block->body; s; s = s->next) {
        if (s->kind != KJ_S_PARAM && (params_only || s->kind != KJ_S_LET))
            continue;
        for (const kj_name *name = s->u.let.names; name; name = name->next) {
            if (n < max)
                out[n] = name->name;
            n++;
        }
    }
    return n;
}

enum { MOST_NAMES = 64 }; /* for suggestions */

static bool unknown_name(kj_run *r, const char *option, size_t len, bool params_only)
{
    const char *names[MOST_NAMES];
    size_t n = declared_names(r, params_only, names, MOST_NAMES),
           shown = n < MOST_NAMES ? n : MOST_NAMES;
    kj_text given = {0}, list = {0};
    kj_text_add(&given, option, len);
    for (size_t i = 0; i < shown; i++)
        kj_text_printf(&list, "%s%s", i > 0 ? ", " : "", names[i]);
    if (given.failed || list.failed) {
        kj_run_no_memory(r, kj_run_nowhere);
    } else {
        if (n == 0)
            kj_run_fail(r, KJIT_INVALID, kj_run_nowhere, "'%s': the run block has no %s",
                        given.data, params_only ? "params" : "variables to save");
        else
            kj_run_fail(r, KJIT_INVALID, kj_run_nowhere, "there is no %s '%s'; there %s %s%s",
                        params_only ? "param" : "variable", given.data, n == 1 ? "is" : "are",
                        list.data, n > shown ? ", ..." : "");
        const char *near = kj_nearest(given.data, names, shown);
        if (near)
            kj_run_hint(r, "did you mean '%s'?", near);
    }
    kj_text_free(&given);
    kj_text_free(&list);
    return false;
}

/* Where an array goes: "file", of pictures "file,low=0,high=100", of sound "file,sample_rate=48000", of
 * animations "file,fps=10". */
typedef struct target {
    char *path; /* to be freed */
    kjit_save_options how;
    bool shades, rate, fps; /* is one of low and high given; is a rate, are pictures a second */
} target;

/* Takes ",name=number" from the end of a text. */
static bool take_number(char *text, const char *name, double *out)
{
    char *comma = strrchr(text, ','), *end;
    size_t n = strlen(name);
    if (!comma || strncmp(comma + 1, name, n) != 0 || comma[n + 1] != '=')
        return false;
    double v = kj_strtod(comma + n + 2, &end);
    if (end == comma + n + 2 || *end)
        return false;
    *out = v;
    *comma = '\0';
    return true;
}

static bool take_target(kj_run *r, const char *text, target *out)
{
    *out = (target){.path = strdup(text), .how.high = 1};
    if (!out->path)
        return kj_run_no_memory(r, kj_run_nowhere);
    double rate = 0;
    for (bool more = true; more;) {
        bool shade = take_number(out->path, "low", &out->how.low) ||
                     take_number(out->path, "high", &out->how.high);
        bool rated = !shade && take_number(out->path, "sample_rate", &rate);
        bool moves = !shade && !rated && take_number(out->path, "fps", &out->how.fps);
        out->shades |= shade;
        out->rate |= rated;
        out->fps |= moves;
        more = shade || rated || moves;
    }
    bool counts = rate >= 1 && rate <= UINT32_MAX && rate == floor(rate);
    out->how.sample_rate = !out->rate ? 0 : counts ? (int64_t)rate : -1;
    return true;
}

/* Does an earlier save write the same file? The later would be all that is left. */
static bool is_apart(kj_run *r, const char *path, int nth)
{
    const char *const *saves = r->options->saves;
    bool apart = true;
    for (int i = 0; i < nth && apart; i++) {
        target other;
        if (!take_target(r, strchr(saves[i], '=') + 1, &other))
            return false;
        apart = strcmp(other.path, path) != 0;
        free(other.path);
        if (!apart)
            kj_run_fail(r, KJIT_INVALID, kj_run_nowhere, "'%s' and '%s' are saved in one file",
                        saves[i], saves[nth]);
    }
    return apart;
}

/* What stands behind the file's name fits its kind. */
static bool check_how(kj_run *r, const char *text, const target *t)
{
    const char *rest = strrchr(t->path, ','), *path = t->path;
    bool known = kj_file_kind(r->ctx, path) == KJIT_OK;
    if (t->shades && known && !kj_file_is_shaded(path))
        return kj_run_fail(r, KJIT_INVALID, kj_run_nowhere,
                           "'%s': low and high are of pictures of shades, and '%s' is none", text,
                           path);
    if (t->rate && known && !kj_file_is_sound(path))
        return kj_run_fail(r, KJIT_INVALID, kj_run_nowhere,
                           "'%s': sample_rate is of sound (.wav), and '%s' is none", text, path);
    if (t->how.sample_rate < 0)
        return kj_run_fail(r, KJIT_INVALID, kj_run_nowhere,
                           "'%s': a sample_rate is a whole number, of at least 1", text);
    if (t->fps && known && (!kj_file_moves(path) || !(t->how.fps > 0)))
        return kj_run_fail(r, KJIT_INVALID, kj_run_nowhere,
                           kj_file_moves(path)
                               ? "'%s': there are more than 0 pictures a second in '%s'"
                               : "'%s': fps is of animations (.apng), and '%s' is none",
                           text, path);
    return known || !rest || !strchr(rest, '=') ||
           kj_run_fail(r, KJIT_INVALID, kj_run_nowhere,
                       "'%s': behind the file's name stand low=NUMBER and high=NUMBER, "
                       "sample_rate=NUMBER or fps=NUMBER, not '%s'",
                       text, rest + 1);
}

/* What can be known before the run, which may take hours. */
static bool check_target(kj_run *r, const char *text, int nth)
{
    target t;
    if (!take_target(r, text, &t))
        return false;
    bool ok = check_how(r, text, &t) &&
              kj_run_check(r, kj_file_kind(r->ctx, t.path), kj_run_nowhere) &&
              kj_run_check(r, kj_file_target(r->ctx, t.path), kj_run_nowhere) &&
              is_apart(r, t.path, nth) &&
              kj_run_check(r, kj_shades_apart(r->ctx, t.how.low, t.how.high), kj_run_nowhere);
    free(t.path);
    return ok;
}

static bool no_array(kj_run *r, const char *name, kj_rkind kind)
{
    return kj_run_fail(r, KJIT_INVALID, kj_run_nowhere, "'%s' is %s: only arrays are saved", name,
                       kj_rkind_name(kind));
}

/* As far as that is certain before the run. */
static bool may_be_array(kj_run *r, const char *option)
{
    for (const kj_run_name *n = r->program->run_names; n; n = n->next)
        if (value_for(option, n->name) && n->kind != KJ_R_NONE && n->kind != KJ_R_ARRAY &&
            n->kind != KJ_R_LAZY)
            return no_array(r, n->name, n->kind);
    return true;
}

/* Each option is name=something with a name the block has; a file is of a kind arrays go to. */
static bool check_names(kj_run *r, const char *const *options, int n, bool params_only)
{
    const char *what =
        params_only ? "a param is given as name=value" : "an array is saved by name=file";
    for (int i = 0; i < n; i++) {
        const char *equals = strchr(options[i], '=');
        if (!equals || equals == options[i] || (!params_only && !equals[1])) {
            kj_run_fail(r, KJIT_INVALID, kj_run_nowhere, "'%s': %s", options[i], what);
            return !equals && params_only && i + 1 < n && options[i + 1][0] == '=' &&
                   kj_run_hint(r, "without blanks around the '='");
        }
        bool found = false;
        for (const kj_stmt *s = r->block->body; s && !found; s = s->next) {
            if (s->kind != KJ_S_PARAM && (params_only || s->kind != KJ_S_LET))
                continue;
            for (const kj_name *name = s->u.let.names; name; name = name->next)
                found |= value_for(options[i], name->name) != NULL;
        }
        if (!found)
            return unknown_name(r, options[i], (size_t)(equals - options[i]), params_only);
        if (!params_only && !(may_be_array(r, options[i]) && check_target(r, equals + 1, i)))
            return false;
    }
    return true;
}

static const char *given(const kj_run *r, const char *name)
{
    const char *text = NULL;
    for (int i = 0; i < r->options->nparams; i++) {
        const char *value = value_for(r->options->params[i], name);
        text = value ? value : text; /* the last one counts */
    }
    return text;
}

/* Has each param without a default a value? */
static bool check_required(kj_run *r)
{
    for (const kj_stmt *s = r->block->body; s; s = s->next) {
        if (s->kind != KJ_S_PARAM || s->u.let.init || given(r, s->u.let.names->name))
            continue;
        const char *name = s->u.let.names->name;
        kj_run_fail(r, KJIT_INVALID, s->span, "param '%s' has no default and was given no value",
                    name);
        int ndim = s->u.let.type->ndim;
        return kj_run_hint(r,
                           ndim == 1
                               ? "an array comes from a file or is listed: %s=@data.npy, %s=1,2"
                           : ndim > 0 ? "an array comes from a file: %s=@data.npy"
                                      : "give it behind the file's name: %s=...",
                           name, name);
    }
    return true;
}

bool kj_run_check_options(kj_run *r)
{
    return check_names(r, r->options->params, r->options->nparams, true) && check_required(r) &&
           check_names(r, r->options->saves, r->options->nsaves, false);
}

/* ---- Params ---- */

/* A call that makes an array: its kind is known without running it. */
static bool makes_array(kj_run *r, const kj_expr *e)
{
    if (e->kind != KJ_E_CALL)
        return false;
    const kj_expr *callee = e->u.call.callee;
    if (callee->kind == KJ_E_MEMBER)
        return callee->u.member.base->kind == KJ_E_NAME &&
               strcmp(callee->u.member.base->u.name, "random") == 0;
    if (callee->kind != KJ_E_NAME || kj_run_binding_of(r, callee->u.name))
        return false;
    int id = kj_run_named(r, callee->u.name)->callable;
    return (id >= KJ_RUN_ZEROS && id <= KJ_RUN_LOAD) ||
           (id >= KJ_RUN_TO_DEVICE && id <= KJ_RUN_COPY);
}

/* An array, but no one in particular. */
static bool is_any_array(kj_rvalue v)
{
    return v.kind == KJ_R_ARRAY && !v.u.object;
}

/* What a param without a type is like: its default, or any array. */
static bool default_of(kj_run *r, const kj_stmt *s, kj_rvalue *out)
{
    *out = (kj_rvalue){.kind = KJ_R_ARRAY};
    if (!s->u.let.init ||
        makes_array(r, s->u.let.init)) /* no scalar: those have types that are known */
        return true;
    return kj_run_eval(r, s->u.let.init, out);
}

static bool kind_of_type(const kj_run *r, const kj_type_ref *type, kj_rkind *out)
{
    kj_dtype t = type->name ? (kj_dtype)kj_run_type(r, type->name) : KJ_VOID;
    if (t == KJ_VOID)
        return false;
    *out = type->ndim > 0 ? KJ_R_ARRAY : kj_rkind_of(t);
    return *out != KJ_R_NONE;
}

/* What its elements become. A file of records is read as the type that the param is declared with, and numbers that have
 * none of their own. */
static bool find_dtype(kj_run *r, const kj_type_ref *type, kj_rsource *f)
{
    const char *name = f->dtype ? f->dtype : type ? type->name : NULL;
    const kj_aggregate *of = name ? kj_record_named(r->program, r->file, name) : NULL;
    kj_dtype scalar = name && !of ? (kj_dtype)kj_run_type(r, name) : KJ_VOID;
    if (f->dtype && !of && scalar == KJ_VOID)
        return kj_run_fail(r, KJIT_INVALID, kj_run_nowhere, "there is no type '%s'", f->dtype);
    f->how.as_dtype =
        f->dtype || of || (scalar != KJ_VOID && kj_file_is_untyped(f->path, f->how.format));
    f->how.dtype = (kjit_dtype)(of ? of->type : scalar);
    return true;
}

static bool load_file(kj_run *r, const kj_type_ref *type, kj_rsource *f, kj_rvalue *out)
{
    kjit_array *a = NULL;
    if (!find_dtype(r, type, f))
        return false;
    kjit_status status = kjit_array_load_with(r->ctx, f->path, &f->how, &a);
    if (kj_run_check(r, status, kj_run_nowhere))
        return kj_run_array(r, kj_run_nowhere, a, out);
    return status == KJIT_IO && kj_run_hint_file(r, f->path);
}

/* Of another type than the param's: how to get one that fits. */
static bool hint_fitting(kj_run *r, const kj_stmt *s, const kj_rsource *f, bool converts)
{
    const char *name = s->u.let.names->name, *member = f->how.name, *type = s->u.let.type->name;
    bool raw = kj_file_is_raw(f->path, f->how.format);
    if (raw && !converts && !f->how.shape && s->u.let.type->ndim > 1)
        return kj_run_hint(r, "the extents stand behind the file's name, as in shape=480x640");
    if (converts && !raw && !f->how.as_dtype && !f->how.format)
        return kj_run_hint(r, "%s=@%s%s%s,dtype=%s makes it %s", name, f->path, member ? ":" : "",
                           member ? member : "", type, type);
    return !converts && !member && s->u.let.type->ndim == 1 &&
           kj_file_has_names(f->path, f->how.format) &&
           kj_run_hint(r, "%s=@%s:NAME takes the column of that name", name, f->path);
}

/* Nothing is converted that nobody asked to be: the program may have its reasons. */
static bool check_file(kj_run *r, const kj_stmt *s, const kj_rsource *f, kj_rvalue v)
{
    kj_mismatch m;
    const char *member = f->how.name;
    if (!s->u.let.type || kj_run_is_of(r, s->u.let.type, v, &m))
        return true;
    if (!m.wanted.failed && !m.got.failed) {
        kj_run_fail(r, KJIT_INVALID, kj_run_nowhere, "param '%s' takes %s; '%s%s%s' has %s",
                    s->u.let.names->name, m.wanted.data, f->path, member ? ":" : "",
                    member ? member : "", m.got.data);
        hint_fitting(r, s, f, m.converts);
        if (m.axes != 0)
            kj_run_hint(r, "let the param be of the file's axes: a.%s makes the others of it",
                        m.axes > 0 ? "ravel()" : "reshape(h, w)");
    }
    return kj_run_end_mismatch(r, kj_run_nowhere, &m);
}

/* What the file's array is to be taken by. */
static void hint_unread(kj_run *r, const char *name, const kj_rsource *f)
{
    if (r->status == KJIT_TYPE && !f->how.as_dtype && kj_file_is_raw(f->path, f->how.format) &&
        (f->how.format || !kj_table_format(f->path)))
        kj_run_hint(r, "%s=@%s%s%s,dtype=f32 takes them as f32", name, f->path,
                    f->how.format ? ",format=" : "", f->how.format ? f->how.format : "");
    if (r->status == KJIT_INVALID && !f->how.name && kj_file_has_names(f->path, f->how.format))
        kj_run_hint(r, "%s=@%s:NAME takes the one of that name", name, f->path);
}

static bool load_override(kj_run *r, const kj_stmt *s, const char *text, kj_rvalue *out)
{
    kj_rsource f;
    bool ok = kj_run_source(r, text, &f);
    if (ok && !load_file(r, s->u.let.type, &f, out)) {
        hint_unread(r, s->u.let.names->name, &f);
        ok = false;
    }
    if (ok && !check_file(r, s, &f, *out)) {
        kj_run_drop(out);
        ok = false;
    }
    free(f.path);
    return ok;
}

/* What the text makes of a param that is like `like`. */
static bool value_like(kj_run *r, const kj_stmt *s, const char *text, kj_rvalue like,
                       kj_rvalue *out)
{
    const char *name = s->u.let.names->name;
    switch (like.kind) {
    case KJ_R_STRING: return kj_run_string(r, kj_run_nowhere, text, strlen(text), out);
    case KJ_R_LIST:
    case KJ_R_TUPLE:
        return *text == '@' ? kj_run_param_wrong(r, name, text, like.kind)
                            : kj_run_param_items(r, name, text, like, out);
    case KJ_R_BOOL:
    case KJ_R_INT:
    case KJ_R_FLOAT:
    case KJ_R_COMPLEX: return kj_run_param_number(r, name, text, like.kind, out);
    case KJ_R_ARRAY: return kj_run_param_wrong(r, name, text, KJ_R_ARRAY);
    default:
        return kj_run_fail(r, KJIT_INVALID, kj_run_nowhere,
                           "param '%s' is %s: it cannot be given here", name,
                           kj_run_kind_name(like));
    }
}

/* An array of one axis may be given as its elements. */
static bool can_be_listed(const kj_run *r, const kj_type_ref *type)
{
    kj_dtype t = (kj_dtype)kj_run_type(r, type->name);
    return type->ndim == 1 && (kj_is_scalar(t) || kj_is_complex_type(t));
}

static bool listed(kj_run *r, const kj_stmt *s, const char *text, kj_rvalue *out)
{
    kjit_dtype type = kj_run_type(r, s->u.let.type->name);
    kj_rvalue items;
    if (!kj_run_param_elements(r, s->u.let.names->name, text, (kj_dtype)type, &items))
        return false;
    bool ok = kj_run_items_array(r, kj_run_nowhere, items, type, out);
    kj_run_drop(&items);
    return ok;
}

static bool override_value(kj_run *r, const kj_stmt *s, const char *text, kj_rvalue *out)
{
    const kj_type_ref *type = s->u.let.type;
    kj_rvalue like = {0};
    bool typed = type && kind_of_type(r, type, &like.kind);
    if (!typed && !default_of(r, s, &like))
        return false;
    bool ok = like.kind == KJ_R_ARRAY && *text == '@' ? load_override(r, s, text + 1, out)
              : typed && can_be_listed(r, type)       ? listed(r, s, text, out)
                                                      : value_like(r, s, text, like, out);
    if (!typed && !is_any_array(like))
        kj_run_drop(&like);
    return ok;
}

bool kj_run_param(kj_run *r, const kj_stmt *s)
{
    const kj_name *name = s->u.let.names;
    const char *text = given(r, name->name);
    kj_rvalue v;
    if (text ? !override_value(r, s, text, &v) : !kj_run_eval(r, s->u.let.init, &v))
        return false;
    char what[96];
    kj_snprintf(what, sizeof what, text ? "param '%s'" : "%s", name->name);
    kj_span at = text ? kj_run_nowhere : s->u.let.init->span;
    if (v.kind == KJ_R_NONE)
        return kj_run_fail(r, KJIT_TYPE, at, "this call gives no value");
    if (s->u.let.type && !kj_run_convert(r, at, s->u.let.type, what, &v)) {
        if (text && r->status == KJIT_TYPE)
            r->status = KJIT_INVALID; /* the caller's mistake, not the program's */
        return false;
    }
    return kj_run_bind(r, at, name->name, v, true);
}

/* ---- After the run ---- */

static bool save_one(kj_run *r, const char *option)
{
    for (int i = r->nnames - 1; i >= 0; i--) {
        const char *path = value_for(option, r->names[i].name);
        if (!path)
            continue;
        kj_rvalue v = r->names[i].value;
        if (v.kind != KJ_R_ARRAY)
            return no_array(r, r->names[i].name, v.kind);
        target t;
        if (!take_target(r, path, &t))
            return false;
        const kjit_named_array a = {.name = r->names[i].name, .array = v.u.object->u.array};
        bool ok = (!t.shades || kj_run_check_shades(r, kj_run_nowhere, a.array)) &&
                  kj_run_check(r, kjit_arrays_save(r->ctx, t.path, &a, 1, &t.how), kj_run_nowhere);
        free(t.path);
        return ok;
    }
    return kj_run_fail(r, KJIT_INVALID, kj_run_nowhere,
                       "'%s': the run ended before it was declared", option);
}

/* The run may have taken hours: what can be saved is, and of several failures the first is told. */
bool kj_run_save_all(kj_run *r)
{
    bool all = true;
    for (int i = 0; i < r->options->nsaves; i++)
        all &= save_one(r, r->options->saves[i]);
    return all;
}
