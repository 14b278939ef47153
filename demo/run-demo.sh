#!/usr/bin/env bash
# The demo of ./run demo: sums, histograms and filters of real pictures and a real video, on the GPU if there is one.
# Files go to out/demo.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
areal=${AREAL:-$PWD/build/demo/apps/areal/areal}
clip=data/vtest.avi
picture=data/rubberwhale1.png  # lossless: every decoder gives the same pixels
out=out/demo
rm -rf "$out"
mkdir -p "$out"

exec 3>&1
title() { printf '\n== %s\n' "$*"; }
# Prints the command as a user would type it, and runs it.
show() {
  printf '$ areal %s\n' "$*" >&3
  "$areal" "$@"
}

backend=cpu
if "$areal" info | grep -q '^backend *cuda *available'; then backend=cuda; fi
title "this machine"
show info
[[ $backend == cuda ]] && echo "tables and tensors are made on the GPU"

title "sums of regions of $picture"
cat >"$out/sums-regions.csv" <<'CSV'
x,y,width,height,name
0,0,100,100,corner
100,100,200,150,middle
37,11,1,1,one pixel
CSV
# One channel, so that the sum does not depend on a weighting of colours.
show sat "$picture" --channel 1 --backend "$backend" -o "$out/table.npy" --regions "$out/sums-regions.csv" >"$out/sums.csv"
cat "$out/sums.csv"
python3 demo/direct_sums.py "$picture" 1 "$out/sums.csv"
"$areal" query "$out/table.npy" --regions "$out/sums-regions.csv" | cmp - "$out/sums.csv"
echo "areal query gives the same from the saved table"
if [[ $backend == cuda ]]; then
  "$areal" sat "$picture" --channel 1 --backend cpu -o "$out/table-cpu.npy" --region 0,0,1,1 >/dev/null
  cmp "$out/table.npy" "$out/table-cpu.npy"
  echo "the GPU's table and the CPU's are the same, byte for byte"
fi

title "a photograph with regions, their means and histograms"
cat >"$out/photograph-regions.csv" <<'CSV'
x,y,width,height,name
215,85,105,100,whale
360,10,130,120,wool
150,225,150,95,ring
400,262,180,120,box
CSV
show hist "$picture" --bins 32 --backend "$backend" --regions "$out/photograph-regions.csv" --draw "$out/photograph.png" \
  >"$out/photograph-histograms.csv"

title "histograms of three regions of every frame of $clip"
cat >"$out/clip-regions.csv" <<'CSV'
x,y,width,height,name
300,120,160,200,lamp post
80,300,200,180,lawn
520,60,200,160,road
CSV
show hist "$clip" --bins 32 --backend "$backend" --regions "$out/clip-regions.csv" --draw "$out/frame.png" -v \
  >"$out/clip-histograms.csv" 2>"$out/clip.log"
echo "$(($(wc -l <"$out/clip-histograms.csv") - 1)) rows: one per frame and region"
grep 'frames per second' "$out/clip.log"
"$areal" hist "$clip" --bins 32 --backend cpu --threads 1 --regions "$out/clip-regions.csv" --algorithm serial |
  cmp - "$out/clip-histograms.csv"
echo "the serial algorithm gives the same histograms"

title "filters: a box blur, and a page made black and white by Sauvola's local threshold"
show filter mean "$picture" --size 25 --edge replicate --all-channels -o "$out/blur.png"
cp data/sudoku.png "$out/sudoku-before.png"
show filter sauvola data/sudoku.png --size 31 --k 0.1 -o "$out/sudoku-after.png"

title "where in the picture the colours are like the whale's"
show hist "$picture" --joint --bins 8 --backend "$backend" --template 218,90,90,90 --map "$out/distance.png" >"$out/nearest.csv"
tail -1 "$out/nearest.csv" | cut -d, -f2-5 | grep -qx 218,90,90,90 || { echo "the template was not found at its place"; exit 1; }
echo "the nearest window is the template's own: x 218, y 90"

title "pictures to open"
for file in photograph frame blur sudoku-before sudoku-after distance; do ls "$out/$file.png"; done
