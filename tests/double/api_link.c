/* The linker, which here makes an "image": an ELF header and the PTX text. */
#include "double.h"
#include <elf.h>
#include <stdlib.h>
#include <string.h>

enum { MACHINE_CUDA = 190 };

typedef struct drv_image {
    Elf64_Ehdr header;
    bool devrt;    /* the device runtime was linked to it */
    uint64_t size; /* of the text, with its final 0 */
    char text[];
} drv_image;

typedef struct drv_link {
    drv_object object;
    jit_options options;
    drv_image *image;
    bool devrt;
} drv_link;

char *image_text(const void *data, bool *devrt, CUresult *result)
{
    static const unsigned char fat[] = {0x50, 0xed, 0x55, 0xba};
    const drv_image *image = data;
    if (!memcmp(data, fat, sizeof fat)) {
        *result = misuse(CUDA_ERROR_INVALID_IMAGE, "a fatbin is not modelled");
        return NULL;
    }
    if (memcmp(data, ELFMAG, SELFMAG)) {
        char *text = jit_text(data);
        *result = text ? CUDA_SUCCESS : CUDA_ERROR_INVALID_PTX;
        return text;
    }
    if (image->header.e_machine != MACHINE_CUDA || image->header.e_ehsize != sizeof *image) {
        *result = misuse(CUDA_ERROR_INVALID_IMAGE, "an image that is not the double's");
        return NULL;
    }
    if (!chip_runs((int)image->header.e_flags)) {
        *result = misuse(CUDA_ERROR_NO_BINARY_FOR_GPU, "an image for sm_%u on sm_%d",
                         image->header.e_flags, config()->chip->sm);
        return NULL;
    }
    *devrt = image->devrt;
    return strdup(image->text);
}

CUresult do_cuLinkCreate_v2(unsigned count, CUjit_option *options, void **values, CUlinkState *out)
{
    jit_options read;
    CUresult result = jit_read(count, options, values, &read);
    if (result)
        return result;
    if (!out)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the state");
    drv_link *made = object_new(sizeof *made, KIND_LINK, context_current());
    made->options = read;
    jit_say(&read, "");
    *out = object_handle(made);
    return CUDA_SUCCESS;
}

/* The text is checked as loading would; what is missing in it, when the link is complete. */
static CUresult assemble(drv_link *link, const char *text, size_t size)
{
    CUmodule handle = NULL;
    CUresult result = module_compile(&handle, text, true, &link->options);
    if (result)
        return result;
    do_cuModuleUnload(handle);
    int target = link->options.target ? link->options.target : config()->chip->sm;
    link->image = calloc(1, sizeof *link->image + size + 1);
    memcpy(link->image->header.e_ident, ELFMAG, SELFMAG);
    link->image->header.e_ident[EI_CLASS] = ELFCLASS64;
    link->image->header.e_ident[EI_DATA] = ELFDATA2LSB;
    link->image->header.e_type = ET_EXEC;
    link->image->header.e_machine = MACHINE_CUDA;
    link->image->header.e_ehsize = sizeof *link->image;
    link->image->header.e_flags = (Elf64_Word)target;
    link->image->size = size + 1;
    memcpy(link->image->text, text, size);
    return CUDA_SUCCESS;
}

CUresult do_cuLinkAddData_v2(CUlinkState handle, CUjitInputType type, void *data, size_t size,
                             const char *name, unsigned count, CUjit_option *options, void **values)
{
    drv_link *link = object_here(handle, KIND_LINK);
    (void)name;
    if (!link)
        return CUDA_ERROR_INVALID_HANDLE;
    CUresult result = jit_check_input(count, options, values);
    if (result)
        return result;
    bool library = type == CU_JIT_INPUT_LIBRARY && size >= 8 && !memcmp(data, "!<arch>\n", 8);
    if (library && link->image && !link->devrt) {
        link->devrt = true;
        return CUDA_SUCCESS;
    }
    if (!data || type != CU_JIT_INPUT_PTX || link->image)
        return misuse(CUDA_ERROR_INVALID_VALUE,
                      "other than one PTX text, and then perhaps the device runtime's library, is "
                      "not modelled");
    char *text = strndup(data, size); /* the size may count the final 0 */
    if (strlen(text) + 1 < size)
        result = misuse(CUDA_ERROR_INVALID_VALUE, "the text ends %zu bytes before its size",
                        size - strlen(text));
    else
        result = assemble(link, text, strlen(text));
    free(text);
    return result;
}

CUresult do_cuLinkComplete(CUlinkState handle, void **cubin, size_t *size)
{
    CUmodule module = NULL;
    drv_link *link = object_here(handle, KIND_LINK);
    if (!link)
        return CUDA_ERROR_INVALID_HANDLE;
    if (!cubin || !size || !link->image)
        return misuse(CUDA_ERROR_INVALID_VALUE, "no place for the image, or nothing was added");
    CUresult result = module_compile(&module, link->image->text, link->devrt, &link->options);
    if (result)
        return result;
    do_cuModuleUnload(module);
    link->image->devrt = link->devrt;
    *cubin = link->image;
    *size = sizeof *link->image + link->image->size;
    return CUDA_SUCCESS;
}

CUresult do_cuLinkDestroy(CUlinkState handle)
{
    drv_link *link = object_here(handle, KIND_LINK);
    if (!link)
        return CUDA_ERROR_INVALID_HANDLE;
    free(link->image);
    object_end(&link->object);
    return CUDA_SUCCESS;
}
