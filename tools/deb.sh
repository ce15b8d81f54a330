#!/bin/sh
# Debian packages of an installed tree: tools/deb.sh TREE OUT VERSION. TREE has what `make install PREFIX=/usr` puts
# there; OUT gets kjit, libkjit0, libkjit0-cross, libkjit-dev and, where TREE has the package for Python, python3-kjit, packed as
# COMPRESSION says (xz; none). What they depend on is found by dpkg-shlibdeps.
set -eu
cd "$(dirname "$0")/.."
tree=$1 out=$2 version=$3
for tool in dpkg-deb dpkg-shlibdeps dpkg-gencontrol; do
    command -v $tool >/dev/null || { echo "kjit: $tool is missing: install dpkg-dev" >&2; exit 1; }
done
arch=$(dpkg --print-architecture)
lib=usr/lib/$(dpkg-architecture -qDEB_HOST_MULTIARCH)
work=$out/work
rm -rf "$work"
mkdir -p "$work/debian"
cp tools/debian/control tools/debian/copyright "$work/debian"
date=$(date -R ${SOURCE_DATE_EPOCH:+-d @$SOURCE_DATE_EPOCH})
cat > "$work/debian/changelog" <<END
kjit ($version) unstable; urgency=medium

  * Version $version.

 -- kjit contributors <kjit@localhost>  $date
END

put() { # package, files under the tree
    package=$1
    shift
    root=$work/debian/$package
    for file in "$@"; do
        mkdir -p "$root/$(dirname "$file")"
        cp -a "$tree/$file" "$root/$file"
    done
    doc=$root/usr/share/doc/$package
    mkdir -p "$doc" "$root/DEBIAN"
    cp tools/debian/copyright "$doc"
    gzip -9n < "$work/debian/changelog" > "$doc/changelog.gz"
    find "$root/usr/share/man" -type f ! -name '*.gz' -exec gzip -9n {} + 2>/dev/null || true
    # the programs in it, without their symbols
    find "$root" -type f \( -name 'lib*.so.*' -o -name '*.abi3.so' -o -path '*/bin/*' \) -exec strip --strip-unneeded {} +
    find "$root" -name '*.a' -exec strip --strip-debug {} +
}

pack() { # package
    package=$1
    (
        cd "$work"
        programs=$(find "debian/$package" -type f \( -name 'lib*.so.*' -o -name '*.abi3.so' -o -path '*/bin/*' \))
        [ -z "$programs" ] || dpkg-shlibdeps -O --ignore-missing-info "-ldebian/libkjit0/$lib" $programs > debian/$package.substvars 2>/dev/null
        dpkg-gencontrol -p"$package" -Pdebian/$package -Tdebian/$package.substvars >/dev/null
    )
    chmod -R u+w,go=rX "$work/debian/$package"
    for script in "$work/debian/$package/DEBIAN/postinst" "$work/debian/$package/DEBIAN/prerm"; do
        [ ! -f "$script" ] || chmod 755 "$script"
    done
    dpkg-deb "-Z${COMPRESSION:-xz}" --root-owner-group --build "$work/debian/$package" "$out/${package}_${version}_$arch.deb" >/dev/null
    echo "$out/${package}_${version}_$arch.deb"
}

put libkjit0 "$lib/libkjit.so.0"
echo "libkjit 0 libkjit0 (>= $version)" > "$work/debian/libkjit0/DEBIAN/shlibs"
printf 'activate-noawait ldconfig\n' > "$work/debian/libkjit0/DEBIAN/triggers"
set -- libkjit0 libkjit-dev kjit
for foreign in "$tree/$lib"/libkjit-*.so.0; do # not where LLVM is a library itself
    [ -f "$foreign" ] || continue
    put libkjit0-cross "$lib/${foreign##*/}"
    set -- "$@" libkjit0-cross
done
put libkjit-dev "$lib/libkjit.so" "$lib/libkjit.a" "$lib/libkjit-rt.a" "$lib/pkgconfig/kjit.pc" "$lib/pkgconfig/kjit-rt.pc" "$lib/cmake/kjit/kjit-config.cmake" \
    "$lib/cmake/kjit/kjit-config-version.cmake" usr/include/kjit.h usr/include/kjit.hpp \
    usr/share/man/man3/kjit.3 usr/share/kjit/api.json
put kjit usr/bin/kjit usr/share/man/man1/kjit.1 usr/share/kjit/std usr/share/bash-completion usr/share/zsh usr/share/fish
python=usr/lib/python3/dist-packages
if [ -d "$tree/$python/kjit" ]; then
    put python3-kjit $python/kjit
    mkdir "$work/debian/python3-kjit/$python/kjit-$version.dist-info"
    printf 'Metadata-Version: 2.1\nName: kjit\nVersion: %s\nRequires-Python: >=3.10\n' "$version" \
        > "$work/debian/python3-kjit/$python/kjit-$version.dist-info/METADATA"
    # compiled for the machine's own Python as it is installed, as Debian's packages are
    printf '#!/bin/sh\nset -e\n[ "$1" != configure ] || ! command -v py3compile >/dev/null || py3compile -p python3-kjit\n' \
        > "$work/debian/python3-kjit/DEBIAN/postinst"
    printf '#!/bin/sh\nset -e\n! command -v py3clean >/dev/null || py3clean -p python3-kjit\n' > "$work/debian/python3-kjit/DEBIAN/prerm"
    set -- "$@" python3-kjit
fi
for package in "$@"; do
    pack $package
done
rm -rf "$work"
