#!/usr/bin/env bash
# Makes the picture of the domains of four ranks, on any machine with MPI: domains_picture.sh ORRERY OUT_FOLDER. As root, mpirun
# needs OMPI_ALLOW_RUN_AS_ROOT=1 and OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1.
set -euo pipefail
mkdir -p "$2"
orrery=$(realpath "$1")
cd "$2"
printf '%s\n' '0 appearance colour=domain' '30 frame-all most' '31 screenshot domains.png' '31 quit' >domains.txt
mpirun -n 4 --oversubscribe "$orrery" --fresh --scene collision -n 128k --kernel cpu-tree --size 1280x720 --offscreen \
  --steps-per-frame 8 --script domains.txt --panel off --legend on
rm domains.txt
