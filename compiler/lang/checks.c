/* Checks of running kernels (--check=race,init,...): their names, a word to a bit. */
#include "lang/checks.h"

#include <stddef.h>

static const kj_check_row rows[] = {
#define CHECK(id, name, bit, device, what) {name, what, bit},
#include "lang/checks.def"
#undef CHECK
};

const kj_check_row *kj_check_row_at(int i)
{
    return i >= 0 && (size_t)i < sizeof rows / sizeof *rows ? &rows[i] : NULL;
}

void kj_put_checks(kj_text *t, unsigned checks)
{
    unsigned shown =
        checks & KJ_CHECK_BOUNDS ? checks & ~(unsigned)KJ_CHECK_BOUNDS : checks | KJ_CHECK_NONE;
    const char *before = " --check=";
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (shown & rows[i].bit) {
            kj_text_printf(t, "%s%s", before, rows[i].name);
            before = ",";
        }
}
