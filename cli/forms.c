/* The forms that kjit build shows: the library's names, and what they are. */
#include <stdio.h>
#include <string.h>

#include "cli.h"

static const struct {
    const char *name, *what;
} forms[] = {
    {"tokens", "the words of the file"},
    {"ast", "the syntax tree"},
    {"checks", "which indices are known to be inside of their arrays"},
    {"notes", "what becomes of its lines, as kjit explain has it from"},
    {"tast", "the typed tree of each kernel"},
    {"uniform", "along which axes of threadIdx its values differ"},
    {"regions", "how a block is cut at its barriers, for a CPU"},
    {"llvm", "LLVM IR as it is generated"},
    {"opt", "LLVM IR after the optimiser"},
    {"asm", "this machine's assembly, or that of a --cpu"},
    {"ptx", "a GPU's assembly"},
    {"cubin", "a GPU's machine code, by its driver or the CUDA toolkit's ptxas"},
    {"c", "the kernels as C functions with their code, in NAME.c and NAME.h"},
};

enum { NFORMS = sizeof forms / sizeof *forms };

void print_forms(void)
{
    puts("\nForms:");
    for (int i = 0; i < NFORMS; i++)
        printf("  %-10s %s\n", forms[i].name, forms[i].what);
}

const char *list_forms(char out[FORMS_TEXT])
{
    size_t n = 0;
    for (int i = 0; i < NFORMS; i++)
        n += (size_t)snprintf(out + n, FORMS_TEXT - n, "%s%s",
                              i == 0            ? ""
                              : i + 1 == NFORMS ? " or "
                                                : ", ",
                              forms[i].name);
    return out;
}

const char *form_named(const char *name)
{
    const char *names[NFORMS];
    char list[FORMS_TEXT];
    if (strcmp(name, "llvm-opt") == 0)
        name = "opt"; /* its name up to version 0.1 */
    for (int i = 0; i < NFORMS; i++) {
        names[i] = forms[i].name;
        if (strcmp(name, forms[i].name) == 0)
            return forms[i].name;
    }
    const char *near = nearest(name, names, NFORMS);
    complain("there is no form '%s'%s%s%s: %s", name, near ? " (did you mean '" : "",
             near ? near : "", near ? "'?)" : "", list_forms(list));
    return NULL;
}
