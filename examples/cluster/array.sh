#!/bin/bash
# Many fits that know nothing of each other, one a task of an array: `sbatch --array=0-99 array.sh experiments/*.toml`.
# They need no MPI.
#SBATCH --cpus-per-task=8
#SBATCH --time=01:00:00
set -u
experiments=("$@")
experiment=${experiments[$SLURM_ARRAY_TASK_ID]}

for attempt in 1 2 3; do
  stiction identify "$experiment" --threads "$SLURM_CPUS_PER_TASK" --resume -o "fits/$(basename "$experiment" .toml)"
  code=$?
  # 0: done. 1: not converged, 2: bad input, 3: implausible: another attempt says the same.
  [ "$code" -le 3 ] && exit "$code"
  echo "attempt $attempt ended with $code" >&2
done
exit "$code"
