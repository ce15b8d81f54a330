# kjit. `make help` lists the goals; sources stand in the order of the pipeline.
#
#   BUILD=dir          where everything built goes (default build, or build/san with SAN=1, build/tsan with SAN=thread)
#   SAN=1              with AddressSanitizer and UndefinedBehaviorSanitizer
#   SAN=thread         with ThreadSanitizer; `make test` then runs the programs of tests/api
#   LLVM_LINK=shared   link libLLVM.so rather than LLVM's archives
#   LLVM_CONFIG=path   another LLVM than the newest of 22 21 20 19 that is found
#   CROSS=prefix-      for another machine, as aarch64-linux-gnu-: compilers of that name; BUILD is then build/aarch64
#   SYSROOT=dir        with CROSS, that machine's LLVM and libraries (default build/sysroot, where deps-aarch64 puts them)
#   PREFIX, DESTDIR    of install

PREFIX ?= /usr/local
LIBDIR ?= $(PREFIX)/lib
CMAKEDIR = $(LIBDIR)/cmake/kjit
VERSION := $(shell sed -n 's/^\#define KJIT_VERSION_[A-Z]* //p' include/kjit.h | paste -sd.)
LLVM_LINK ?= static
CC = $(CROSS)gcc
CXX = $(CROSS)g++
AR = $(CROSS)ar
HOST_CC ?= gcc
HOST_CXX ?= g++
# the machine that is built for, and with CROSS its name in folders, as aarch64-linux-gnu
MULTIARCH := $(CROSS:%-=%)
MACHINE := $(firstword $(subst -, ,$(or $(MULTIARCH),$(shell uname -m))))
SYSROOT ?= build/sysroot
ifneq ($(CROSS),)
# what runs the other machine's programs
KJIT_WRAPPER ?= $(shell command -v qemu-$(MACHINE) || command -v qemu-$(MACHINE)-static) -L $(abspath $(SYSROOT))
export KJIT_WRAPPER
endif
JOBS := $(shell nproc 2>/dev/null || echo 2)
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(JOBS)
endif
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DELETE_ON_ERROR:
.DEFAULT_GOAL := all

ifeq ($(SAN),1)
BUILD ?= build/san
OPTIMISE = -O1 -g -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined
SANITIZE = -fsanitize=address,undefined
else ifeq ($(SAN),thread)
BUILD ?= build/tsan
OPTIMISE = -O1 -g -fno-omit-frame-pointer -fsanitize=thread
SANITIZE = -fsanitize=thread
else
BUILD ?= build$(if $(CROSS),/$(MACHINE))
OPTIMISE = -O2 -g
NO_UNDEFINED = -Wl,--no-undefined
endif

# ---- Sources: a file belongs to the layer that its folder is ----

