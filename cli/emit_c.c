/* kjit build --emit=c: a file's kernels as C functions, with the code that was made for them: NAME.c and NAME.h.
 *
 * What there is code for is what the run block launches, which is run for that. */
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "emit_c.h"

typedef struct emission {
    kjit_context *ctx;
    const options *o;
    kjit_module *mod;
    char *path;                   /* of the source, without .c */
    char prefix[MOST_NAME];       /* of what is declared */
    char (*functions)[MOST_NAME]; /* "load", then the kernels', by number, behind the prefix */
    bool *made;                   /* by kernel: there is code for it */
    c_records records;            /* that kernels take */
    FILE *out;
} emission;

/* ---- Names ---- */

void c_name(char out[MOST_NAME], const char *name)
{
    size_t n = 0;
    if (isdigit((unsigned char)name[0]))
        out[n++] = '_';
    for (; *name && n + 1 < MOST_NAME; name++)
        out[n++] = isalnum((unsigned char)*name) ? *name : '_';
    out[n] = '\0';
}

/* Is it one of C's words, of C++'s, of names that headers have, or of the functions' own? */
static bool is_taken(const char *name)
{
    static const char words[] = " alignas alignof and and_eq asm auto bitand bitor bool break case "
                                "catch char class compl concept const "
                                "consteval constexpr constinit continue decltype default delete do "
                                "double dynamic_cast else enum explicit export "
                                "extern false float for friend goto if inline int long mutable "
                                "namespace new noexcept not not_eq nullptr operator or "
                                "or_eq private protected public register reinterpret_cast requires "
                                "restrict return short signed sizeof static "
                                "static_assert static_cast struct switch template this "
                                "thread_local throw true try typedef typeid typename typeof "
                                "typeof_unqual union unsigned using virtual void volatile wchar_t "
                                "while xor xor_eq linux unix NULL mod config args "
                                "dtype_of image ";
    char word[MOST_NAME + 2];
    size_t n = strlen(name);
    snprintf(word, sizeof word, " %s ", name);
    return strstr(words, word) || strncmp(name, "kjit_", 5) == 0 ||
           (n > 2 && strcmp(name + n - 2, "_t") == 0);
}

void c_word(char out[MOST_NAME], const char *name)
{
    c_name(out, name);
    size_t n = strlen(out);
    if (is_taken(out) && n + 1 < MOST_NAME)
        memcpy(out + n, "_", 2);
}

void set_apart(c_names names, int i)
{
    for (int k = 0; k < i;) {
        size_t n = strlen(names[i]);
        bool same = strcmp(names[k], names[i]) == 0;
        if (same && n + 1 < MOST_NAME)
            memcpy(names[i] + n, "_", 2);
        k = same && n + 1 < MOST_NAME ? 0 : k + 1;
    }
}

static const char *file_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool name_functions(emission *e)
{
    int n = 0;
    while (kjit_module_kernel(e->mod, n))
        n++;
    e->functions = calloc((size_t)n + 1, sizeof *e->functions);
    e->made = calloc((size_t)n + 1, sizeof *e->made);
    if (!e->functions || !e->made)
        return false;
    c_name(e->functions[0], "load");
    for (int i = 0; i < n; i++) {
        c_name(e->functions[i + 1], kjit_module_kernel(e->mod, i));
        set_apart(e->functions, i + 1);
    }
    return true;
}

static bool is_function(const emission *e, int n, const char *name)
{
    for (int i = 0; i < n; i++)
        if (strcmp(e->functions[i], name) == 0)
            return true;
    return false;
}

/* Those that kernels take. Their structs are typedefs beside the functions, which have their names first. */
static bool name_records(emission *e)
{
    const char *name;
    int n = 1;
    kjit_kernel_param p = {.size = sizeof p};
    e->records = (c_records){.ctx = e->ctx, .prefix = e->prefix};
    for (; (name = kjit_module_kernel(e->mod, n - 1)) != NULL; n++)
        for (int k = 0; kjit_module_kernel_param(e->mod, name, k, &p) == KJIT_OK; k++)
            if (p.has_dtype && !add_record(&e->records, p.dtype))
                return false;
    for (int i = 0; i < e->records.n; i++) {
        char *own = e->records.names[i];
        size_t size = strlen(own);
        for (; is_function(e, n, own) && size + 1 < MOST_NAME; size++)
            memcpy(own + size, "_", 2);
        set_apart(e->records.names, i);
    }
    return true;
}

