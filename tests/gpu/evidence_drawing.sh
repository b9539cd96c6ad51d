# shellcheck shell=bash disable=SC2034,SC2154
# The part `drawing` of evidence.sh, which reads this file: its `check`, $orrery, $here, $out and $failed are used here.

# turning NAME N COMMAND: a paused system of N bodies, drawn anew in each of 100 frames because the camera turns.
turning() {
  local frame
  printf '%s\n' '0 pause' "0 $3" >"$out/$1.txt"
  for frame in {1..100}; do echo "$frame orbit 0.01 0"; done >>"$out/$1.txt"
  printf '%s\n' "101 screenshot $1.png" '101 quit' >>"$out/$1.txt"
  cd "$out" && check "$1" "$orrery" --scene collision -n "$2" --kernel cuda-tiled --size 1920x1080 --offscreen \
    --script "$1.txt" --record "$1.csv"
}

# The GPU time of drawing (draw_ms) by splats and by sprites, and whole frames with the default kernel and the panel.
run_drawing() {
  local n way recordings=()
  for way in splats sprites; do
    for n in 16k 1M 10M 50M; do
      [ $way-$n != sprites-50M ] || continue
      turning draw-$way-$n $n "appearance drawing=$way"
      recordings+=("$out/draw-$way-$n.csv")
    done
  done
  for n in 16k 1M 10M; do
    check frame-$n "$orrery" --scene collision -n $n --size 1920x1080 --offscreen --panel on --frames 300 \
      --record "$out/frame-$n.csv" --screenshot "$out/frame-$n.png"
    recordings+=("$out/frame-$n.csv")
  done
  echo '0 pause' >"$out/paused.txt"
  scripted paused-50M paused -n 50M --panel on --kernel cuda-tree --frames 120
  { echo '0 pause' && for n in $(seq 20 2 100); do echo "$n pick 0.$((n * 7 % 80 + 10)) 0.5"; done; } >"$out/picks.txt"
  scripted pick-10M picks -n 10M --kernel cuda-tree --frames 110
  for way in off mass cluster; do
    echo "0 follow $way" >"$out/follow.txt"
    scripted follow-$way follow -n 1M --kernel cuda-tree --frames 240
  done
  python3 "$here/frames.py" "${recordings[@]}" | tee "$out/drawing.txt" || failed=1
  rm -f "$out"/{paused,picks,follow}.txt
  ! command -v ffmpeg >/dev/null || films | tee -a "$out/drawing.txt"
}

# scripted NAME SCRIPT ARGUMENTS...: frames under a script, one of the `recordings`.
scripted() {
  check "$1" "$orrery" --scene collision --size 1920x1080 --offscreen --script "$out/$2.txt" --record "$out/$1.csv" "${@:3}"
  recordings+=("$out/$1.csv")
}

# Seconds of two films of a million bodies in 4K; their difference is that of 240 frames, without the start.
films() {
  local frames begin
  for frames in 60 300; do
    begin=${EPOCHREALTIME/./}
    check film-$frames "$orrery" render --scene collision -n 1M --kernel cuda-tree --frames $frames --size 3840x2160 \
      --out "$out/film.mp4" --force
    echo "film of $frames frames: $(((${EPOCHREALTIME/./} - begin) / 1000)) ms"
  done
  rm -f "$out/film.mp4"
}
