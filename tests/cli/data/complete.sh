# What the functions of `kjit completions bash` offer.
. "$1"
cd "$(dirname "$0")" || exit 1
offer() {
    what=$1
    shift
    COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
    _kjit
    printf '%s:' "$what"
    printf ' %s' "${COMPREPLY[@]}" 
    echo
}
offer commands kjit ''
offer options kjit run --d
offer files kjit run hel
offer capsules kjit replay -
folder=$(mktemp -d)
touch "$folder/failed.kjc"
offer capsules kjit replay "$folder/f"
rm -r "$folder"
