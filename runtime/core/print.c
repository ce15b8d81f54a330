/* The context's print function, and the lines of kernels that wait for it.
 *
 * Lines wait in the context until a call that waits for work hands them out: the print function is
 * never called from a thread the program does not know. */
#include <string.h>

#include "core/core.h"

/* Under the print lock. Where memory was short, there are fewer lines than kernels printed. */
static void flush(kjit_context *ctx)
{
    pthread_mutex_lock(&ctx->lock);
    kj_text text = ctx->printed;
    kj_printer printer = ctx->printer;
    static const char lost[] = "(lines of kernels are lost: out of memory)\n";
    ctx->printed = (kj_text){0};
    atomic_store(&ctx->has_printed, false);
    pthread_mutex_unlock(&ctx->lock);
    kj_calling calling;
    kj_calling_begin(&calling, printer.of_run ? NULL : ctx);
    if (printer.print && text.size > 0)
        printer.print(printer.user, text.data, text.size);
    if (printer.print && text.failed)
        printer.print(printer.user, lost, strlen(lost));
    kj_calling_end(&calling);
    kj_text_free(&text);
}

void kj_print_flush(kjit_context *ctx)
{
    if (!atomic_load_explicit(&ctx->has_printed, memory_order_acquire))
        return;
    pthread_mutex_lock(&ctx->print_lock);
    flush(ctx);
    pthread_mutex_unlock(&ctx->print_lock);
}

kj_printer kj_print_exchange(kjit_context *ctx, kj_printer printer)
{
    pthread_mutex_lock(&ctx->print_lock);
    flush(ctx);
    pthread_mutex_lock(&ctx->lock);
    kj_printer before = ctx->printer;
    ctx->printer = printer;
    pthread_mutex_unlock(&ctx->lock);
    pthread_mutex_unlock(&ctx->print_lock);
    return before;
}

void kjit_set_print(kjit_context *ctx, kjit_print_fn *print, void *user)
{
    if (kj_enter_context(ctx) == KJIT_OK)
        kj_print_exchange(ctx, (kj_printer){.print = print, .user = user});
}
