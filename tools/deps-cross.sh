#!/bin/sh
# What kjit is built with for another machine, and its tests run by (Debian, Ubuntu): the cross compiler and qemu are
# installed by apt-get; the other machine's packages are unpacked into a folder. Their development files would take the
# place of this machine's if they were installed. $1: the machine, as aarch64; $2: the folder; $3: LLVM's major version.
set -eu
machine=$1 sysroot=$2 version=$3
case $machine in
aarch64) debian=arm64 ;;
*) echo "kjit: no packages are known for $machine" >&2; exit 1 ;;
esac
have() { command -v "$1" >/dev/null 2>&1; }
[ -n "$version" ] || { echo "kjit: LLVM is missing: run 'make deps'" >&2; exit 1; }

root=
[ "$(id -u)" = 0 ] || root=sudo
apt() { $root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o Dpkg::Use-Pty=0 "$@"; }
tools=$(have "$machine-linux-gnu-g++" || echo "g++-$machine-linux-gnu gcc-$machine-linux-gnu"
    have "qemu-$machine" || have "qemu-$machine-static" || echo qemu-user-static)
ready="$sysroot/llvm-$version.done"
[ -n "$tools" ] || [ ! -f "$ready" ] || exit 0

if ! dpkg --print-foreign-architectures | grep -qx "$debian"; then
    $root dpkg --add-architecture "$debian"
    apt update
fi
[ -z "$tools" ] || apt install -y --no-install-recommends $tools
[ ! -f "$ready" ] || exit 0

# What is linked or loaded, with the C library that programs run by; then what only some tests have.
offered() { apt-cache policy "$1:$debian" 2>/dev/null | grep -q 'Candidate: [0-9]'; }
packages=
for name in libc6 libgcc-s1 libstdc++6 "llvm-$version-dev" "libllvm$version" libpng-dev libpng16-16 zlib1g-dev zlib1g \
    libzstd-dev libzstd1 libxxhash-dev libdlpack-dev libjansson-dev libjansson4 libcmocka-dev libcmocka0 libmpfr-dev \
    libmpfr6 libgmp-dev libgmp10 libturbojpeg0 libzip4 libbz2-1.0 liblzma5 libssl3; do
    if offered "$name"; then packages="$packages $name:$debian"
    elif offered "${name}t64"; then packages="$packages ${name}t64:$debian" # of Debian 13 and Ubuntu 24.04
    else echo "kjit: apt has no $name for $debian: going on without it"; fi
done
mkdir -p "$sysroot/debs"
(cd "$sysroot/debs" && apt-get -qq download $packages)
for deb in "$sysroot"/debs/*.deb; do
    dpkg-deb -x "$deb" "$sysroot"
done
rm -r "$sysroot/debs"
[ -d "$sysroot/usr/lib/llvm-$version/lib" ] || { echo "kjit: apt has no LLVM $version for $debian" >&2; exit 1; }
touch "$ready"
