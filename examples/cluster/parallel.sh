#!/bin/sh
# The same on one machine, or several that ssh reaches, by GNU parallel: `sh parallel.sh experiments/*.toml`, with the machines in
# `machines.txt` (a line each, `:` for this one). A fit whose machine is lost is tried three times; one that ends with bad input is
# written down in fits.log with its exit code, and not tried again: the wrapper ends well then.
fit='stiction identify {} --threads 4 --resume -o fits/{/.}; code=$?; [ "$code" -le 3 ] && echo "{} $code" >> fits.log && exit 0; exit "$code"'
parallel --sshloginfile "${MACHINES:-:}" --workdir . --retries 3 --jobs 25% "$fit" ::: "$@"
