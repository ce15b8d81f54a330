# For BASH_ENV: a clock that stands still, and is set on when there is a file that CLOCK names, with .near or .late behind.
unset EPOCHSECONDS # an ordinary variable from now on
EPOCHSECONDS=1000
set -T # the trap is for functions, too
trap '[ ! -e "$CLOCK.near" ] || EPOCHSECONDS=35900; [ ! -e "$CLOCK.late" ] || EPOCHSECONDS=36100' DEBUG
