/* textDocument/formatting: what `kjit fmt` makes of the text, as one edit of the lines that change. */
#include <stdlib.h>
#include <string.h>

#include "lsp.h"

/* How many bytes of whole lines both begin with. */
static size_t same_begin(const char *a, size_t n, const char *b, size_t m)
{
    size_t line = 0;
    for (size_t i = 0; i < n && i < m && a[i] == b[i]; i++)
        if (a[i] == '\n')
            line = i + 1;
    return line;
}

/* And end with, behind what they begin with. */
static size_t same_end(const char *a, size_t n, const char *b, size_t m, size_t begin)
{
    size_t line = 0;
    for (size_t i = 0; i + begin < n && i + begin < m; i++) {
        if (a[n - 1 - i] == '\n')
            line = i; /* what is behind it */
        if (a[n - 1 - i] != b[m - 1 - i])
            return line;
    }
    return line;
}

json_t *on_formatting(server *s, const json_t *params, failure *f)
{
    document *d = asked_document(s, params, f);
    char *text = NULL;
    size_t size = 0;
    if (!d)
        return NULL;
    kjit_status status = kjit_format(s->ctx, d->path, d->text, d->size, &text, &size);
    if (status != KJIT_OK) { /* of errors of syntax the diagnostics tell */
        fail_with(f, REQUEST_FAILED, "%s",
                  status == KJIT_COMPILE ? "the file has errors of syntax: it stays as it is"
                                         : kjit_last_error(s->ctx));
        return NULL;
    }
    json_t *edits = json_array();
    if (size != d->size || memcmp(text, d->text, size) != 0) {
        size_t begin = same_begin(d->text, d->size, text, size);
        size_t end = same_end(d->text, d->size, text, size, begin);
        json_t *range = range_json(s, d, begin, d->size - end);
        json_array_append_new(edits, json_pack("{s:o, s:s%}", "range", range, "newText",
                                               text + begin, size - end - begin));
    }
    free(text);
    return edits;
}
