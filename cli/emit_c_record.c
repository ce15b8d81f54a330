/* kjit build --emit=c: a record as a struct of C, with its fields by their names. */
#include "emit_c.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"

static bool is_record(kjit_context *ctx, kjit_dtype dtype, kjit_record *out)
{
    return kjit_record_info(ctx, dtype, out) == KJIT_OK && out->name[0] != '(';
}

int find_record(const c_records *all, kjit_dtype dtype)
{
    for (int i = 0; i < all->n; i++)
        if (all->dtypes[i] == dtype)
            return i;
    return -1;
}

bool add_record(c_records *all, kjit_dtype dtype)
{
    kjit_record r;
    kjit_field f;
    if (!is_record(all->ctx, dtype, &r) || find_record(all, dtype) >= 0)
        return true;
    for (int i = 0; i < r.nfields && kjit_record_field(all->ctx, dtype, i, &f) == KJIT_OK; i++)
        if (!add_record(all, f.dtype))
            return false;
    size_t n = (size_t)all->n + 1;
    kjit_dtype *dtypes = realloc(all->dtypes, n * sizeof *dtypes);
    all->dtypes = dtypes ? dtypes : all->dtypes;
    char(*names)[MOST_NAME] = realloc(all->names, n * sizeof *names);
    all->names = names ? names : all->names;
    if (!dtypes || !names)
        return false;
    all->dtypes[all->n] = dtype;
    c_name(all->names[all->n], r.name);
    set_apart(all->names, all->n++);
    return true;
}

void free_records(c_records *all)
{
    free(all->dtypes);
    free(all->names);
}

/* What C has an element as, and how many of them a vector or complex number is. */
static const char *element(kjit_dtype dtype, int *lanes, bool *is_same)
{
    static const struct {
        const char *name, *type;
        bool is_same; /* else bits, or numbers with a meaning */
    } elements[] = {
        {"bool", "uint8_t", false}, {"i8", "int8_t", true},      {"u8", "uint8_t", true},
        {"i16", "int16_t", true},   {"u16", "uint16_t", true},   {"i32", "int32_t", true},
        {"u32", "uint32_t", true},  {"i64", "int64_t", true},    {"u64", "uint64_t", true},
        {"f16", "uint16_t", false}, {"bf16", "uint16_t", false}, {"f32", "float", true},
        {"f64", "double", true},    {"c64", "float", false},     {"c128", "double", false},
    };
    const char *name = kjit_dtype_name(dtype);
    size_t n = strcspn(name, "x");
    for (size_t i = 0; i < sizeof elements / sizeof *elements; i++) {
        if (strlen(elements[i].name) == n && memcmp(elements[i].name, name, n) == 0) {
            *lanes = name[n] ? atoi(name + n + 1) : name[0] == 'c' ? 2 : 1;
            *is_same = elements[i].is_same;
            return elements[i].type;
        }
    }
    return NULL;
}

static void put_field(const c_records *all, FILE *out, const kjit_field *f, const char *name)
{
    int lanes = 1, record = find_record(all, f->dtype);
    bool is_same = true;
    if (record >= 0)
        fprintf(out, "    %s_%s %s", all->prefix, all->names[record], name);
    else
        fprintf(out, "    %s %s", element(f->dtype, &lanes, &is_same), name);
    for (int i = 0; i < f->ndim; i++)
        fprintf(out, "[%lld]", (long long)f->shape[i]);
    if (lanes > 1)
        fprintf(out, "[%d]", lanes);
    fputs(";", out);
    if (!is_same)
        fprintf(out, " /* %s */", kjit_dtype_name(f->dtype));
    fputs("\n", out);
}

/* The names of its fields, for free(). */
static c_names *field_names(const c_records *all, kjit_dtype dtype, int n)
{
    kjit_field f;
    char(*names)[MOST_NAME] = calloc((size_t)n + 1, sizeof *names);
    for (int i = 0; names && i < n && kjit_record_field(all->ctx, dtype, i, &f) == KJIT_OK; i++) {
        c_word(names[i], f.name);
        set_apart(names, i);
    }
    return (c_names *)names;
}

static void put_record(const c_records *all, FILE *out, int i)
{
    kjit_record r;
    kjit_field f;
    kjit_dtype dtype = all->dtypes[i];
    const char *name = all->names[i];
    if (kjit_record_info(all->ctx, dtype, &r) != KJIT_OK)
        return;
    c_names *names = field_names(all, dtype, r.nfields);
    if (!names)
        return;
    bool packed = r.align == 1; /* or its fields are bytes, which is the same */
    fprintf(out,
            "\n/* record %s: kjit_module_record(mod, \"%s\", &dtype) gives arrays of it their "
            "dtype. */\n",
            r.name, r.name);
    fprintf(out, "%stypedef struct %s_%s {\n", packed ? "#pragma pack(push, 1)\n" : "", all->prefix,
            name);
    for (int k = 0; k < r.nfields && kjit_record_field(all->ctx, dtype, k, &f) == KJIT_OK; k++)
        put_field(all, out, &f, (*names)[k]);
    fprintf(out, "} %s_%s;\n%s", all->prefix, name, packed ? "#pragma pack(pop)\n" : "");
    fprintf(out, "KJIT_BUILT_IS(sizeof(%s_%s) == %zu);\n", all->prefix, name, r.size);
    for (int k = 0; k < r.nfields && kjit_record_field(all->ctx, dtype, k, &f) == KJIT_OK; k++)
        fprintf(out, "KJIT_BUILT_IS(offsetof(%s_%s, %s) == %zu);\n", all->prefix, name, (*names)[k],
                f.offset);
    free(names);
}

void put_records(const c_records *all, FILE *out)
{
    if (all->n == 0)
        return;
    fputs("\n/* The records that kernels take, laid out as kjit has them. */\n"
          "#if defined __cplusplus\n"
          "#define KJIT_BUILT_IS(what) static_assert(what, \"as in kjit\")\n"
          "#elif __STDC_VERSION__ >= 201112L\n"
          "#define KJIT_BUILT_IS(what) _Static_assert(what, \"as in kjit\")\n"
          "#else\n"
          "#define KJIT_BUILT_IS(what) extern int kjit_built_is[(what) ? 1 : -1]\n"
          "#endif\n",
          out);
    for (int i = 0; i < all->n; i++)
        put_record(all, out, i);
    fputs("#undef KJIT_BUILT_IS\n", out);
}
