#!/bin/sh
# CPU time of whole processes, the median of 20 runs: checking, running, running
# with compiled code in the cache, and compiling every kernel of each sample.
# KJIT: the command; CPUTIME: cputime.c's program (bench/cpu/run sets both).
set -eu
cd "$(dirname "$0")/../.."
KJIT=${KJIT:-build/kjit}
CPUTIME=${CPUTIME:-build/bench/cputime}

export KJIT_CACHE_DIR=off
echo "CPU time of a process, ms: median of 20 (min)"
"$CPUTIME" 20 "$KJIT" check samples/vecadd.knl
"$CPUTIME" 20 "$KJIT" run samples/vecadd.knl n=1000
export KJIT_CACHE_DIR="${CPUTIME%/*}/cache" # what the first runs leave there
"$CPUTIME" 20 "$KJIT" run samples/vecadd.knl n=1000
"$CPUTIME" 20 "$KJIT" run samples/matmul.knl n=64
for sample in samples/*.knl; do
    "$CPUTIME" 20 "$KJIT" build --emit=asm "$sample"
done
