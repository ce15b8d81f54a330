/* LLVM's part for CPUs of other families than this machine's: aarch64's on x86-64, x86-64's on aarch64. */
#ifndef KJ_FOREIGN_H
#define KJ_FOREIGN_H

/* Makes it ready, once. NULL, or why there is none, for LLVMDisposeMessage. In libkjit.a it is linked in (foreign.c);
 * libkjit.so loads the library that has it (foreign_loaded.c): few ask for it, and it is a fifth of the code generator. */
char *kj_foreign_ready(void);

#endif
