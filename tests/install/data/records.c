/* Arrays of a file's records, filled and read by the names of their fields. */
#include <stdio.h>

#include "records.h"

static kjit_context *ctx;

static kjit_array *wrap(kjit_module *mod, const char *record, void *data, int64_t n)
{
    kjit_dtype dtype;
    kjit_array *a = NULL;
    if (kjit_module_record(mod, record, &dtype) != KJIT_OK ||
        kjit_array_wrap(ctx, data, dtype, 1, &n, NULL, KJIT_HOST, &a) != KJIT_OK)
        printf("%s\n", kjit_last_error(ctx));
    return a;
}

int main(void)
{
    records_Particle p[3] = {{.alive = 0, .pos = {1}},
                             {.alive = 1,
                              .pos = {1, 2, 3, 4},
                              .vel = {5, 6, 7},
                              .double_ = 8,
                              .spin = {0, 1},
                              .cells = {{{0}}, {{0}, {0}, {.x = 1, .y = 10}}}},
                             {.alive = 1}};
    records_Sample s[3] = {
        {.channel = 1}, {.channel = 255, .value = 3, .at = 1ull << 40}, {.at = 5}};
    records_load_ l[3] = {{.x = -1}, {.x = -1}, {.x = -1}};
    records_Cell by = {.x = 30, .y = 40};
    kjit_module *mod = NULL;
    if (kjit_context_create(NULL, &ctx, NULL, 0) != KJIT_OK || records_load(ctx, &mod) != KJIT_OK)
        printf("%s\n", kjit_last_error(ctx));
    kjit_array *particles = wrap(mod, "Particle", p, 3), *samples = wrap(mod, "Sample", s, 3),
               *loads = wrap(mod, "load", l, 3);
    if (records_step(mod, &(kjit_config){.grid = {1}, .block = {32}}, particles, samples, &by,
                     loads) != KJIT_OK)
        printf("%s\n", kjit_last_error(ctx));
    kjit_array_free(particles);
    kjit_array_free(samples);
    kjit_array_free(loads);
    kjit_module_free(mod);
    kjit_context_destroy(ctx);
    printf("%g %g %g %g, %g, %g\n", p[1].pos[0], p[1].pos[3], p[0].pos[0], p[2].pos[1], p[1].vel[2],
           p[1].double_);
    printf("%x %x, %g %g, %d %d\n", p[1].half[0], p[1].half[1], p[1].spin[0], p[1].spin[1],
           p[1].cells[1][2].x, p[1].cells[1][2].y);
    printf("%d %g %llu %d %d, %g %g\n", s[1].channel, s[1].value, (unsigned long long)s[1].at,
           s[1].cell.x, s[1].cell.y, l[0].x, l[2].x);
    return 0;
}