/* -o NAME.c, else that of the file, here. */
static int choose_names(emission *e)
{
    const char *given = e->o->out, *from = given ? given : file_of(e->o->arguments[0]);
    const char *ending = strrchr(from, '.');
    if (given && (!ending || strcmp(ending, ".c") != 0)) {
        complain("-o '%s': the form c is a file NAME.c, with NAME.h beside it", given);
        return EXIT_USAGE;
    }
    size_t size = ending && ending > file_of(from) ? (size_t)(ending - from) : strlen(from);
    if (!given && strcmp(from, "-") == 0) {
        complain("a program that is read has no name: -o NAME.c gives it one");
        return EXIT_USAGE;
    }
    e->path = malloc(size + 1);
    if (!e->path)
        return EXIT_FAILED;
    memcpy(e->path, from, size);
    e->path[size] = '\0';
    c_name(e->prefix, file_of(e->path));
    const char *own = file_of(e->path);
    if (!*own || strpbrk(own, "\"\\\n") || strcmp(own, "kjit") == 0 || strcmp(own, "stdint") == 0) {
        complain("'%s.h' is no name for a header of C beside kjit.h and stdint.h: -o NAME.c gives "
                 "another",
                 own);
        return EXIT_USAGE;
    }
    return name_functions(e) && name_records(e) ? EXIT_OK : EXIT_FAILED;
}

/* ---- A kernel's function ---- */

typedef enum as { AS_ARRAY, AS_INT, AS_UINT, AS_FLOAT, AS_BOOL, AS_VALUE, AS_ARG } as;

/* How C has a parameter, and in which of kjit_arg's forms a launch gets it. */
static const char *type_of(const kjit_kernel_param *p, as *how)
{
    static const struct {
        kjit_dtype dtype;
        const char *type;
        as how;
    } scalars[] = {
        {KJIT_BOOL, "int ", AS_BOOL},     {KJIT_I8, "int8_t ", AS_INT},
        {KJIT_U8, "uint8_t ", AS_UINT},   {KJIT_I16, "int16_t ", AS_INT},
        {KJIT_U16, "uint16_t ", AS_UINT}, {KJIT_I32, "int32_t ", AS_INT},
        {KJIT_U32, "uint32_t ", AS_UINT}, {KJIT_I64, "int64_t ", AS_INT},
        {KJIT_U64, "uint64_t ", AS_UINT}, {KJIT_F16, "float ", AS_FLOAT},
        {KJIT_BF16, "float ", AS_FLOAT},  {KJIT_F32, "float ", AS_FLOAT},
        {KJIT_F64, "double ", AS_FLOAT},
    };
    *how = p->ndim > 0 ? AS_ARRAY : p->has_dtype ? AS_VALUE : AS_ARG;
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars && *how == AS_VALUE; i++) {
        if (scalars[i].dtype == p->dtype) {
            *how = scalars[i].how;
            return scalars[i].type;
        }
    }
    return *how == AS_ARRAY ? "kjit_array *" : *how == AS_VALUE ? "const void *" : "kjit_arg ";
}

static bool get_param(const emission *e, const char *kernel, int i, kjit_kernel_param *out)
{
    *out = (kjit_kernel_param){.size = sizeof *out};
    return kjit_module_kernel_param(e->mod, kernel, i, out) == KJIT_OK;
}

/* Those of the kernel's parameters; for free(). */
static c_names *param_names(const emission *e, const kjit_kernel_decl *k)
{
    kjit_kernel_param p;
    char(*names)[MOST_NAME] = calloc((size_t)k->nparams + 1, sizeof *names);
    for (int i = 0; names && i < k->nparams && get_param(e, k->name, i, &p); i++) {
        c_word(names[i], p.name);
        set_apart(names, i);
    }
    return (c_names *)names;
}

