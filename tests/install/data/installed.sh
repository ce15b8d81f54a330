#!/bin/sh
# installed.sh ROOT BUILD PREFIX: installs kjit to PREFIX, once for all tests that leave an installation as it is.
set -eu
exec 9>"$3.lock"
flock 9
[ -e "$3.done" ] || { rm -rf "$3" && make -C "$1" BUILD="$2" PREFIX="$3" install >"$3.log" && touch "$3.done"; }
