#!/bin/sh
# The same on one machine, or on several that ssh reaches, by GNU parallel: `sh parallel.sh experiments/*.toml`. The machines are the
# lines of `machines.txt`, if it is there (`:` is this one); they see this folder under the same name. A fit whose machine is lost is
# tried three times. One that ends with bad input is written down in fits.log with its exit code, and not tried again.
fit='stiction identify {} --threads 4 --resume -o fits/{/.}; code=$?; [ "$code" -le 3 ] && echo "{} $code" >> fits.log && exit 0; exit "$code"'
where="--sshlogin :"
[ -f machines.txt ] && where="--sshloginfile machines.txt"
mkdir -p fits
# shellcheck disable=SC2086
parallel $where --workdir . --retries 3 --jobs 25% "$fit" ::: "$@"
