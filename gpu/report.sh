# shellcheck shell=bash disable=SC2154
# gpu-test's report: from what the items left in WORK to OUT/report.md, system.txt and logs.tar.gz. Read by gpu-test.

system() {
    echo "date: $(date -u '+%Y-%m-%d %H:%M UTC')"
    echo "kjit: $("$KJIT" --version 2>&1), $(cat "$HERE/COMMIT" 2>/dev/null)"
    echo "driver: ${KJIT_CUDA_DRIVER:-by the loader}"
    [ -z "$DOUBLE$NAMED" ] || echo "driver: NOT the machine's: results say nothing about hardware"
    echo "devices:"
    timeout 60 "$KJIT" devices 2>&1 | sed 's/^/    /'
    echo "system: $(uname -srm), $(sed -n 's/^PRETTY_NAME=//p' /etc/os-release 2>/dev/null), $(nproc) processors"
    [ ! -r /proc/driver/nvidia/version ] || sed -n 's/^NVRM version: /driver: /p' /proc/driver/nvidia/version
    local smi nvcc sanitizer
    smi=$(find_tool nvidia-smi) nvcc=$(find_tool nvcc) sanitizer=$(find_tool compute-sanitizer)
    [ -z "$smi" ] || timeout 30 "$smi" \
        --query-gpu=name,driver_version,compute_cap,memory.total,clocks.max.sm,clocks.max.mem,persistence_mode,mig.mode.current \
        --format=csv 2>&1 | sed 's/^/    /'
    [ -z "$nvcc" ] || "$nvcc" --version 2>&1 | sed -n 's/^Cuda compilation tools/nvcc/p'
    [ -z "$sanitizer" ] || "$sanitizer" --version 2>&1 | sed -n 's/^Version/compute-sanitizer/p'
    ! command -v python3 >/dev/null || for package in numba cupy triton; do
        timeout 60 python3 -c "import $package; print('$package', $package.__version__)" 2>/dev/null
    done
}