/* "kjit_status app_scale(kjit_module *mod, const kjit_config *config, float a, kjit_array *x)" */
static void put_head(const emission *e, int kernel, const kjit_kernel_decl *k, c_names params)
{
    kjit_kernel_param p;
    as how;
    fprintf(e->out, "kjit_status %s_%s(kjit_module *mod, const kjit_config *config", e->prefix,
            e->functions[kernel + 1]);
    for (int i = 0; i < k->nparams && get_param(e, k->name, i, &p); i++) {
        const char *type = type_of(&p, &how);
        int record = how == AS_VALUE ? find_record(&e->records, p.dtype) : -1;
        if (record >= 0)
            fprintf(e->out, ", const %s_%s *%s", e->prefix, e->records.names[record], params[i]);
        else
            fprintf(e->out, ", %s%s", type, params[i]);
    }
    fputc(')', e->out);
}

static bool is_record(const emission *e, kjit_dtype dtype)
{
    kjit_record unused;
    return kjit_record_info(e->ctx, dtype, &unused) == KJIT_OK;
}

/* A record's number is the context's own. */
static void put_value(const emission *e, const char *kernel, int i, const kjit_kernel_param *p,
                      const char *name)
{
    if (!is_record(e, p->dtype))
        fprintf(e->out, "        kjit_arg_value((kjit_dtype)%d, %s),\n", (int)p->dtype, name);
    else
        fprintf(e->out, "        kjit_arg_value(dtype_of(mod, \"%s\", %d), %s),\n", kernel, i,
                name);
}

static void put_argument(const emission *e, const char *kernel, int i, const kjit_kernel_param *p,
                         const char *name)
{
    static const char *const forms[] = {"array", "i64", "u64", "f64", "bool"};
    as how;
    type_of(p, &how);
    if (how == AS_ARG)
        fprintf(e->out, "        %s,\n", name);
    else if (how == AS_VALUE)
        put_value(e, kernel, i, p, name);
    else
        fprintf(e->out, "        kjit_arg_%s(%s),\n", forms[how], name);
}

static void put_function(const emission *e, int kernel, const kjit_kernel_decl *k, c_names params)
{
    kjit_kernel_param p;
    fputc('\n', e->out);
    put_head(e, kernel, k, params);
    fputs("\n{\n", e->out);
    if (k->nparams > 0)
        fputs("    kjit_arg args[] = {\n", e->out);
    for (int i = 0; i < k->nparams && get_param(e, k->name, i, &p); i++)
        put_argument(e, k->name, i, &p, params[i]);
    if (k->nparams > 0)
        fputs("    };\n", e->out);
    fprintf(e->out, "    return kjit_launch(mod, \"%s\", config, %s, %d);\n}\n", k->name,
            k->nparams > 0 ? "args" : "NULL", k->nparams);
}

/* ---- The files ---- */

typedef void kernel_step(const emission *e, int kernel, const kjit_kernel_decl *k, c_names params);

/* False: out of memory. */
static bool each_kernel(const emission *e, kernel_step *step)
{
    const char *name;
    bool ok = true;
    for (int i = 0; ok && (name = kjit_module_kernel(e->mod, i)) != NULL; i++) {
        kjit_kernel_decl k = {.size = sizeof k};
        if (kjit_module_kernel_decl(e->mod, name, &k) != KJIT_OK)
            continue;
        c_names *params = param_names(e, &k);
        ok = params != NULL;
        if (ok)
            step(e, i, &k, *params);
        free(params);
    }
    return ok;
}

static void put_comment(const emission *e, const char *text)
{
    for (; *text; text++) {
        fputc(*text, e->out);
        if ((text[0] == '*' && text[1] == '/') || (text[0] == '/' && text[1] == '*'))
            fputc(' ', e->out);
        if (*text == '\n')
            fputs(" * ", e->out);
    }
}

static void put_declaration(const emission *e, int kernel, const kjit_kernel_decl *k,
                            c_names params)
{
    fputs("\n/* ", e->out);
    put_comment(e, k->head);
    if (k->doc) {
        fputs("\n * ", e->out);
        put_comment(e, k->doc);
    }
    if (k->requirements) {
        fputs("\n * requires ", e->out);
        put_comment(e, k->requirements);
    }
    fputs(" */\n", e->out);
    put_head(e, kernel, k, params);
    fputs(";\n", e->out);
}

