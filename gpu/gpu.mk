# The bundle for a machine that has a GPU and its driver but no packages: docs/gpu/README.md. The command needs libc and
# libm alone, of the version this machine has or newer; the library also what lies beside it (Debian's libpng.a cannot
# be part of a shared library).
#
#   WITH_DOUBLE=1   with the driver double, to try the bundle where there is no GPU
#                   (kjit-gpu-bundle-double.tar.gz)
#   NVCC=            without nvcc's kernels, which take over a minute to build
#   GPU_TESTS="a p"  of the tests of the API those alone that begin so, to try the bundle

GPU = $(BUILD)/gpu
GPU_STATIC_LIBS = $(patsubst -lpng,-l:libpng.a,$(patsubst -lz,-l:libz.a,$(patsubst -lzstd,-l:libzstd.a,$(LIBS))))
GPU_LDFLAGS = $(LDFLAGS_ALL) $(GUARDED_NEW) -s -static-libstdc++ -static-libgcc
GPU_TESTS =
GPU_API = $(filter $(if $(GPU_TESTS),$(GPU_TESTS:%=$(GPU)/api/%%),%),$(API_PROGRAMS:$(BUILD)/tests/api/%=$(GPU)/api/%))
GPU_BENCH = $(GPU)/gpu-bench $(GPU)/gpu-launch $(GPU)/gpu-figures $(GPU)/gpu-compare $(GPU)/gpu-probe

gpu-bundle: $(GPU)/kjit $(GPU)/libkjit.so $(GPU_API) $(GPU_BENCH) $(BUILD)/tests/double/libcuda.so.1 ## pack kjit and its tests for a machine with a GPU
	@BUILD=$(BUILD) WITH_DOUBLE=$(WITH_DOUBLE) $(if $(filter command,$(origin NVCC)),NVCC='$(NVCC)') CC=$(CC) gpu/bundle $(notdir $(GPU_API))

$(GPU)/kjit: $(CLI_OBJECTS) $(BUILD)/libkjit.a
	@mkdir -p $(@D)
	@echo "LINK $@"
	@$(CXX) $(GPU_LDFLAGS) -no-pie -o $@ $^ $(GPU_STATIC_LIBS) $(JANSSON:-ljansson=-l:libjansson.a)

$(GPU)/libkjit.so: $(LIB_OBJECTS) tools/kjit.map
	@mkdir -p $(@D)
	@echo "LINK $@"
	@$(CXX) $(GPU_LDFLAGS) -shared $(NO_UNDEFINED) -Wl,-soname,libkjit.so.0 -Wl,--version-script=tools/kjit.map \
	    -Wl,-rpath,'$$ORIGIN' -o $@.0 $(LIB_OBJECTS) $(LIBS)
	@ln -sf $(@F).0 $@

$(GPU_API): $(GPU)/api/%: $(BUILD)/tests/api/% $(GPU)/libkjit.so
	@mkdir -p $(@D)
	@$(CC) $(LDFLAGS_ALL) -s -o $@ $<.o -L$(GPU) -lkjit -Wl,-rpath,'$$ORIGIN/../../lib' -lcmocka -lm

GPU_BENCH_FLAGS = $(CPPFLAGS_ALL) $(WARNINGS) -std=c17 -O2
GPU_LINK = $(CC) $(GPU_BENCH_FLAGS) $(LDFLAGS_ALL) -s -o $@ $(filter %.c,$^) -L$(GPU) -lkjit -Wl,-rpath,'$$ORIGIN/../lib' -lm -ldl
GPU_BENCH_SOURCES = bench/gpu/driver.c bench/common.c bench/common.h $(wildcard bench/gpu/*.h)
GPU_SIDES = $(filter-out bench/gpu/launch.c bench/gpu/figures.c bench/gpu/driver.c,$(wildcard bench/gpu/*.c))

$(GPU)/gpu-bench: $(GPU_SIDES) $(GPU_BENCH_SOURCES) $(GPU)/libkjit.so
	@echo "LINK $@"
	@$(GPU_LINK)

$(GPU)/gpu-launch: bench/gpu/launch.c $(GPU_BENCH_SOURCES) $(GPU)/libkjit.so
	@echo "LINK $@"
	@$(GPU_LINK)

$(GPU)/gpu-figures: bench/gpu/figures.c $(GPU_BENCH_SOURCES) $(GPU)/libkjit.so
	@echo "LINK $@"
	@$(GPU_LINK)

$(GPU)/gpu-compare: gpu/compare.c $(GPU)/libkjit.so
	@echo "LINK $@"
	@$(GPU_LINK)

$(GPU)/gpu-probe: gpu/probe.c
	@mkdir -p $(@D)
	@echo "LINK $@"
	@$(CC) $(GPU_BENCH_FLAGS) $(LDFLAGS_ALL) -s -o $@ $^ -ldl