count() { cat "$WORK"/items/$1/* 2>/dev/null | grep -c "^$2"; } # part or *, status

report() {
    local part file
    echo "# kjit on $([ -n "$DOUBLE$NAMED" ] && echo 'a stand-in for the driver' || echo 'a GPU')"
    printf '\n%s passed, %s failed, %s left out; %s s\n\n' "$(count '*' pass)" "$(count '*' fail)" "$(count '*' skip)" \
        $((EPOCHSECONDS - START))
    echo '| part | passed | failed | left out |'
    echo '| --- | ---: | ---: | ---: |'
    for part in "${PARTS[@]}"; do
        [ ! -d "$WORK/items/$part" ] ||
            echo "| $part | $(count "$part" pass) | $(count "$part" fail) | $(count "$part" skip) |"
    done
    printf '\n## System\n\n```text\n'
    cat "$OUT/system.txt"
    printf '```\n'
    list fail Failed
    report_contact
    if [ -d "$WORK/items/litmus" ]; then
        printf '\n## Litmus tests\n\n| test | | seconds | |\n| --- | --- | ---: | --- |\n'
        for file in "$WORK"/items/litmus/*; do
            IFS=$'\t' read -r part seconds text <"$file" && echo "| ${file##*/} | $part | $seconds | ${text//|/\\|} |"
        done
    fi
    report_fuzz
    for file in launch code-first code-again figures processes kernels; do
        [ -r "$WORK/tables/bench-$file.md" ] || continue
        printf '\n## Benchmark: %s\n\n' "$file"
        cat "$WORK/tables/bench-$file.md"
        grep -h '^gpu-bench: .*without' "$WORK/logs/bench/$file.log" 2>/dev/null | sed 's/^/    /;1s/^/\n/'
    done
    [ ! -r "$WORK/tables/nvcc.txt" ] || printf '\nCUDA C was compiled by %s.\n' "$(cat "$WORK/tables/nvcc.txt")"
    report_left_out
    printf '\n## Slowest\n\n'
    rows pass | sort -t '|' -k 4 -rn | head -n 10 | sed '1i | part | item | seconds | |\n| --- | --- | ---: | --- |'
}
report_contact() {
    local log
    [ -d "$WORK/logs/contact" ] || return
    printf '\n## Contact\n\n```text\n'
    for log in vecadd vecadd-large info devices; do
        [ -r "$WORK/logs/contact/$log.log" ] && head -n 60 "$WORK/logs/contact/$log.log"
    done
    printf '```\n'
    [ -s "$WORK/tables/probe.txt" ] && [ -r "$HERE/probe.double" ] || return
    printf '\n## What the driver answers otherwise than the double\n\n| question | driver | double |\n| --- | --- | --- |\n'
    local question mine theirs
    while IFS=$'\t' read -r question mine; do
        theirs=$(grep -F -m 1 "$question"$'\t' "$HERE/probe.double" | cut -f 2)
        [ "$mine" = "$theirs" ] || echo "| $question | $mine | ${theirs:-not asked} |"
    done <"$WORK/tables/probe.txt"
    printf '\n%s questions were asked; codes are CUresult.\n' "$(grep -c . "$WORK/tables/probe.txt")"
}
report_fuzz() { # how many programs had which row of the language says nothing here
    [ -r "$WORK/logs/fuzz/programs.log" ] || return
    printf '\n## Generated programs\n\n```text\n'
    sed '/^coverage:/d;/^rows that/d;/^  [^ ]/d;/^$/d' "$WORK/logs/fuzz/programs.log" | head -n 200
    printf '```\n'
}
# What was left out: by its reason, and what tests of the API say that they leave out.
report_left_out() {
    local part status seconds text file
    local -A names=()
    for file in "$WORK"/items/*/*; do
        [ -r "$file" ] && IFS=$'\t' read -r status seconds text <"$file" && [ "$status" = skip ] || continue
        part=${file%/*}
        names["${part##*/}, $text"]+=" ${file##*/}"
    done
    if [ ${#names[@]} -gt 0 ]; then
        printf '\n## Left out\n\n'
        for text in "${!names[@]}"; do
            echo "- $text:${names[$text]}"
        done | sort
    fi
    grep -h 'left out' "$WORK"/items/suite/* /dev/null 2>/dev/null | grep -q . || return
    printf '\n## Tests that left something out\n\n'
    for file in "$WORK"/items/suite/*; do
        IFS=$'\t' read -r status seconds text <"$file"
        [[ $text != *'left out'* ]] || echo "- ${file##*/}: $text"
    done
}
rows() { # status
    local file part status seconds text
    for file in "$WORK"/items/*/*; do
        [ -r "$file" ] && IFS=$'\t' read -r status seconds text <"$file" && [ "$status" = "$1" ] || continue
        part=${file%/*}
        echo "| ${part##*/} | ${file##*/} | $seconds | ${text//|/\\|} |"
    done
}
list() { # status, title
    [ "$(count '*' "$1")" -gt 0 ] || return
    printf '\n## %s\n\n| part | item | seconds | what happened |\n| --- | --- | ---: | --- |\n' "$2"
    rows "$1"
}

# All that was printed, long logs without their middle, in one file of at most 14 MiB: what passed says least.
pack() {
    local log most=$((14 << 20))
    find "$WORK/logs" -type f -size +200k | while read -r log; do
        { head -c 100000 "$log"; printf '\n... cut here ...\n'; tail -c 100000 "$log"; } >"$log.cut" && mv "$log.cut" "$log"
    done
    find "$WORK/logs" -name '*.files' -prune -exec rm -rf {} +
    tar -C "$WORK" -czf "$OUT/logs.tar.gz.new" items logs tables
    if [ "$(stat -c %s "$OUT/logs.tar.gz.new")" -gt $most ]; then
        grep -l '^pass' "$WORK"/items/*/* | sed "s|^$WORK/items/||" | while read -r log; do
            rm -f "$WORK/logs/$log".*
        done
        tar -C "$WORK" -czf "$OUT/logs.tar.gz.new" items logs tables
    fi
    mv "$OUT/logs.tar.gz.new" "$OUT/logs.tar.gz"
}
save() {
    report >"$OUT/report.md.new" && mv "$OUT/report.md.new" "$OUT/report.md"
    pack
}