static bool put_header(const emission *e)
{
    fprintf(e->out,
            "/* The kernels of %s, compiled ahead of time by kjit %s: link with libkjit-rt, or "
            "libkjit.\n"
            " * Each function is kjit_launch of a kernel; for launches of blocks, types and const "
            "parameters that there\n"
            " * is no code for it is KJIT_COMPILE. */\n"
            "#ifndef KJIT_BUILT_%s_H\n#define KJIT_BUILT_%s_H\n\n#include <kjit.h>\n\n"
            "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n"
            "/* Their module, for kjit_module_free. */\n"
            "kjit_status %s_load(kjit_context *ctx, kjit_module **out);\n",
            file_of(e->o->arguments[0]), kjit_version(), e->prefix, e->prefix, e->prefix);
    put_records(&e->records, e->out);
    bool ok = each_kernel(e, put_declaration);
    fputs("\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n", e->out);
    return ok;
}

/* Has a kernel a record for a parameter that is no array? */
static bool takes_records(const emission *e)
{
    const char *name;
    kjit_kernel_param p;
    as how;
    for (int i = 0; (name = kjit_module_kernel(e->mod, i)) != NULL; i++)
        for (int k = 0; get_param(e, name, k, &p); k++)
            if (type_of(&p, &how) && how == AS_VALUE && is_record(e, p.dtype))
                return true;
    return false;
}

static void put_dtype_of(const emission *e)
{
    fputs("\n/* Of a parameter that is a record, whose number is the context's own. */\n"
          "static kjit_dtype dtype_of(kjit_module *mod, const char *kernel, int i)\n{\n"
          "    kjit_kernel_param p;\n    p.size = sizeof p;\n"
          "    kjit_module_kernel_param(mod, kernel, i, &p);\n    return p.dtype;\n}\n",
          e->out);
}

static void put_image(const emission *e, const char *image, size_t size)
{
    enum { IN_A_LINE = 6 };
    fputs("\nstatic const uint64_t image[] = {", e->out);
    for (size_t at = 0, n = 0; at < size; at += sizeof(uint64_t), n++) {
        uint64_t word = 0;
        size_t left = size - at;
        memcpy(&word, image + at, left < sizeof word ? left : sizeof word);
        fprintf(e->out, "%s0x%llx,", n % IN_A_LINE ? " " : "\n    ", (unsigned long long)word);
    }
    fputs("\n};\n", e->out);
}

static bool put_source(const emission *e, const char *image, size_t size)
{
    fprintf(e->out,
            "/* Made by kjit build --emit=c of %s: see %s.h. */\n#include \"%s.h\"\n\n#include "
            "<stdint.h>\n",
            file_of(e->o->arguments[0]), file_of(e->path), file_of(e->path));
    put_image(e, image, size);
    fprintf(e->out,
            "\nkjit_status %s_load(kjit_context *ctx, kjit_module **out)\n{\n"
            "    return kjit_module_from_image(ctx, image, %zu, out);\n}\n",
            e->prefix, size);
    if (takes_records(e))
        put_dtype_of(e);
    return each_kernel(e, put_function);
}

/* One of the two, complete or not at all. */
static int write_part(emission *e, const char *ending, const char *image, size_t size)
{
    char *text = NULL, *path = NULL;
    size_t length = 0, room = strlen(e->path) + strlen(ending) + 1;
    int code = EXIT_FAILED;
    e->out = open_memstream(&text, &length);
    path = malloc(room);
    if (e->out && path) {
        snprintf(path, room, "%s%s", e->path, ending);
        bool ok = image ? put_source(e, image, size) : put_header(e);
        code = fclose(e->out) == 0 && ok ? EXIT_OK : EXIT_FAILED;
    }
    if (code == EXIT_OK && !write_file(path, text, length)) {
        complain("'%s' cannot be written: %s", path, strerror(errno));
        code = EXIT_FAILED;
    }
    free(path);
    free(text);
    return code;
}

/* ---- What there is code for ---- */

