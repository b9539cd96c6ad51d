#!/usr/bin/env bash
# Makes the pictures of the README and of docs/ on a machine with a GPU: tests/gpu/pictures.sh BUILD_FOLDER OUT_FOLDER
set -euo pipefail
mkdir -p "$2"
orrery=$(realpath "$1")/bin/orrery
here=$(dirname "$(realpath "$0")")
cd "$2"

# picture NAME SCENE N FRAMES STEPS LOOK ARGUMENTS...: the scene after FRAMES frames of STEPS steps.
picture() {
  printf '%s\n' "0 appearance $6" "$4 frame-all most" "$(($4 + 1)) screenshot $1.png" "$(($4 + 1)) quit" >"$1.txt"
  "$orrery" --scene "$2" -n "$3" --size 1280x720 --offscreen --steps-per-frame "$5" --script "$1.txt" "${@:7}"
}

# lesson NAME NUMBER PREDICTION FRAMES COMMANDS...: the answer of a lesson, after FRAMES frames in which it is measured, with
# CPU kernels, as most people meet it.
lesson() {
  printf '%s\n' "0 lesson $2" '1 lesson-scene' "2 lesson-predict $3" '3 lesson-measure' "${@:5}" \
    "$4 lesson-page answer" "$(($4 + 20)) screenshot $1.png" "$(($4 + 20)) quit" >"$1.txt"
  CUDA_VISIBLE_DEVICES='' "$orrery" --fresh --size 1280x720 --offscreen --panel on --script "$1.txt"
}

# laboratory NAME N FRAME COMMANDS...: the window at FRAME, after commands that each begin with their frame.
laboratory() {
  printf '%s\n' "${@:4}" "$3 screenshot $1.png" "$3 quit" >"$1.txt"
  "$orrery" --scene collision -n "$2" --size 1600x900 --offscreen --panel on --script "$1.txt"
}

picture window collision 64k 200 1 'colour=speed' --panel on
picture default collision 16k 300 1 'colour=speed' --legend off
picture million collision 1M 300 3 'colour=speed' --legend off
picture spiral spiral 1M 150 10 'colour=speed' --legend off
picture cosmic-web cosmic-web 1M 150 10 'look=density map=magma' --legend off
laboratory profile 16k 120 '0 lab profile' '0 kernel cuda-naive' '30 profile' '60 kernel cuda-tiled' '90 profile'
laboratory compare 16k 600 '0 lab compare' '0 kernel cuda-symmetric' '1 compare-with cuda-fp16'
laboratory workshop 16k 120 '0 lab workshop' '0 workshop-new my-kernel cuda-tiled' '60 workshop-compile'
lesson lesson 11 3 200 '4 cells on level=4'
"$here/../benchmarks/domains_picture.sh" "$orrery" .
rm -f ./*.txt my-kernel.cu
