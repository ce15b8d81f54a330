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

void kj_lines_begin(kj_lower *lo, const kj_entry_spec *spec)
{
    const char *source = spec->source->name, *kernel = lo->kernel->name;
    LLVMMetadataRef file = LLVMDIBuilderCreateFile(spec->lines, source, strlen(source), "", 0);
    if (!LLVMGetModuleFlag(lo->module, flag, sizeof flag - 1))
        describe_module(lo, spec->lines, file);
    lo->line = (kj_line){.source = spec->source, .number = 1};
    uint32_t line, column;
    kj_line_col(spec->source, lo->kernel->span.begin, &line, &column);
    LLVMMetadataRef type =
        LLVMDIBuilderCreateSubroutineType(spec->lines, file, NULL, 0, LLVMDIFlagZero);
    lo->line.scope = LLVMDIBuilderCreateFunction(spec->lines, file, kernel, strlen(kernel),
                                                 spec->entry, strlen(spec->entry), file, line, type,
                                                 false, true, line, LLVMDIFlagZero, true);
    LLVMSetSubprogram(lo->fn, lo->line.scope);
    LLVMDIBuilderFinalize(spec->lines);
    LLVMSetCurrentDebugLocation2(lo->b, NULL); /* of the kernel before */
}

void kj_lines_at(kj_lower *lo, kj_span span)
{
    kj_line *l = &lo->line;
    if (!l->source)
        return;
    if (span.begin < l->offset)
        l->offset = 0, l->number = 1;
    for (; l->offset < span.begin; l->offset++)
        l->number += l->source->text[l->offset] == '\n';
    LLVMMetadataRef at = LLVMDIBuilderCreateDebugLocation(lo->ctx, l->number, 0, l->scope, NULL);
    LLVMSetCurrentDebugLocation2(lo->b, at);
}