/* Has a kernel a const parameter that `argument` gives a value? */
static bool is_const(const emission *e, const char *argument)
{
    const char *name;
    kjit_kernel_param p;
    size_t size = strcspn(argument, "=");
    for (int i = 0; (name = kjit_module_kernel(e->mod, i)) != NULL; i++)
        for (int k = 0; get_param(e, name, k, &p); k++)
            if (p.is_const && strlen(p.name) == size && memcmp(p.name, argument, size) == 0)
                return true;
    return false;
}

static bool is_param(kjit_module *mod, const char *argument)
{
    kjit_param_info p;
    size_t size = strcspn(argument, "=");
    for (int i = 0; kjit_module_param(mod, i, &p); i++)
        if (strlen(p.name) == size && memcmp(p.name, argument, size) == 0)
            return true;
    return false;
}

static int stop_running(void *user)
{
    (void)user;
    return was_interrupted();
}

/* The run block's launches, whose results are nobody's. What is no param of it is a const parameter's value. */
static int run_block(const emission *e)
{
    const options *o = e->o;
    const char **params = calloc((size_t)o->narguments, sizeof *params);
    kjit_run_options run = {.params = params, .interrupted = stop_running};
    int code = params ? EXIT_OK : EXIT_FAILED;
    for (int i = 1; i < o->narguments && code == EXIT_OK; i++) {
        bool of_run = is_param(e->mod, o->arguments[i]);
        if (of_run)
            params[run.nparams++] = o->arguments[i];
        if (!of_run || is_const(e, o->arguments[i]))
            code = assume_value(e->ctx, e->mod, o->arguments[i]);
    }
    if (code == EXIT_OK && kjit_module_has_run(e->mod)) {
        catch_interrupts(e->ctx);
        kjit_status status = kjit_run(e->mod, &run);
        if (status != KJIT_OK)
            show_run_failure(o, kjit_last_error(e->ctx));
        code = exit_code_of(status);
    }
    free(params);
    return code;
}

static void tell(void *user, const char *kernel, const char *launch)
{
    const emission *e = user;
    const char *name;
    for (int i = 0; (name = kjit_module_kernel(e->mod, i)) != NULL; i++)
        e->made[i] |= strcmp(name, kernel) == 0;
    if (!e->o->quiet)
        fprintf(stderr, "kjit: %s: %s\n", kernel, launch);
}

static void tell_of_others(const emission *e)
{
    const char *name;
    for (int i = 0; (name = kjit_module_kernel(e->mod, i)) != NULL; i++)
        if (!e->made[i])
            complain("kernel '%s' has no code: the run block does not launch it, and a const "
                     "parameter of it has no value "
                     "(name=value gives one)",
                     name);
}

int emit_c(kjit_context *ctx, const options *o, kjit_module *mod)
{
    emission e = {.ctx = ctx, .o = o, .mod = mod};
    void *image = NULL;
    size_t size = 0;
    int code = EXIT_OK;
    if (o->kernel) {
        complain("--kernel: the form c is all of a file's kernels");
        return EXIT_USAGE;
    }
    if (o->block[0]) {
        complain("--block: the form c is for the blocks that the run block launches");
        return EXIT_USAGE;
    }
    note_no_kernels(o, mod);
    code = choose_names(&e);
    if (code == EXIT_OK)
        code = run_block(&e);
    if (code == EXIT_OK) {
        kjit_image_options wanted = {.size = sizeof wanted,
                                     .cpus = o->cpu_list    ? o->cpu_list
                                             : o->arch_list ? ""
                                                            : NULL,
                                     .archs = o->arch_list,
                                     .told = tell,
                                     .user = &e};
        kjit_status status = kjit_module_image(mod, &wanted, &image, &size);
        code = status == KJIT_OK ? EXIT_OK : library_failed(ctx, status);
    }
    if (code == EXIT_OK)
        tell_of_others(&e);
    if (code == EXIT_OK)
        code = write_part(&e, ".h", NULL, 0);
    if (code == EXIT_OK)
        code = write_part(&e, ".c", image, size);
    free(image);
    free_records(&e.records);
    free(e.functions);
    free(e.made);
    free(e.path);
    return code;
}
