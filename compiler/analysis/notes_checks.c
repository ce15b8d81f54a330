/* Notes of indices that are checked: by what it is known that they are inside, or what is not known of them. */
#include <string.h>

#include "analysis/notes.h"
#include "base/text.h"

static const char *const sources[] = {[KJ_BY_CONDITION] = "the condition",
                                      [KJ_BY_LOOP] = "the loop",
                                      [KJ_BY_REQUIRES] = "requires",
                                      [KJ_BY_CHECK] = "the index checked"};

/* "the condition in line 11 and requires in line 9" */
static void put_reasons(kj_text *t, const kj_notes *w, const kj_ground *g, const char *file)
{
    for (int i = 0; i < g->nreasons; i++) {
        const kj_reason *r = &g->reasons[i];
        bool before = false;
        for (int k = 0; k < i; k++)
            before |= g->reasons[k].by == r->by && g->reasons[k].span.begin == r->span.begin;
        kj_position at = kj_where(w->source, r->span.begin);
        if (!before)
            kj_text_printf(t, "%s%s in line %u", i ? " and " : "by ", sources[r->by], at.line);
        if (!before && strcmp(at.file, file) != 0)
            kj_text_printf(t, " of %s", at.file);
    }
}

static void put_proof(kj_text *t, const kj_notes *w, const kj_ground *g, const char *file)
{
    kj_text_puts(t, "proved");
    if (g->unreached) {
        kj_text_puts(t, ", as no thread comes here");
    } else if (g->nreasons > 0) {
        kj_text_puts(t, " ");
        put_reasons(t, w, g, file);
    } else if (g->least >= 0 && g->most < g->extent[0]) {
        kj_text_printf(t, ", %lld", (long long)g->least);
        if (g->most != g->least)
            kj_text_printf(t, " to %lld", (long long)g->most);
        kj_text_printf(t, " of %lld%s", (long long)g->extent[0],
                       g->extent[0] == g->extent[1] ? "" : " or more");
    }
}

static void put_unknown(kj_text *t, const kj_ground *g)
{
    if (g->low && g->high)
        kj_text_puts(t, ", that it is not below 0, and below the extent");
    else if (g->low)
        kj_text_puts(t, ", that it is not below 0");
    else if (g->high)
        kj_text_puts(t, ", that it is below the extent");
}

void kj_note_checks(kj_notes *w)
{
    for (int i = 0; i < w->kernel->nchecked; i++) {
        const kj_checked *c = &w->kernel->checked[i];
        const char *index = kj_note_label(w, c->site->span, "an index");
        kj_text t = {.arena = w->arena};
        if (c->held == KJ_HELD_ALWAYS)
            put_proof(&t, w, &c->ground, kj_where(w->source, c->site->span.begin).file);
        else
            kj_text_puts(&t,
                         c->held == KJ_HELD_NEVER ? "tested on each run" : "tested once a launch");
        if (c->held != KJ_HELD_ALWAYS)
            put_unknown(&t, &c->ground);
        kj_note_add(w, c->site->span, KJ_NOTE_BOUNDS,
                    kj_arena_printf(w->arena, "%s of %s", index, c->site->indexed), NULL, "%s",
                    t.data);
    }
}
