#!/bin/sh
# Prints the llvm-config of the newest LLVM that kjit can be built with (22 to 19, with headers and libraries), or
# nothing. An older LLVM that comes first on the PATH is passed over. $1: static (default) or shared libraries.
for version in 22 21 20 19; do
    for config in "llvm-config-$version" "/usr/lib/llvm-$version/bin/llvm-config"; do
        config=$(command -v "$config") || continue
        [ -f "$("$config" --includedir)/llvm-c/LLJIT.h" ] || continue
        libs=$("$config" --libdir)
        if [ "$1" = shared ]; then
            ls "$libs"/libLLVM*.so >/dev/null 2>&1 || continue
        else
            [ -f "$libs/libLLVMCore.a" ] || continue
        fi
        echo "$config"
        exit 0
    done
done
exit 1