GENERATED = $(BUILD)/gen/knl.lex.c $(BUILD)/gen/knl.tab.c # from grammar/
COMPILER = $(sort $(wildcard compiler/*.c compiler/*/*.c compiler/*/*/*.c))
PASSES = compiler/target/passes.cc # what of LLVM has no name in C
ABSENT = runtime/absent.c # of libkjit-rt: see below
RUNTIME = $(filter-out $(ABSENT),$(sort $(wildcard runtime/*.c runtime/*/*.c runtime/*/*/*.c)))
HEADERS = $(sort $(wildcard $(foreach part,compiler runtime,$(part)/*.h $(part)/*/*.h $(part)/*/*/*.h)))
# jansson, by what links it: without it there is no `kjit lsp`, and no file of cli/lsp but absent.c is built
ifeq ($(CROSS),)
JANSSON := $(shell pkg-config --libs jansson 2>/dev/null)
else
JANSSON := $(if $(wildcard $(SYSROOT)/usr/include/jansson.h),-ljansson)
endif
LSP = $(if $(JANSSON),$(filter-out cli/lsp/absent.c,$(sort $(wildcard cli/lsp/*.c))),cli/lsp/absent.c)
CLI = $(sort $(wildcard cli/*.c)) $(LSP)
# the library in the language
STD = $(sort $(wildcard std/*.knl))
MATHLIB_TOOL = tools/mathlib.c tools/mathlib_read.c tools/mathlib_own.c tools/mathlib_elementary.c tools/mathlib_special.c tools/mathlib_bessel.c tools/mathlib_directed.c tools/mathlib_wide.c
UNIT_TESTS = $(sort $(wildcard tests/unit/*.c))
INTERPRETER_TESTS = $(sort $(wildcard tests/double/unit/*.c))
# the driver double and its PTX interpreter
DOUBLE = $(sort $(wildcard tests/double/*.c))
DOUBLE_TESTS = $(sort $(wildcard tests/double/check/*.c))
API_TESTS = $(sort $(wildcard tests/api/*.c))
# the measurement of math functions
ULP = $(sort $(wildcard tests/ulp/*.c))
# the package for Python: its extension takes the headers of any CPython from 3.10 on (python3-dev), and is for all of them
PYTHON_INCLUDE ?= $(if $(CROSS),,$(patsubst %/Python.h,%,$(lastword $(sort $(wildcard /usr/include/python3.1[0-9]/Python.h)))))
PYTHON_EXTENSION = $(sort $(wildcard python/src/*.c))
PYTHON_PACKAGE = $(sort $(wildcard python/kjit/*.py python/kjit/*.pyi python/kjit/py.typed))
ULP_SHARED = $(addprefix compiler/lang/,host_exact.c host_math.c signature.c types.c) # which the library keeps to itself

C_FILES = $(COMPILER) $(PASSES) $(ABSENT) $(RUNTIME) $(HEADERS) $(CLI) $(UNIT_TESTS) $(INTERPRETER_TESTS) $(API_TESTS) $(ULP) tests/ulp/ulp.h \
    $(DOUBLE) $(DOUBLE_TESTS) $(wildcard tests/double/*.h tests/double/*/*.h tests/api/*.h) \
    $(wildcard tools/*.[ch] python/src/*.[ch] cli/*.h cli/lsp/*.[ch] bench/*/*.[ch] bench/*/*/*.[ch] gpu/*.c)

OWN_OBJECTS = $(patsubst %.c,$(BUILD)/obj/%.o,$(COMPILER) $(RUNTIME))
ABSENT_OBJECTS = $(ABSENT:%.c=$(BUILD)/obj/%.o)
FOREIGN_LINKED = $(BUILD)/obj/compiler/target/foreign.o
FOREIGN_LOADED = $(BUILD)/obj/compiler/target/foreign_loaded.o
LIB_OBJECTS = $(GENERATED:.c=.o) $(filter-out $(FOREIGN_LOADED),$(OWN_OBJECTS)) $(PASSES:%.cc=$(BUILD)/obj/%.o) $(BUILD)/gen/mathlib.o $(BUILD)/gen/std.o
SHARED_OBJECTS = $(if $(FOREIGN),$(filter-out $(FOREIGN_LINKED),$(LIB_OBJECTS)) $(FOREIGN_LOADED),$(LIB_OBJECTS))
# libkjit-rt runs what was compiled ahead of time: what of libkjit needs neither a compiler nor files and run blocks.
RT_LEFT_OUT = $(addprefix runtime/launch/,capsule.c capsule_args.c capsule_read.c) $(addprefix runtime/module/,cache.c \
    cache_list.c format.c forms.c image_write.c library.c make.c sources.c words.c)
RT_SOURCES = $(ABSENT) $(filter-out compiler/base/exceptions.c compiler/base/operator_new.c,$(filter compiler/base/% compiler/lang/%,$(COMPILER))) \
    $(addprefix compiler/,pack.c pack_kernel.c analysis/interval.c analysis/limit_graph.c target/cpu_level.c \
    target/ptx_version.c tast/eval.c) \
    $(filter-out $(RT_LEFT_OUT) runtime/draw/% runtime/io/% runtime/run/%,$(RUNTIME))
RT_OBJECTS = $(RT_SOURCES:%.c=$(BUILD)/obj/%.o)
CLI_OBJECTS = $(patsubst %.c,$(BUILD)/obj/%.o,$(CLI))
DOUBLE_OBJECTS = $(patsubst %.c,$(BUILD)/obj/%.o,$(DOUBLE))
# Tests of the PTX interpreter have it and nothing else, other unit tests the whole of kjit.
INTERPRETER_OBJECTS = $(filter $(BUILD)/obj/tests/double/ptx%,$(DOUBLE_OBJECTS))
UNIT_PROGRAMS = $(patsubst %.c,$(BUILD)/%,$(UNIT_TESTS))
INTERPRETER_PROGRAMS = $(patsubst %.c,$(BUILD)/%,$(INTERPRETER_TESTS))
API_PROGRAMS = $(patsubst %.c,$(BUILD)/%,$(API_TESTS))
DOUBLE_PROGRAMS = $(patsubst %.c,$(BUILD)/%,$(DOUBLE_TESTS))

# ---- LLVM ----

LLVM_CONFIG ?= $(shell tools/find-llvm.sh $(LLVM_LINK))
ifneq ($(LLVM_CONFIG),)
LLVM_BIN := $(shell $(LLVM_CONFIG) --bindir)
LIBCLC := $(firstword $(wildcard $(shell $(LLVM_CONFIG) --prefix)/lib/clc/nvptx64--.bc \
    /usr/lib/clc/nvptx64--.bc /usr/share/clc/nvptx64--.bc))
# of this machine, for what runs while kjit is built; with CROSS the other's are of the same version, and in SYSROOT
LLVM_INCLUDE := $(shell $(LLVM_CONFIG) --includedir)
# the CPUs that code is for, this machine's own among them
LLVM_CPUS := $(filter x86 aarch64,$(shell $(LLVM_CONFIG) --components))
LLVM_COMPONENTS = $(LLVM_CPUS) nvptx passes bitreader bitwriter linker irreader native
LLVM_LIBDIR := $(shell $(LLVM_CONFIG) --libdir)
LLVM_LIBRARIES := $(shell $(LLVM_CONFIG) --link-$(LLVM_LINK) --libs $(LLVM_COMPONENTS))
ifeq ($(LLVM_LINK),static)
# What Debian's LLVM names beside these (z3, xml2) belongs to parts that kjit does not link.
LLVM_LIBRARIES += $(filter-out %libz3.so -lz3 -lxml2,$(shell $(LLVM_CONFIG) --link-static --system-libs))
endif
HOST_LLVM_LIBS = -L$(LLVM_LIBDIR) $(LLVM_LIBRARIES)
LLVM_CPPFLAGS = -isystem $(if $(CROSS),$(SYSROOT))$(LLVM_INCLUDE)
LLVM_LIBS = $(if $(CROSS),-L$(SYSROOT)$(LLVM_LIBDIR) $(LLVM_LIBRARIES),$(HOST_LLVM_LIBS))
endif

# ---- Flags ----

WARNINGS = -Wall -Wextra -Wpedantic -Wshadow -Wconversion
CPPFLAGS_ALL = -D_GNU_SOURCE -Iinclude $(if $(CROSS),$(foreach part,/$(MULTIARCH) ,-isystem $(SYSROOT)/usr/include$(part))) $(CPPFLAGS)
CPPFLAGS_LIB = $(CPPFLAGS_ALL) -Icompiler -Iruntime -I$(BUILD)/gen $(LLVM_CPPFLAGS)
CFLAGS_ALL = -std=c17 $(OPTIMISE) -fPIC -fvisibility=hidden -ffunction-sections -fdata-sections \
    -ffp-contract=off -fsigned-char -pthread $(CFLAGS)
LINKER := $(shell if [ -x "$(LLVM_BIN)/ld.lld" ]; then echo -B$(LLVM_BIN) -fuse-ld=lld; \
    elif command -v ld.lld >/dev/null; then echo $(if $(CROSS),-B$$(dirname $$(realpath $$(command -v ld.lld)))) -fuse-ld=lld; \
    elif command -v $(CROSS)ld.gold >/dev/null; then echo -fuse-ld=gold; fi)
LDFLAGS_ALL = $(LINKER) -pthread $(SANITIZE) -Wl,--gc-sections -Wl,--as-needed \
    $(if $(CROSS),-L$(SYSROOT)/usr/lib/$(MULTIARCH) -Wl$(COMMA)-rpath-link$(COMMA)$(SYSROOT)/usr/lib/$(MULTIARCH)) $(LDFLAGS)
# LLVM's exceptions end in frames around its calls of operator new (compiler/base/operator_new.c), C++'s own library's
# too, which is why that is linked in.
COMMA = ,
GUARDED_NEW = $(foreach form,_Znwm _Znam _ZnwmSt11align_val_t _ZnamSt11align_val_t,-Wl$(COMMA)--wrap=$(form)) -Wl,--undefined=__wrap__Znwm
ifeq ($(SAN)$(LLVM_LINK),static)
LIBRARY_LDFLAGS = $(GUARDED_NEW) -static-libstdc++
else
LIBRARY_LDFLAGS = $(GUARDED_NEW)
endif
LIBS = $(LLVM_LIBS) -lpng -lz -lm -ldl

# LLVM's part for CPUs of another family is a library of its own beside libkjit.so, libkjit-aarch64.so (compiler/target/foreign_loaded.c).
ifeq ($(SAN)$(LLVM_LINK),static)
ifeq ($(MACHINE)$(filter aarch64,$(LLVM_CPUS)),x86_64aarch64)
FOREIGN = aarch64
FOREIGN_NAME = AArch64
else ifeq ($(MACHINE)$(filter x86,$(LLVM_CPUS)),aarch64x86)
FOREIGN = x86-64
FOREIGN_NAME = X86
endif
endif
FOREIGN_LIBRARY = $(FOREIGN:%=$(BUILD)/libkjit-%.so.0)
FOREIGN_ARCHIVES = $(wildcard $(foreach part,CodeGen Desc Utils Info,$(if $(CROSS),$(SYSROOT))$(LLVM_LIBDIR)/libLLVM$(FOREIGN_NAME)$(part).a))
EXPORTS = -Wl,--version-script=$(BUILD)/gen/kjit.map $(FOREIGN:%=@$(BUILD)/gen/foreign.ld)

# ---- Goals ----

.PHONY: all demo test test-aarch64 deps-aarch64 check-llvm python run-tests valgrind-tests test-programs fuzz fuzz-bounds hostile mutants deps man install uninstall deb lint format ulp docs site bench-cpu bench-compile bench-growth bench-ptx gpu-bundle clean help FORCE

help: ## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | expand -t 14

all: $(BUILD)/kjit $(BUILD)/libkjit.a $(BUILD)/libkjit.so $(FOREIGN_LIBRARY) $(BUILD)/libkjit-rt.a ## build the command and the libraries

demo: deps ## install what is missing, build, and run the first sample
	@$(MAKE) $(BUILD)/kjit
	$(BUILD)/kjit run samples/vecadd.knl

test: deps ## install what is missing, build, and run the tests
	@$(MAKE) run-tests

run-tests: all test-programs
	@BUILD=$(BUILD) LLVM_BIN=$(LLVM_BIN) SAN=$(SAN) tests/run $(if $(filter thread,$(SAN)),api)
ifeq ($(SAN),1)
	@if command -v valgrind >/dev/null; then $(MAKE) SAN= BUILD=$(BUILD)/plain valgrind-tests; \
	    else echo "valgrind is not here: its pass is left out"; fi
endif

# Some tests under valgrind, which sees what compiled kernels do too. Its older versions cannot read all debug
# information there is, so it gets none.
VALGRIND_TESTS = tests/error/json.test tests/error/syntax tests/samples/vecadd.test tests/samples/reduce.test \
    tests/regression/report_of_an_ended_launch.knl

VALGRIND_PROGRAMS = arrays bad_arguments bad_arguments_arrays bad_arguments_work const_arrays dlpack embed external files \
    forms freed_handles graph launch launch_plan memory_kinds pending reports run smart streams walk

valgrind-tests: $(BUILD)/kjit $(BUILD)/libkjit.so $(VALGRIND_PROGRAMS:%=$(BUILD)/tests/api/%)
	@mkdir -p $(BUILD)/valgrind/tests/api
	@objcopy --strip-debug $(BUILD)/kjit $(BUILD)/valgrind/kjit
	@objcopy --strip-debug $(BUILD)/libkjit.so.0 $(BUILD)/valgrind/libkjit.so.0
	@cp $(VALGRIND_PROGRAMS:%=$(BUILD)/tests/api/%) $(BUILD)/valgrind/tests/api
	@BUILD=$(BUILD)/valgrind LLVM_BIN=$(LLVM_BIN) KJIT_WRAPPER="$(CURDIR)/tests/valgrind" \
	    LD_LIBRARY_PATH=$(abspath $(BUILD))/valgrind tests/run $(VALGRIND_TESTS) \
	    $(VALGRIND_PROGRAMS:%=$(BUILD)/valgrind/tests/generated/programs/api-%.test)

# PROGRAMS=n runs so many programs; FUZZ has further options, of tests/fuzz/fuzz.py --help.
fuzz: all $(BUILD)/tests/double/libcuda.so.1 ## run generated programs for SECONDS=n, from SEED=n, against a reference interpreter
	@tests/fuzz/fuzz.py --build $(BUILD) --seed $(or $(SEED),1) $(if $(SECONDS),--seconds $(SECONDS)) \
	    $(if $(PROGRAMS),--programs $(PROGRAMS)) $(FUZZ)

fuzz-bounds: all $(BUILD)/api.json $(BUILD)/tests/double/libcuda.so.1 ## the same with indices that may be outside: which failure is told, or what the arrays hold
	@tests/fuzz/bounds.py --build $(BUILD) --seed $(or $(SEED),1) $(if $(SECONDS),--seconds $(SECONDS)) \
	    $(if $(PROGRAMS),--programs $(PROGRAMS)) $(FUZZ)

hostile: $(BUILD)/libkjit.so $(BUILD)/tests/api/hostile ## run PROGRAMS=20000 kernels that mean harm, from SEED=n, in one untrusted context
	@LD_LIBRARY_PATH=$(BUILD) $(BUILD)/tests/api/hostile $(or $(PROGRAMS),20000) $(or $(SEED),1)

# WORDS="tests/lang ..." are folders or files; `programs` those of tests/unit and tests/api, `all` all that there
# is; `same` compares what programs leave with what they leave on this machine.
test-aarch64: deps-aarch64 ## build for aarch64 in build/aarch64, and run tests of it under qemu: WORDS=all, or some that take ten minutes
	@$(if $(filter same,$(WORDS)),$(MAKE) build/kjit)
	@$(MAKE) CROSS=aarch64-linux-gnu- all test-programs
	@CC=aarch64-linux-gnu-gcc LLVM_BIN=$(LLVM_BIN) tests/aarch64/run build/aarch64 $(SYSROOT) $(WORDS)

# MUTANTS="name ..." takes these alone: bugs by name, or all of a file, or of a table, such as cuda.txt.
mutants: all test-programs ## plant small bugs, one at a time, and tell which the tests find (hours; tests/mutants)
	@tests/mutants/mutants.py --build $(BUILD) $(MUTANTS)

deps: ## install the packages kjit is built from (Debian, Ubuntu)
	@LLVM_LINK=$(LLVM_LINK) tools/deps.sh

deps-aarch64: deps ## install the cross compiler and qemu, and unpack aarch64's packages in SYSROOT (Debian, Ubuntu)
	@tools/deps-cross.sh aarch64 $(SYSROOT) $(firstword $(subst ., ,$(shell $(LLVM_CONFIG) --version)))

ulp: $(BUILD)/tests/ulp/ulp ## measure the math functions on every f32, and write the table in docs/math.md (an hour or two)
	$< --all --samples=16777216 > $(BUILD)/ulp.md
	tools/between.py docs/math.md "largest errors" < $(BUILD)/ulp.md

docs: $(BUILD)/kjit ## write what is generated: the built-in functions in docs/language.md, docs/api.md, docs/diagnostics.md, docs/from_*.md, docs/files.md
	@$< builtins --markdown | tools/between.py docs/language.md "kjit builtins"
	@tools/reference.py api include/kjit.h > docs/api.md
	@tools/diagnostics.py $(BUILD)/kjit > docs/diagnostics.md
	@tools/from_rows.py tests/numba/rows.txt > docs/from_numba.md
	@tools/from_rows.py tests/from_cuda/rows.txt > docs/from_cuda.md
	@tools/from_rows.py tests/from_numpy/rows.txt > docs/from_numpy.md
	@tools/files.py > docs/files.md

site: ## BUILD/site: the documents as HTML pages with a search, for reading without a network (needs python3-markdown)
	@for p in python3 /usr/bin/python3; do if $$p -c 'import markdown' 2> /dev/null; then $$p tools/site.py $(BUILD)/site && \
		echo "$(BUILD)/site/index.html"; exit; fi; done; echo "make site needs Python-Markdown (Debian: python3-markdown)" >&2; exit 1

bench-cpu: all ## kjit beside OpenMP C on this CPU
	@BUILD=$(BUILD) bench/cpu/run $(BENCH)

bench-compile: all ## kjit beside NVRTC and nvcc, from text to PTX
	@BUILD=$(BUILD) bench/compile/run $(BENCH)

bench-growth: all ## how the time to compile grows with the source
	@python3 bench/growth/growth.py --kjit $(BUILD)/kjit $(SHAPES)

bench-ptx: all ## kjit's GPU code beside nvcc's, by ptxas
	@BUILD=$(BUILD) bench/ptx/run $(BENCH)

# In one make with the rest: another beside it would write the same files.
python: $(if $(PYTHON_INCLUDE),$(BUILD)/kjit $(BUILD)/python/kjit/_kjit.abi3.so) ## build the package for Python, in $(BUILD)/python (PYTHONPATH); to install it: pip install ./python
	@[ -n "$(PYTHON_INCLUDE)" ] || { echo "kjit: Python.h of 3.10 or newer was not found: install python3-dev, or give PYTHON_INCLUDE=" >&2; exit 1; }

# Python's interface turns functions into void *, so -Wpedantic is not for it.
link_python = $(CC) $(CPPFLAGS_ALL) -isystem $(PYTHON_INCLUDE) $(filter-out -Wpedantic,$(WARNINGS)) $(CFLAGS_ALL) $(LDFLAGS_ALL) -shared \
    -o $(1) $(PYTHON_EXTENSION) -L$(BUILD) -lkjit
$(BUILD)/python/kjit/_kjit.abi3.so: $(PYTHON_EXTENSION) $(wildcard python/src/*.h) include/kjit.h $(PYTHON_PACKAGE) $(BUILD)/libkjit.so
	@mkdir -p $(@D)
	@echo "PY   $@"
	@cp $(PYTHON_PACKAGE) $(@D)
	@$(call link_python,$@) -Wl,-rpath,$(abspath $(BUILD))

# Manual pages, of what the command and the header say.
man: $(BUILD)/man/kjit.1 $(BUILD)/man/kjit.3 ## write the manual pages kjit(1) and kjit(3) in $(BUILD)/man

$(BUILD)/man/kjit.1: $(BUILD)/kjit tools/reference.py
	@mkdir -p $(@D)
	@tools/reference.py command $< > $@

$(BUILD)/man/kjit.3: include/kjit.h tools/reference.py
	@mkdir -p $(@D)
	@tools/reference.py man $< > $@

# What kjit.h declares, for who makes a binding (samples/bindings).
$(BUILD)/api.json: include/kjit.h tools/api.py tools/reference.py
	@mkdir -p $(@D)
	@tools/api.py json $< > $@

# The static library needs what Libs.private names; `pkg-config --static` gives it.
RT_LIBS = -lm -ldl -pthread
STATIC_LIBS = $(GUARDED_NEW) $(if $(CROSS),$(patsubst -L$(SYSROOT)%,-L%,$(LIBS)),$(LIBS)) -lstdc++ -pthread
COMPLETIONS = bash:bash-completion/completions/kjit zsh:zsh/site-functions/_kjit fish:fish/vendor_completions.d/kjit.fish
INSTALLED = $(PREFIX)/bin/kjit $(PREFIX)/include/kjit.h $(PREFIX)/include/kjit.hpp $(LIBDIR)/libkjit.a $(LIBDIR)/libkjit-rt.a $(LIBDIR)/libkjit.so $(LIBDIR)/libkjit.so.0 \
    $(FOREIGN:%=$(LIBDIR)/libkjit-%.so.0) $(LIBDIR)/pkgconfig/kjit.pc $(LIBDIR)/pkgconfig/kjit-rt.pc $(CMAKEDIR)/kjit-config.cmake $(CMAKEDIR)/kjit-config-version.cmake \
    $(PREFIX)/share/man/man1/kjit.1 $(PREFIX)/share/man/man3/kjit.3 $(PREFIX)/share/kjit/api.json $(STD:%=$(PREFIX)/share/kjit/%) \
    $(foreach shell,$(COMPLETIONS),$(PREFIX)/share/$(lastword $(subst :, ,$(shell))))

install: all man $(BUILD)/api.json ## install the command, the libraries, kjit.h, manual pages, completions, files for pkg-config and CMake (PREFIX, DESTDIR)
	install -d $(addprefix $(DESTDIR),$(sort $(dir $(INSTALLED))))
	install -m 755 $(BUILD)/kjit $(DESTDIR)$(PREFIX)/bin/kjit
ifeq ($(SAN),)
	$(call link_command,$(DESTDIR)$(PREFIX)/bin/kjit,$$ORIGIN/$(shell realpath -ms --relative-to=$(PREFIX)/bin $(LIBDIR)))
endif
	install -m 644 $(BUILD)/api.json $(DESTDIR)$(PREFIX)/share/kjit
	install -m 644 $(STD) $(DESTDIR)$(PREFIX)/share/kjit/std
	install -m 644 include/kjit.h include/kjit.hpp $(DESTDIR)$(PREFIX)/include
	install -m 644 $(BUILD)/libkjit.a $(BUILD)/libkjit-rt.a $(DESTDIR)$(LIBDIR)
	install -m 755 $(BUILD)/libkjit.so.0 $(FOREIGN_LIBRARY) $(DESTDIR)$(LIBDIR)
	$(CROSS)strip -g $(DESTDIR)$(LIBDIR)/libkjit-rt.a
	$(CROSS)strip -g $(DESTDIR)$(PREFIX)/bin/kjit $(DESTDIR)$(LIBDIR)/libkjit.so.0 $(FOREIGN:%=$(DESTDIR)$(LIBDIR)/libkjit-%.so.0) # LLVM's; old valgrinds cannot read it
	ln -sf libkjit.so.0 $(DESTDIR)$(LIBDIR)/libkjit.so
	install -m 644 $(BUILD)/man/kjit.1 $(DESTDIR)$(PREFIX)/share/man/man1/kjit.1
	install -m 644 $(BUILD)/man/kjit.3 $(DESTDIR)$(PREFIX)/share/man/man3/kjit.3
	for shell in $(COMPLETIONS); do \
	    $(KJIT_WRAPPER) $(BUILD)/kjit completions $${shell%%:*} > $(DESTDIR)$(PREFIX)/share/$${shell#*:}; done
	include=$$(realpath -ms --relative-to=$(LIBDIR) $(PREFIX)/include); \
	for file in kjit-config kjit-config-version; do \
	    sed -e 's|@VERSION@|$(VERSION)|' -e "s|@INCLUDEDIR@|$$include|" -e 's|@LIBS@|$(STATIC_LIBS)|' -e 's|@RT_LIBS@|$(RT_LIBS)|' \
	        tools/$$file.cmake > $(DESTDIR)$(CMAKEDIR)/$$file.cmake; done
	printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'includedir=$${prefix}/include' '' 'Name: kjit' \
	    'Description: Compile and launch array kernels at run time' 'Version: $(VERSION)' \
	    'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lkjit' 'Libs.private: $(STATIC_LIBS)' \
	    > $(DESTDIR)$(LIBDIR)/pkgconfig/kjit.pc
	printf '%s\n' 'prefix=$(PREFIX)' 'libdir=$(LIBDIR)' 'includedir=$${prefix}/include' '' 'Name: kjit-rt' \
	    'Description: Launch array kernels that were compiled ahead of time' 'Version: $(VERSION)' \
	    'Cflags: -I$${includedir}' 'Libs: -L$${libdir} -lkjit-rt $(RT_LIBS)' \
	    > $(DESTDIR)$(LIBDIR)/pkgconfig/kjit-rt.pc

uninstall: ## remove what install put there
	rm -f $(addprefix $(DESTDIR),$(INSTALLED))
	-rmdir $(DESTDIR)$(CMAKEDIR) $(DESTDIR)$(PREFIX)/share/kjit/std $(DESTDIR)$(PREFIX)/share/kjit

# kjit, libkjit0, libkjit0-cross, libkjit-dev and, with python3-dev, python3-kjit, by Debian's own tools
DEB_PYTHON = $(BUILD)/deb/tree/usr/lib/python3/dist-packages/kjit
deb: all man $(BUILD)/api.json ## make Debian packages, in $(BUILD)/deb
	@rm -rf $(BUILD)/deb
	@$(MAKE) BUILD=$(BUILD) DESTDIR=$(BUILD)/deb/tree PREFIX=/usr \
	    LIBDIR=/usr/lib/$$(dpkg-architecture -qDEB_HOST_MULTIARCH) install > $(BUILD)/deb.log
ifneq ($(PYTHON_INCLUDE),)
	@mkdir -p $(DEB_PYTHON)
	@cp $(PYTHON_PACKAGE) $(DEB_PYTHON)
	@$(call link_python,$(DEB_PYTHON)/_kjit.abi3.so)
endif
	@tools/deb.sh $(BUILD)/deb/tree $(BUILD)/deb $(VERSION)
	@rm -rf $(BUILD)/deb/tree

lint: $(LIB_OBJECTS) $(FOREIGN_LOADED) $(BUILD)/gen/mathlib.inc $(BUILD)/gen/std.inc $(BUILD)/gen/identity.h ## layers, warnings as errors (gcc and clang), budgets, formatting
	@CHECK='$(CPPFLAGS_LIB) $(WARNINGS) -std=c17 -pthread' CC=$(CC) BUILD=$(BUILD) tools/lint.sh

format: ## lay the sources out as .clang-format says
	@clang-format -i $(C_FILES)

clean: ## remove what was built
	rm -rf $(BUILD)

include gpu/gpu.mk

# ---- Building: each rule names its targets, so which one makes a file does not depend on what there is already ----

# The command has the compiler from the shared library, which it finds beside itself or, installed, by the way there; with
# sanitizers it is one whole program.
link_command = $(CC) $(LDFLAGS_ALL) -o $(1) $(CLI_OBJECTS) -L$(BUILD) -lkjit -Wl,-rpath,'$(2)' $(JANSSON) -lm

ifeq ($(SAN),)
$(BUILD)/kjit: $(CLI_OBJECTS) $(BUILD)/libkjit.so
	@echo "LINK $@"
	@$(call link_command,$@,$$ORIGIN)
else
$(BUILD)/kjit: $(CLI_OBJECTS) $(BUILD)/libkjit.a
	@echo "LINK $@"
	@$(CXX) $(LDFLAGS_ALL) $(GUARDED_NEW) -o $@ $^ $(LIBS) $(JANSSON)
endif

$(BUILD)/libkjit.a: $(LIB_OBJECTS)
	@echo "AR   $@"
	@rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/libkjit-rt.a: $(RT_OBJECTS)
	@echo "AR   $@"
	@rm -f $@ && $(AR) rcs $@ $^

$(BUILD)/libkjit.so: $(SHARED_OBJECTS) $(BUILD)/gen/kjit.map $(FOREIGN:%=$(BUILD)/gen/foreign.ld)
	@echo "LINK $@"
	@$(CXX) $(LDFLAGS_ALL) $(LIBRARY_LDFLAGS) -shared $(NO_UNDEFINED) -Wl,-z,nodelete -Wl,-soname,libkjit.so.0 $(FOREIGN:%=-Wl,-rpath,'$$ORIGIN') $(EXPORTS) \
	    -o $@.0 $(SHARED_OBJECTS) $(LIBS)
	@ln -sf $(@F).0 $@

# What is exported: the C API, and for the library beside this one names of LLVM's that are this build's own.
$(BUILD)/gen/kjit.map: tools/kjit.map $(BUILD)/gen/identity.h $(FOREIGN:%=$(BUILD)/gen/foreign.ld)
	@cp $< $@
ifneq ($(FOREIGN),)
	@echo "KJIT_LLVM_$$(cat $(BUILD)/gen/identity.h $(BUILD)/gen/foreign.names | sha256sum | cut -c1-16) { global: kj_llvm_*; };" >> $@

$(BUILD)/gen/foreign.ld $(BUILD)/gen/foreign.names &: tools/foreign.sh $(FOREIGN_ARCHIVES) $(BUILD)/flags | check-llvm
	@mkdir -p $(BUILD)/gen
	@tools/foreign.sh $(CROSS)nm $(BUILD)/gen $(FOREIGN_ARCHIVES) -- $(addprefix $(if $(CROSS),$(SYSROOT)),$(filter-out %/libLLVM$(FOREIGN_NAME)%.a, \
	    $(shell $(LLVM_CONFIG) --link-static --libfiles $(LLVM_COMPONENTS)))) $(shell $(CXX) -print-file-name=libstdc++.a)

$(FOREIGN_LIBRARY): $(FOREIGN_ARCHIVES) $(BUILD)/gen/foreign.names $(BUILD)/libkjit.so
	@echo "LINK $@"
	@mkdir -p $(BUILD)/gen/foreign
	@echo '{ global: LLVMInitialize$(FOREIGN_NAME)*; local: *; };' > $(BUILD)/gen/foreign.map
	@for archive in $(FOREIGN_ARCHIVES); do \
	    $(CROSS)objcopy --redefine-syms=$(BUILD)/gen/foreign.names $$archive $(BUILD)/gen/foreign/$${archive##*/} || exit 1; done
	@$(CC) $(LDFLAGS_ALL) -shared $(NO_UNDEFINED) -Wl,-z,nodelete -Wl,-soname,$(@F) -Wl,--version-script=$(BUILD)/gen/foreign.map \
	    $(foreach part,TargetInfo Target TargetMC AsmPrinter,-Wl,--undefined=LLVMInitialize$(FOREIGN_NAME)$(part)) -o $@ \
	    -Wl,--start-group $(addprefix $(BUILD)/gen/foreign/,$(notdir $(FOREIGN_ARCHIVES))) -Wl,--end-group -L$(BUILD) -lkjit -lm
	@rm -r $(BUILD)/gen/foreign
endif

$(BUILD)/gen/knl.tab.c $(BUILD)/gen/knl.tab.h &: grammar/knl.y | check-llvm
	@mkdir -p $(BUILD)/gen
	@echo "BISON $<"
	@bison -Werror -Wcounterexamples -o $(BUILD)/gen/knl.tab.c --header=$(BUILD)/gen/knl.tab.h $<

$(BUILD)/gen/knl.lex.c: grammar/knl.l | check-llvm
	@mkdir -p $(BUILD)/gen
	@echo "FLEX $<"
	@flex -o $@ $<

$(GENERATED:.c=.o): %.o: %.c $(BUILD)/gen/knl.tab.h $(BUILD)/flags
	@$(CC) $(CPPFLAGS_LIB) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(CLI_OBJECTS): $(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo "CC   $<"
	@$(CC) $(CPPFLAGS_ALL) $(WARNINGS) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

$(OWN_OBJECTS) $(ABSENT_OBJECTS): $(BUILD)/obj/%.o: %.c $(BUILD)/flags | check-llvm $(if $(wildcard grammar/knl.y),$(BUILD)/gen/knl.tab.h)
	@mkdir -p $(@D)
	@echo "CC   $<"
	@$(CC) $(CPPFLAGS_LIB) $(WARNINGS) $(CFLAGS_ALL) -MMD -MP -c -o $@ $<

# LLVM's headers are built as LLVM is: without exceptions, types at run time and sanitizers.
$(PASSES:%.cc=$(BUILD)/obj/%.o): $(BUILD)/obj/%.o: %.cc $(BUILD)/flags | check-llvm
	@mkdir -p $(@D)
	@echo "C++  $<"
	@$(CXX) $(CPPFLAGS_LIB) -Wall -Wextra -Wpedantic -Wshadow -std=c++17 -fno-exceptions -fno-rtti -fvisibility-inlines-hidden \
	    $(filter-out -std=% -fsanitize=%,$(CFLAGS_ALL)) -MMD -MP -c -o $@ $<

check-llvm:
	@[ -n "$(LLVM_CONFIG)" ] || { echo "kjit: LLVM 19 to 22 was not found: run 'make deps'" >&2; exit 1; }
	@[ -n "$(LIBCLC)" ] || { echo "kjit: libclc (nvptx64--.bc) was not found: run 'make deps'" >&2; exit 1; }

# The embedded math library: libclc's functions, taken apart by tools/mathlib.
$(MATHLIB_TOOL:%.c=$(BUILD)/%.o): $(BUILD)/%.o: %.c $(BUILD)/flags | check-llvm
	@mkdir -p $(@D)
	@$(HOST_CC) -D_GNU_SOURCE -isystem $(LLVM_INCLUDE) -Icompiler $(WARNINGS) -std=c17 -O1 -MMD -MP -c -o $@ $<

$(BUILD)/tools/mathlib: $(MATHLIB_TOOL:%.c=$(BUILD)/%.o)
	@echo "TOOL $@"
	@$(HOST_CXX) $(LINKER) -o $@ $^ -Wl,--gc-sections $(HOST_LLVM_LIBS) -lm -ldl -pthread

$(BUILD)/gen/mathlib.bin $(BUILD)/gen/mathlib.inc &: $(BUILD)/tools/mathlib $(LIBCLC)
	@mkdir -p $(BUILD)/gen
	@echo "MATH $(LIBCLC)"
	@$< $(LIBCLC) $(BUILD)/gen/mathlib.bin $(BUILD)/gen/mathlib.inc

$(BUILD)/gen/mathlib.o: $(BUILD)/gen/mathlib.bin
	@printf '%s\n' '.section .rodata' '.balign 16' '.globl kj_mathlib_bytes' '.hidden kj_mathlib_bytes' \
	    'kj_mathlib_bytes: .incbin "$<"' '.section .note.GNU-stack,"",@progbits' > $(@:.o=.s)
	@$(CC) -c -o $@ $(@:.o=.s)

$(BUILD)/obj/compiler/target/mathlib.o: $(BUILD)/gen/mathlib.inc

# The library's texts, each with a NUL behind it, and the list of them.
$(BUILD)/gen/std.s $(BUILD)/gen/std.inc &: $(STD) std
	@mkdir -p $(BUILD)/gen
	@{ echo '.section .rodata'; for name in $(STD:std/%.knl=%); do \
	    printf '%s\n' ".globl kj_std_$$name, kj_std_$${name}_end" ".hidden kj_std_$$name, kj_std_$${name}_end" \
	        "kj_std_$$name: .incbin \"std/$$name.knl\"" "kj_std_$${name}_end: .byte 0"; done; \
	    echo '.section .note.GNU-stack,"",@progbits'; } > $(BUILD)/gen/std.s
	@for name in $(STD:std/%.knl=%); do echo "STD($$name)"; done > $(BUILD)/gen/std.inc

$(BUILD)/gen/std.o: $(BUILD)/gen/std.s $(STD)
	@$(CC) -c -o $@ $<

$(BUILD)/obj/runtime/module/library.o: $(BUILD)/gen/std.inc

# What compiled code depends on, as one number: the compiler's sources, its math library, LLVM's archives; and how images
# hold it.
IDENTITY_FILES = $(sort $(wildcard runtime/module/image*.[ch]) runtime/module/spec_key.c $(COMPILER) $(PASSES) $(filter compiler/%,$(HEADERS)) $(wildcard compiler/*/*.def compiler/*/*/*.def) grammar/knl.l grammar/knl.y) $(BUILD)/gen/mathlib.bin

$(BUILD)/gen/identity.h: $(IDENTITY_FILES) $(BUILD)/flags
	@{ cat $(IDENTITY_FILES); $(LLVM_CONFIG) --version --libdir --link-$(LLVM_LINK) --libs; \
	    stat -Lc '%s %Y' $$($(LLVM_CONFIG) --link-$(LLVM_LINK) --libfiles $(LLVM_COMPONENTS)); } | sha256sum | \
	    sed -n 's/^\(.\{32\}\).*/#define KJ_IDENTITY "\1"/p' > $@
	@echo '#define KJ_LLVM_IS_SHARED $(if $(filter shared,$(LLVM_LINK)),1,0)' >> $@
	@echo '#define KJ_HAS_X86_64 $(if $(filter x86,$(LLVM_CPUS)),1,0)' >> $@
	@echo '#define KJ_HAS_AARCH64 $(if $(filter aarch64,$(LLVM_CPUS)),1,0)' >> $@

$(BUILD)/obj/compiler/identity.o $(BUILD)/obj/compiler/pack.o $(foreach part,foreign ptx target,$(BUILD)/obj/compiler/target/$(part).o): $(BUILD)/gen/identity.h

# What objects were compiled with: they are compiled again when it changes.
$(BUILD)/flags: FORCE
	@mkdir -p $(BUILD)
	@echo '$(CC) $(CPPFLAGS_LIB) $(CFLAGS_ALL) $(LLVM_CONFIG)' | cmp -s - $@ || \
	    echo '$(CC) $(CPPFLAGS_LIB) $(CFLAGS_ALL) $(LLVM_CONFIG)' > $@

# ---- Tests: a unit test sees the compiler's headers, an API test kjit.h and the shared library alone ----

test-programs: $(UNIT_PROGRAMS) $(INTERPRETER_PROGRAMS) $(API_PROGRAMS) $(BUILD)/tests/ulp/ulp $(DOUBLE_PROGRAMS) $(BUILD)/tests/double/libcuda.so.1 \
    $(BUILD)/api.json $(if $(SAN),,$(if $(PYTHON_INCLUDE),$(BUILD)/python/kjit/_kjit.abi3.so))

# The driver double: a library that nothing unloads, by a driver's name. The interpreter's loops are worth -O3 and
# this machine's vectors; any other model of thread-local memory in a library that comes by dlopen is more than
# LeakSanitizer can follow.
DOUBLE_VECTORS := $(if $(CROSS),,$(shell grep -qw avx2 /proc/cpuinfo && echo -mavx2))
$(DOUBLE_OBJECTS): $(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo "CC   $<"
	@$(CC) $(CPPFLAGS_ALL) $(WARNINGS) $(CFLAGS_ALL) -ftls-model=initial-exec $(if $(filter tests/double/ptx%,$*),$(if $(SANITIZE),,-O3 $(DOUBLE_VECTORS))) -MMD -MP -c -o $@ $<

$(BUILD)/tests/double/libcuda.so.1: $(DOUBLE_OBJECTS)
	@mkdir -p $(@D)
	@echo "LINK $@"
	@$(CC) $(LDFLAGS_ALL) -shared -Wl,-soname,libcuda.so.1 -Wl,-z,nodelete $(NO_UNDEFINED) -o $@ $^ -lm

$(DOUBLE_PROGRAMS): $(BUILD)/%: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	@echo "TEST $<"
	@$(CC) $(CPPFLAGS_ALL) $(WARNINGS) $(CFLAGS_ALL) -MMD -MP -MT $@ -c -o $@.o $<
	@$(CC) $(LDFLAGS_ALL) -o $@ $@.o -ldl -lm

$(UNIT_PROGRAMS): $(BUILD)/%: %.c $(BUILD)/libkjit.a
	@mkdir -p $(@D)
	@echo "TEST $<"
	@$(CC) $(CPPFLAGS_LIB) $(WARNINGS) $(CFLAGS_ALL) -MMD -MP -MT $@ -c -o $@.o $<
	@$(CXX) $(LDFLAGS_ALL) -o $@ $@.o $(BUILD)/libkjit.a $(GUARDED_NEW) $(LIBS) -lcmocka

$(INTERPRETER_PROGRAMS): $(BUILD)/%: %.c $(INTERPRETER_OBJECTS)
	@mkdir -p $(@D)
	@echo "TEST $<"
	@$(CC) $(CPPFLAGS_ALL) $(WARNINGS) $(CFLAGS_ALL) -MMD -MP -MT $@ -c -o $@.o $<
	@$(CC) $(LDFLAGS_ALL) -o $@ $@.o $(INTERPRETER_OBJECTS) -lcmocka -lm

$(API_PROGRAMS): $(BUILD)/%: %.c $(BUILD)/libkjit.so
	@mkdir -p $(@D)
	@echo "TEST $<"
	@$(CC) $(CPPFLAGS_ALL) $(WARNINGS) $(CFLAGS_ALL) -MMD -MP -MT $@ -c -o $@.o $<
	@$(CC) $(LDFLAGS_ALL) -o $@ $@.o -L$(BUILD) -lkjit -Wl,-rpath,$(abspath $(BUILD)) -lcmocka -lm

# The library of a kjit.h whose structs have more members (tests/install/versions.test): the runtime, which alone sees
# that header, is compiled with it, as fast as can be.
GROWN = $(BUILD)/grown
GROWN_OBJECTS = $(RUNTIME:%.c=$(GROWN)/obj/%.o)
$(GROWN)/include/kjit.h: include/kjit.h tests/install/data/abi.py tools/api.py tools/reference.py
	@mkdir -p $(@D)
	@tests/install/data/abi.py grown $< > $@

$(GROWN_OBJECTS): $(GROWN)/obj/%.o: $(BUILD)/obj/%.o $(GROWN)/include/kjit.h
	@mkdir -p $(@D)
	@$(CC) $(patsubst -Iinclude,-I$(GROWN)/include,$(CPPFLAGS_LIB)) $(CFLAGS_ALL) -O0 -g0 -c -o $@ $*.c

$(GROWN)/libkjit.so.0: $(GROWN_OBJECTS) $(LIB_OBJECTS) tools/kjit.map
	@echo "LINK $@"
	@$(CXX) $(LDFLAGS_ALL) $(LIBRARY_LDFLAGS) -shared $(NO_UNDEFINED) -Wl,-z,nodelete -Wl,-soname,libkjit.so.0 -Wl,--version-script=tools/kjit.map -o $@ \
	    $(GROWN_OBJECTS) $(filter-out $(RUNTIME:%.c=$(BUILD)/obj/%.o),$(LIB_OBJECTS)) $(LIBS)

$(BUILD)/tests/ulp/ulp: $(ULP) $(ULP_SHARED) tests/ulp/ulp.h $(BUILD)/libkjit.so
	@mkdir -p $(@D)
	@echo "TEST tests/ulp"
	@$(CC) $(CPPFLAGS_ALL) -I. -Icompiler $(WARNINGS) $(CFLAGS_ALL) $(LDFLAGS_ALL) -o $@ $(ULP) $(ULP_SHARED) -L$(BUILD) -lkjit \
	    -Wl,-rpath,$(abspath $(BUILD)) -lmpfr -lgmp -lm

-include $(patsubst %.o,%.d,$(LIB_OBJECTS) $(FOREIGN_LOADED) $(CLI_OBJECTS) $(MATHLIB_TOOL:%.c=$(BUILD)/%.o)) \
    $(DOUBLE_OBJECTS:.o=.d) $(DOUBLE_PROGRAMS:=.d) $(UNIT_PROGRAMS:=.d) $(INTERPRETER_PROGRAMS:=.d) $(API_PROGRAMS:=.d)
