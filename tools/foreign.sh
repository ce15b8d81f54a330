#!/bin/sh
# What the library for CPUs of another family (libkjit-aarch64.so) has of LLVM from libkjit.so, under private names: foreign.sh NM OUT
# PARTS -- REST. PARTS are LLVM's archives for that family, REST the archives that libkjit.so is linked with, C++'s library among them.
# OUT/foreign.names gets a line "name kj_llvm_N" for each symbol, for objcopy; OUT/foreign.ld the options that give libkjit.so those
# names. So no name of LLVM's or C++'s is shown, which a program might have of its own, and no call within libkjit.so goes
# another way than before.
set -eu
nm=$1 out=$2
shift 2
parts= rest=
while [ "$1" != -- ]; do
    parts="$parts $1"
    shift
done
shift
rest=$*
export LC_ALL=C
$nm -u $parts 2>/dev/null | awk 'NF == 2 && $1 == "U" { print $2 }' | sort -u > "$out/foreign.wanted"
$nm --defined-only $parts 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u | comm -13 - "$out/foreign.wanted" > "$out/foreign.needed"
$nm -g --defined-only $rest 2>/dev/null | awk 'NF == 3 { print $3 }' | sort -u | comm -12 - "$out/foreign.needed" |
    awk '{ print $1, "kj_llvm_" NR }' > "$out/foreign.names"
# what the linker wraps is that for the other library, too
awk -v wrapped=" _Znwm _Znam _ZnwmSt11align_val_t _ZnamSt11align_val_t " '{
    of = (index(wrapped, " " $1 " ") ? "kj_" : "") $1
    print "-Wl,--undefined=" of
    print "-Wl,--defsym=" $2 "=" of
}' "$out/foreign.names" > "$out/foreign.ld"
rm "$out/foreign.wanted" "$out/foreign.needed"
