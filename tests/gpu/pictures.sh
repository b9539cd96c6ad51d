#!/usr/bin/env bash
# Makes the pictures of the README on a machine with a GPU: tests/gpu/pictures.sh BUILD_FOLDER OUT_FOLDER
set -euo pipefail
mkdir -p "$2"
orrery=$(realpath "$1")/bin/orrery
cd "$2"

# picture NAME SCENE N FRAMES STEPS LOOK ARGUMENTS...: the scene after FRAMES frames of STEPS steps.
picture() {
  printf '%s\n' "0 appearance $6" "$4 frame-all" "$(($4 + 1)) screenshot $1.png" "$(($4 + 1)) quit" >"$1.txt"
  "$orrery" --scene "$2" -n "$3" --size 1280x720 --offscreen --steps-per-frame "$5" --script "$1.txt" "${@:7}"
}

picture window collision 64k 300 1 'colour=speed' --panel on
picture default collision 16k 300 1 'colour=speed'
picture million collision 1M 300 3 'colour=speed'
picture spiral spiral 1M 150 10 'colour=speed'
picture cosmic-web cosmic-web 1M 150 10 'look=density map=8'
rm -f ./*.txt
