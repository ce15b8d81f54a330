#!/bin/sh
# What `make lint` looks at: who uses whom (tools/layers.py), whether each header can stand alone, compilers' warnings as
# errors (gcc, and clang where it is; files that ask for a sanitizer with it too), files, functions and lines over the
# budgets (600 lines, 60 lines, 100 columns; 120 in the tables), and the layout .clang-format asks for. CHECK: the flags
# sources are compiled with. All but budgets make it fail; those are listed.
cd "$(dirname "$0")/.." || exit 1
failed=0
sources=$(git ls-files -co --exclude-standard '*.c' 2>/dev/null || find . -name '*.c')
texts=$(git ls-files -co --exclude-standard '*.c' '*.h' '*.def' '*.l' '*.y' 2>/dev/null)

# bench/ and samples of foreign code have flags of their own, samples/aot and records.c a header that kjit build makes
checked=$(printf '%s\n' $sources | grep -Ev '^(bench|tests/data|python|samples/aot)/|^tests/install/data/records\.c$')
if mpi=$(mpicc --showme:compile 2>/dev/null); then
    CHECK="$CHECK $(echo "$mpi" | sed 's/-I/-isystem/g')"
else
    checked=$(printf '%s\n' $checked | grep -v '_mpi\.c$')
fi
pkg-config --exists jansson || checked=$(printf '%s\n' $checked | grep -v '^cli/lsp/')
echo "lint: layers"
tools/layers.py "${BUILD:-build}" || failed=1

echo "lint: headers, each alone"
for header in $(printf '%s\n' $texts | grep -E '^(compiler|runtime)/.*\.h$'); do
    "${CC:-gcc}" $CHECK -Werror -x c -fsyntax-only "$header" || failed=1
done

echo "lint: what sanitizers are given"
for file in $(grep -l '__SANITIZE_' $checked); do
    "${CC:-gcc}" $CHECK -fsanitize=address -Werror -fsyntax-only "$file" || failed=1
    "${CC:-gcc}" $CHECK -fsanitize=thread -Werror -fsyntax-only "$file" || failed=1
done

for compiler in "${CC:-gcc}" clang; do
    command -v "$compiler" >/dev/null 2>&1 || { echo "lint: $compiler is not here"; continue; }
    echo "lint: $compiler"
    # optimising, for the warnings that follow values
    printf '%s\n' $checked | xargs -P "$(nproc)" -n 1 "$compiler" $CHECK -O2 -Werror -c -o /dev/null || failed=1
done

# Python's headers are neither of this standard nor free of warnings.
for header in $(ls -d /usr/include/python3.1[0-9] 2>/dev/null | tail -1); do
    echo "lint: python"
    for file in python/src/*.c; do
        "${CC:-gcc}" $(echo "$CHECK" | sed 's/-Wpedantic//') -isystem "$header" -O2 -Werror -c -o /dev/null "$file" || failed=1
    done
done

# Formats and letters depend on the locale of the program around the library: only c_locale.c calls the C library for them.
echo "lint: locale"
localised='(v?s?n?printf|v?asprintf|strto[dfl]d?|atof|v?sscanf|is(alpha|alnum|digit|space|print|xdigit|upper|lower)|to(lower|upper)|strn?casecmp|setlocale|uselocale)'
if grep -nE "(^|[^_[:alnum:]])$localised\(" $(printf '%s\n' $texts | grep -E '^(compiler|runtime)/.*\.[chly]$' | grep -v '^compiler/base/c_locale\.c$') |
    grep -vE '__attribute__|strtol\('; then
    echo "  call those of compiler/base/c_locale.h"
    failed=1
fi

echo "lint: budgets"
for file in $texts; do
    lines=$(wc -l <"$file")
    [ "$lines" -le 600 ] || echo "  $file: $lines lines (600)"
done
awk '
    FNR == 1 { limit = FILENAME ~ /\.def$/ ? 120 : 100; start = 0 }
    { text = $0; gsub(/[\200-\277]/, "", text) }
    length(text) > limit { wide[FILENAME " (" limit ")"]++ }
    /^{/ { start = FNR }
    /^}/ { if (start && FNR - start > 60) printf "  %s:%d: a function of %d lines (60)\n", FILENAME, start, FNR - start; start = 0 }
    END { for (file in wide) printf "  %s: %d lines too long\n", file, wide[file] }
' $texts | sort

if command -v clang-format >/dev/null 2>&1; then
    echo "lint: layout"
    clang-format --dry-run --Werror $(printf '%s\n' $texts | grep -E '\.[ch]$') 2>&1 |
        sed -n 's/^\([^:]*\):[0-9]*:[0-9]*: error: code should be clang-formatted.*/\1/p' | sort | uniq -c |
        sed 's/^/  /' | { ! grep .; } || failed=1
else
    echo "lint: clang-format is not here"
fi

kjit="${BUILD:-build}/kjit"
if [ -x "$kjit" ]; then
    echo "lint: layout of .knl"
    "$kjit" fmt --check samples std || failed=1
else
    echo "lint: $kjit is not here: the layout of .knl is not looked at"
fi
exit $failed
