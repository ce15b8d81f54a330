/* What went wrong, for each thread on each context: a sentence that outlives the call. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/core.h"

static const char no_memory_text[] = "out of memory";

/* Takes `text`; NULL stands for out of memory. */
static void note(kjit_context *ctx, char *text)
{
    kj_thread *t = kj_thread_failing(ctx);
    if (!t) {
        free(text);
        return;
    }
    free(t->text);
    free(t->json);
    free(t->fault);
    t->json = NULL;
    t->fault = NULL;
    t->text = text;
    t->fallback = no_memory_text;
    t->parameter = 0;
}

void kj_fail_about(kjit_context *ctx, int parameter)
{
    kj_thread *t = kj_thread_in(ctx);
    if (t)
        t->parameter = parameter + 1;
}

int kj_failed_about(kjit_context *ctx)
{
    const kj_thread *t = kj_thread_in(ctx);
    return t ? t->parameter - 1 : -1;
}

/* Takes the text. */
static kjit_status end_failing(kjit_context *ctx, kjit_status status, kj_text *t)
{
    if (t->failed) {
        kj_text_free(t);
        note(ctx, NULL);
        return KJIT_NO_MEMORY;
    }
    note(ctx, t->data);
    return status;
}

kjit_status kj_fail(kjit_context *ctx, kjit_status status, const char *format, ...)
{
    kj_text t = {0};
    va_list args;
    va_start(args, format);
    kj_text_vplain(&t, false, format, args);
    va_end(args);
    return end_failing(ctx, status, &t);
}

kjit_status kj_fail_lines(kjit_context *ctx, kjit_status status, const char *text)
{
    kj_text t = {0};
    const char *json = strchr(text, KJ_TOLD_AS_JSON);
    size_t n = json ? (size_t)(json - text) : strlen(text);
    kj_text_plain(&t, text, kj_trimmed(text, n), true);
    status = end_failing(ctx, status, &t);
    kj_thread *thread = json ? kj_thread_in(ctx) : NULL;
    if (thread)
        thread->json = strdup(json + 1);
    return status;
}

kjit_status kj_fail_telling(kjit_context *ctx, kjit_status status, kj_telling telling)
{
    kjit_status noted =
        kj_fail_lines(ctx, status, telling.text ? telling.text : kjit_status_message(status));
    kj_thread *t = noted == status && telling.fault ? kj_thread_in(ctx) : NULL;
    if (t) {
        t->fault = telling.fault;
        telling.fault = NULL;
    }
    kj_telling_free(telling);
    return noted;
}

void kj_telling_free(kj_telling telling)
{
    free(telling.text);
    free(telling.fault);
}

kj_telling kj_failed_telling(kjit_context *ctx)
{
    return (kj_telling){strdup(kj_thread_failure(ctx)), kj_thread_take_fault(ctx)};
}

kj_kept_failure kj_failure_keep(kjit_context *ctx)
{
    kj_thread *t = kj_thread_in(ctx);
    kj_kept_failure kept = {0};
    if (!t)
        return kept;
    kept = (kj_kept_failure){t->text, t->json, t->fault, t->parameter};
    t->text = t->json = NULL;
    t->fault = NULL;
    return kept;
}

void kj_failure_again(kjit_context *ctx, kj_kept_failure kept)
{
    note(ctx, kept.text);
    kj_thread *t = kj_thread_in(ctx);
    if (!t) {
        free(kept.json);
        free(kept.fault);
        return;
    }
    t->json = kept.json;
    t->fault = kept.fault;
    t->parameter = kept.parameter;
}

const char *kj_failed_as_json(kjit_context *ctx)
{
    const kj_thread *t = kj_thread_in(ctx);
    return t ? t->json : NULL;
}

kjit_status kj_fail_why(kjit_context *ctx, kjit_status status, const kj_failure *why)
{
    return kj_fail_lines(ctx, status, why->text);
}

kjit_status kj_no_memory(kjit_context *ctx)
{
    note(ctx, NULL);
    return KJIT_NO_MEMORY;
}

kjit_status kj_fail_early(kjit_context *ctx, const kj_arena *arena, kj_outcome outcome,
                          const kj_complaint *complaint)
{
    const kjit_limits *most = &ctx->limits.most;
    kj_failure why;
    kjit_status status = KJIT_OK;
    if (outcome != KJ_BROKEN && arena->ended == KJ_ARENA_FULL)
        status = kj_beyond(&why, "compile_bytes", most->compile_bytes, "a compilation takes more");
    else if (outcome != KJ_BROKEN && arena->ended == KJ_ARENA_LATE)
        status = kj_beyond(&why, "compile_ms", most->compile_ms, "a compilation takes longer");
    if (status != KJIT_OK)
        return kj_fail_why(ctx, status, &why);
    if (outcome != KJ_BROKEN)
        return kj_no_memory(ctx);
    return kj_fail(ctx, KJIT_INTERNAL, "the compiler failed: %s", complaint->text);
}

kjit_status kj_no_out(kjit_context *ctx)
{
    return kj_fail(ctx, KJIT_INVALID, "out is NULL");
}

const char *kjit_last_error(kjit_context *ctx)
{
    return kj_thread_failure(kj_lives(ctx, KJ_CONTEXT) ? ctx : NULL);
}

int kjit_last_fault(kjit_context *ctx, kjit_fault *out)
{
    kjit_fault fault;
    if (!out || !kj_is_struct_size(out->size) ||
        !kj_thread_fault(kj_lives(ctx, KJ_CONTEXT) ? ctx : NULL, &fault))
        return 0;
    kj_give_struct(out, out->size, &fault, sizeof fault);
    return 1;
}

const char *kjit_fault_kind_name(kjit_fault_kind kind)
{
    switch (kind) {
#define CASE(name, number, text) \
    case KJIT_FAULT_##name: return "KJIT_FAULT_" #name;
        KJIT_FAULT_MAP(CASE)
#undef CASE
    default: return NULL;
    }
}
