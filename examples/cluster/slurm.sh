#!/bin/bash
# One identification by all processes of a job: `sbatch slurm.sh experiment.toml 'data/*.csv'`.
#
# The scheduler may take a node away or the time may be over: what is there then is kept (--resume), and the job stands in the queue
# again (--requeue), on as many processes as there are then. The result does not depend on that.
#SBATCH --job-name=identify
#SBATCH --nodes=4
#SBATCH --ntasks-per-node=16
#SBATCH --cpus-per-task=4
#SBATCH --time=02:00:00
#SBATCH --requeue
#SBATCH --open-mode=append
# SIGTERM two minutes before the end: an iteration is over by then, and `identify` ends with exit code 1.
#SBATCH --signal=TERM@120
set -u
experiment=$1
shift

srun --mpi=pmix stiction identify "$experiment" --data "$@" --threads "$SLURM_CPUS_PER_TASK" --resume -o fit
code=$?
# Stopped or not converged (1), or a node was lost: once more, from the checkpoint, unless there is none to go on from. Bad input (2)
# is not worth it.
if [ "$code" -ne 0 ] && [ "$code" -ne 2 ] && [ -f fit/checkpoint.json ]; then
  scontrol requeue "$SLURM_JOB_ID"
fi
exit "$code"
