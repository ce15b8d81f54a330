/* kjit build: a form of a file's kernels, on standard output or in a file. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"

/* Machine code by the toolkit, where no driver makes it. */
static int assemble(kjit_context *ctx, const options *o, kjit_module *mod, const int64_t *block,
                    char **out, size_t *size)
{
    char *ptx;
    kjit_status status = kjit_module_emit(mod, "ptx", o->kernel, block, &ptx, size);
    if (status != KJIT_OK)
        return library_failed(ctx, status);
    assembly a;
    int code = run_ptxas(ptx, *size, gpu_arch(ctx, o), &a);
    free(ptx);
    *out = a.code;
    *size = a.size;
    a.code = NULL;
    free_assembly(&a);
    return code;
}

static int emit(kjit_context *ctx, const options *o, kjit_module *mod)
{
    char *text = NULL;
    size_t size;
    if (strcmp(o->emit, "c") == 0)
        return emit_c(ctx, o, mod);
    int code = assume_values(ctx, o, mod);
    if (code != EXIT_OK)
        return code;
    bool of_source = strcmp(o->emit, "tokens") == 0 || strcmp(o->emit, "ast") == 0;
    if (!of_source)
        note_no_kernels(o, mod);
    const int64_t *block = o->block[0] ? o->block : NULL;
    kjit_status status = kjit_module_emit(mod, o->emit, o->kernel, block, &text, &size);
    if (status == KJIT_NO_DEVICE && strcmp(o->emit, "cubin") == 0)
        code = assemble(ctx, o, mod, block, &text, &size);
    else if (status != KJIT_OK)
        code = library_failed(ctx, status);
    if (code != EXIT_OK)
        return code;
    if (!o->out || strcmp(o->out, "-") == 0) {
        write_output(o->output, text, size);
    } else if (!write_file(o->out, text, size)) {
        complain("'%s' cannot be written: %s", o->out, strerror(errno));
        code = EXIT_FAILED;
    }
    free(text);
    return code;
}

/* Only what is made for, or by, the GPU that is here opens it. */
int command_build(const options *o)
{
    if (!o->emit) {
        char list[FORMS_TEXT];
        complain("build needs --emit=%s", list_forms(list));
        return EXIT_USAGE;
    }
    bool c = strcmp(o->emit, "c") == 0;
    if (o->arch && o->cpu && !c) {
        complain("--arch is a GPU's and --cpu a CPU's: code is for one of them");
        return EXIT_USAGE;
    }
    options mine = *o;
    bool cubin = strcmp(o->emit, "cubin") == 0;
    mine.gpu = cubin || strcmp(o->emit, "ptx") == 0;
    mine.device = cubin || (mine.gpu && !o->arch) ? NULL : "cpu";
    if (c) { /* lists of what there is to be code for */
        mine.cpu_list = o->cpu;
        mine.arch_list = o->arch;
        mine.cpu = mine.arch = NULL;
    }
    bool shown = !o->out || strcmp(o->out, "-") == 0;
    if (cubin && shown && isatty(STDOUT_FILENO)) {
        complain("a cubin is no text for a terminal: -o FILE writes it to a file");
        return EXIT_USAGE;
    }
    return with_module(&mine, emit);
}
