/* --sweep: a run block for each of several values of its params, a row of a table each. */
#include "sweep.h"

#include <stdlib.h>
#include <string.h>

#include "samples.h"

enum { MOST_ROWS = 1 << 16 };

/* ---- Which rows there are ---- */

static size_t name_length(const char *param)
{
    return strcspn(param, "=");
}

static bool same_name(const char *a, const char *b)
{
    size_t n = name_length(a);
    return n == name_length(b) && strncmp(a, b, n) == 0;
}

/* Is the param one that is given a value otherwise? */
static bool is_given_twice(const options *o, int i)
{
    const char *mine = o->sweeps[i];
    for (int k = 0; k < i; k++)
        if (same_name(o->sweeps[k], mine)) {
            complain("--sweep has '%.*s' twice", (int)name_length(mine), mine);
            return true;
        }
    for (int k = 1; k < o->narguments; k++)
        if (same_name(o->arguments[k], mine)) {
            complain("'%s' and --sweep=%s: a param has one or the other", o->arguments[k], mine);
            return true;
        }
    return false;
}

static bool read_values(const options *o, sweep *s)
{
    double rows = 1;
    if (o->nsweeps > MOST_SWEPT) {
        complain("--sweep is for up to %d params", MOST_SWEPT);
        return false;
    }
    for (int i = 0; i < o->nsweeps; i++) {
        if (is_given_twice(o, i) || !read_choices(o->sweeps[i], &s->of[i]))
            return false;
        s->n = i + 1;
        rows *= s->of[i].n;
    }
    if (rows > MOST_ROWS)
        complain("--sweep would have %.0f rows: at most %d", rows, MOST_ROWS);
    return rows <= MOST_ROWS;
}

static bool begin_sweep(const options *o, sweep *s)
{
    *s = (sweep){.narguments = o->narguments + o->nsweeps};
    if (!read_values(o, s))
        return false;
    s->arguments = calloc((size_t)s->narguments, sizeof *s->arguments);
    if (!s->arguments) {
        complain("out of memory");
        return false;
    }
    memcpy(s->arguments, o->arguments, (size_t)o->narguments * sizeof *s->arguments);
    return true;
}

static void end_sweep(sweep *s)
{
    for (int i = 0; i < s->n; i++)
        free_choices(&s->of[i]);
    free(s->arguments);
}

static void set_row(sweep *s)
{
    for (int i = 0; i < s->n; i++)
        s->arguments[s->narguments - s->n + i] = s->of[i].params[s->at[i]];
}

/* False behind the last. */
static bool next_row(sweep *s)
{
    for (int i = s->n - 1; i >= 0; i--) {
        if (++s->at[i] < s->of[i].n)
            return true;
        s->at[i] = 0;
    }
    return false;
}

/* ---- Their table ---- */

static int width_of(const choices *c)
{
    size_t width = name_length(c->params[0]);
    for (int i = 0; i < c->n; i++) {
        size_t n = strlen(c->params[i]) - name_length(c->params[i]) - 1;
        width = n > width ? n : width;
    }
    return (int)width;
}

static void show_head(sweep *s)
{
    for (int i = 0; i < s->n; i++) {
        const char *name = s->of[i].params[0];
        int n = (int)name_length(name);
        printf("%*s%.*s  ", width_of(&s->of[i]) - n, "", n, name);
    }
    puts(s->head);
    s->head = NULL;
}

void show_row_values(sweep *s)
{
    if (s->head)
        show_head(s);
    for (int i = 0; i < s->n; i++) {
        const char *param = s->of[i].params[s->at[i]];
        printf("%*s  ", width_of(&s->of[i]), param + name_length(param) + 1);
    }
}

int sweep_values(kjit_context *ctx, const options *o, kjit_module *mod, const char *head,
                 sweep_row *row, void *user)
{
    sweep s;
    int code = begin_sweep(o, &s) ? EXIT_OK : EXIT_USAGE;
    s.head = head;
    for (bool more = true; more && code == EXIT_OK; more = next_row(&s)) {
        set_row(&s);
        code = row(ctx, o, mod, &s, user);
        if (code == EXIT_FAILED || (code == EXIT_USAGE && !s.head)) {
            show_row_values(&s);
            puts("failed");
            s.failed = true;
            code = EXIT_OK;
        }
        if (!flush_output(o->output))
            break;
    }
    end_sweep(&s);
    return code == EXIT_OK && s.failed ? EXIT_FAILED : code;
}

/* ---- kjit run: each once ---- */

/* What a run took, and the last line that it printed. */
typedef struct one_run {
    const output *out;
    double kernels, compiling; /* ms */
    char line[256];
    size_t size;
    bool ended; /* the line has: the next text begins another */
} one_run;

static void keep_line(void *user, const char *text, size_t size)
{
    one_run *r = user;
    for (size_t i = 0; i < size; i++) {
        if (r->ended)
            r->size = 0;
        r->ended = text[i] == '\n';
        if (!r->ended && r->size + 1 < sizeof r->line)
            r->line[r->size++] = text[i];
    }
}

static int stop_sweeping(void *user)
{
    const one_run *r = user;
    return r->out->failed || was_interrupted();
}

static void add_event(void *user, const kjit_trace_event *e)
{
    one_run *r = user;
    if (e->kind == KJIT_TRACE_COMPILE || e->kind == KJIT_TRACE_LOAD)
        r->compiling += e->duration_us * 1e-3;
    else if (e->kind != KJIT_TRACE_COPY)
        r->kernels += e->duration_us * 1e-3;
}

static int run_row(kjit_context *ctx, const options *o, kjit_module *mod, sweep *s, void *user)
{
    one_run r = {.out = o->output};
    kjit_run_options run = {.params = s->arguments + 1,
                            .nparams = s->narguments - 1,
                            .write = keep_line,
                            .interrupted = stop_sweeping,
                            .user = &r,
                            .json = o->json};
    (void)user;
    kjit_set_trace(ctx, add_event, &r);
    double begin = now_ms();
    kjit_status status = kjit_run(mod, &run);
    if (status == KJIT_OK)
        status = kjit_synchronize(ctx);
    double took = now_ms() - begin - r.compiling;
    kjit_set_trace(ctx, NULL, NULL);
    if (status != KJIT_OK) {
        show_run_failure(o, kjit_last_error(ctx));
        return run_code(mod, status);
    }
    show_row_values(s);
    printf("%12.3f %12.3f", took > 0 ? took : 0, r.kernels);
    printf(r.size ? "  %.*s\n" : "\n", (int)r.size, r.line);
    return EXIT_OK;
}

int sweep_runs(kjit_context *ctx, const options *o, kjit_module *mod)
{
    catch_interrupts(ctx);
    explain_crashes(ctx, o);
    return sweep_values(ctx, o, mod, "      run ms   kernels ms  prints", run_row, NULL);
}
