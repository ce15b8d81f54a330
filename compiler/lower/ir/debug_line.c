/* Places in the source, noted on instructions, for profilers and debuggers of a GPU: PTX has
 * directives for them. */
#include "lower/ir/ir.h"

#include <string.h>

enum { DIRECTIVES_ONLY = 3 }; /* DICompileUnit::DebugDirectivesOnly: no sections of debug data */

static const char flag[] = "Debug Info Version";

static void describe_module(kj_lower *lo, LLVMDIBuilderRef lines, LLVMMetadataRef file)
{
    LLVMDIBuilderCreateCompileUnit(lines, LLVMDWARFSourceLanguageC, file, "kjit", 4, true, "", 0, 0,
                                   "", 0, (LLVMDWARFEmissionKind)DIRECTIVES_ONLY, 0, false, false,
                                   "", 0, "", 0);
    LLVMValueRef version = LLVMConstInt(lo->i32, LLVMDebugMetadataVersion(), false);
    LLVMAddModuleFlag(lo->module, LLVMModuleFlagBehaviorWarning, flag, sizeof flag - 1,
                      LLVMValueAsMetadata(version));
}

static LLVMMetadataRef file_named(LLVMDIBuilderRef lines, const char *name)
{
    return LLVMDIBuilderCreateFile(lines, name, strlen(name), "", 0);
}

void kj_lines_begin(kj_lower *lo, const kj_entry_spec *spec)
{
    kj_position at = kj_where(spec->source, lo->kernel->span.begin);
    const char *kernel = lo->kernel->name;
    LLVMMetadataRef file = file_named(spec->lines, at.file);
    if (!LLVMGetModuleFlag(lo->module, flag, sizeof flag - 1))
        describe_module(lo, spec->lines, file);
    lo->line = (kj_line){.source = spec->source,
                         .lines = spec->lines,
                         .kernel = kj_source_at(spec->source, lo->kernel->span.begin)};
    LLVMMetadataRef type =
        LLVMDIBuilderCreateSubroutineType(spec->lines, file, NULL, 0, LLVMDIFlagZero);
    lo->line.scope = LLVMDIBuilderCreateFunction(spec->lines, file, kernel, strlen(kernel),
                                                 spec->entry, strlen(spec->entry), file, at.line,
                                                 type, false, true, at.line, LLVMDIFlagZero, true);
    LLVMSetSubprogram(lo->fn, lo->line.scope);
    LLVMDIBuilderFinalize(spec->lines);
    LLVMSetCurrentDebugLocation2(lo->b, NULL); /* of the kernel before */
}

/* What stands in another file than the kernel does, in a function that it calls. */
static void enter_file(kj_line *l, uint32_t offset)
{
    l->part = kj_source_at(l->source, offset);
    l->offset = l->part.begin;
    l->number = 1;
    l->inside = l->part.begin == l->kernel.begin
                    ? l->scope
                    : LLVMDIBuilderCreateLexicalBlockFile(l->lines, l->scope,
                                                          file_named(l->lines, l->part.name), 0);
}

void kj_lines_at(kj_lower *lo, kj_span span)
{
    kj_line *l = &lo->line;
    if (!l->source)
        return;
    if (!l->inside || span.begin < l->offset || span.begin > l->part.end)
        enter_file(l, span.begin);
    for (; l->offset < span.begin; l->offset++)
        l->number += l->source->text[l->offset] == '\n';
    LLVMMetadataRef at = LLVMDIBuilderCreateDebugLocation(lo->ctx, l->number, 0, l->inside, NULL);
    LLVMSetCurrentDebugLocation2(lo->b, at);
}
