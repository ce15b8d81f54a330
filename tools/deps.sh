#!/bin/sh
# Installs what kjit is built and tested with: quick and silent when all is there, else by apt-get, as root or through
# sudo. Elsewhere than on Debian and its kin it says what is missing and fails.
set -eu
cd "$(dirname "$0")/.."

have() { command -v "$1" >/dev/null 2>&1; }
header() { echo "#include <$1>" | "${CC:-gcc}" -x c -E - >/dev/null 2>&1; }
# libclc beside LLVM, or in the place that Debian's versions of it share
math_library() { # prefix, version
    [ -f "$1/lib/clc/nvptx64--.bc" ] || [ -f /usr/share/clc/nvptx64--.bc ] ||
        { [ -f /usr/lib/clc/nvptx64--.bc ] &&
            { ! have dpkg-query || dpkg-query -W "libclc-$2" >/dev/null 2>&1; }; }
}

# Everything the build and the tests use, by what shows that it is there.
missing() {
    for tool in gcc g++ make flex bison python3 pkg-config; do
        have $tool || echo $tool
    done
    if have "${CC:-gcc}"; then
        header png.h || echo libpng-dev
        header zlib.h || echo zlib1g-dev
        header zstd.h || echo libzstd-dev
        header mpfr.h || echo libmpfr-dev
        header xxhash.h || echo libxxhash-dev
        header dlpack/dlpack.h || echo libdlpack-dev
        # cmocka.h wants other headers before it
        [ -n "$(ls /usr/include/cmocka.h /usr/local/include/cmocka.h 2>/dev/null)" ] || echo libcmocka-dev
    else
        echo libpng-dev zlib1g-dev libzstd-dev libmpfr-dev libxxhash-dev libdlpack-dev libcmocka-dev
    fi
    # for timeouts in lit; tests/run takes whichever Python has it
    { python3 -c 'import psutil' || /usr/bin/python3 -c 'import psutil'; } 2>/dev/null || echo python3-psutil
    config=$(tools/find-llvm.sh "${LLVM_LINK:-static}" || true)
    if [ -z "$config" ]; then
        echo llvm-dev llvm-tools libclc
        return
    fi
    bin=$("$config" --bindir)
    [ -x "$bin/FileCheck" ] && { [ -e "$bin/lit" ] || [ -e "$bin/../build/utils/lit/lit.py" ] || have lit; } ||
        echo llvm-tools
    math_library "$("$config" --prefix)" "$("$config" --version | cut -d. -f1)" || echo libclc
}

# What is optional: a linker that takes a third of the others' time, LLVM's own where apt has it; and what some tests
# use, which are left out without it: of the sample over MPI; of a program with a comma in its numbers; JPEG pictures
# (Ubuntu's name has no 0); archives (the newer the system, the higher libzip's number); of .knl in an editor. Without
# jansson there is no `kjit lsp`, without python3-dev no package for Python, whose tests want NumPy, and pip to install it;
# without Python-Markdown no `make site`.
library() { (ldconfig -p || /sbin/ldconfig -p) 2>/dev/null | grep -q "$1"; }
llvm=$(tools/find-llvm.sh "${LLVM_LINK:-static}" || true)
wanted=$(have ld.lld || [ -x "$(${llvm:-false} --bindir)/ld.lld" ] || echo lld
    have mpicc || echo libopenmpi-dev openmpi-bin; [ -f /usr/share/i18n/locales/de_DE ] || echo locales
    library libturbojpeg.so.0 || echo libturbojpeg0; library 'libzip.so.[45]' || echo libzip4; have vim || echo vim
    header jansson.h || echo libjansson-dev
    [ -n "$(ls /usr/include/python3.1[0-9]/Python.h 2>/dev/null)" ] || echo python3-dev
    /usr/bin/python3 -c 'import numpy' 2>/dev/null || echo python3-numpy
    /usr/bin/python3 -c 'import markdown' 2>/dev/null || echo python3-markdown
    /usr/bin/python3 -c 'import setuptools, wheel, pip' 2>/dev/null || echo python3-setuptools python3-wheel python3-pip)
need=$(missing | tr '\n' ' ')
[ -n "$need$wanted" ] || exit 0
if ! have apt-get; then
    [ -n "$need" ] || exit 0
    echo "kjit: these are missing: $need" >&2
    echo "kjit: LLVM must be one of 22, 21, 20 and 19, libclc of the same version; install them and run make again" >&2
    exit 1
fi
root=
if [ "$(id -u)" != 0 ]; then
    [ -n "$need" ] || sudo -n true 2>/dev/null || exit 0
    have sudo || { echo "kjit: missing: $need; run tools/deps.sh as root" >&2; exit 1; }
    root=sudo
    sudo -n true 2>/dev/null && root="sudo -n"
fi
apt() { $root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@"; }

echo "kjit: installing: $need$wanted"
apt update || [ -z "$need" ] || exit 1
offered() { apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [0-9]'; }

# The newest LLVM of which apt has all parts; one that is installed already is kept.
version=
[ -z "$llvm" ] || version=$("$llvm" --version | cut -d. -f1)
for v in 22 21 20 19; do
    [ -z "$version" ] || break
    offered llvm-$v-dev && offered llvm-$v-tools && offered libclc-$v && version=$v
done

offered libturbojpeg0 || wanted=$(echo "$wanted" | sed 's/libturbojpeg0/libturbojpeg/')
for name in libzip4t64 libzip5; do
    ! offered $name || wanted=$(echo "$wanted" | sed "s/libzip4/$name/")
done
! offered "lld-$version" || wanted=$(echo "$wanted" | sed "s/lld/lld-$version/")
[ -z "$wanted" ] || apt install -y --no-install-recommends $wanted || echo "kjit: going on without $wanted"
[ -n "$need" ] || exit 0
[ -n "$version" ] || { echo "kjit: apt has none of LLVM 22, 21, 20 and 19 with libclc" >&2; exit 1; }

packages=
for name in $need; do
    case $name in
    llvm-dev) packages="$packages llvm-$version-dev" ;;
    llvm-tools) packages="$packages llvm-$version-tools" ;;
    libclc) packages="$packages libclc-$version" ;;
    *) packages="$packages $name" ;;
    esac
done
apt install -y --no-install-recommends $packages

left=$(missing | tr '\n' ' ')
[ -z "$left" ] || { echo "kjit: still missing after the installation: $left" >&2; exit 1; }
