#!/usr/bin/env bash
# The output of ./run demo: histograms of regions of a real video, sums of regions of a real picture. Files go to
# out/demo.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
areal=${AREAL:-$PWD/build/release/apps/areal/areal}
clip=data/vtest.avi
picture=data/rubberwhale1.png  # lossless: every decoder gives the same pixels
out=out/demo
rm -rf "$out"
mkdir -p "$out"

title() { printf '\n== %s\n' "$*"; }

title "histograms of three regions of every frame of $clip, 32 bins"
cat >"$out/clip-regions.csv" <<'END'
x,y,width,height,name
300,120,160,200,lamp post
80,300,200,180,lawn
520,60,200,160,road
END
"$areal" hist "$clip" --bins 32 --regions "$out/clip-regions.csv" --draw "$out/clip-regions.png" -v \
  >"$out/clip-histograms.csv" 2>"$out/clip.log"
head -4 "$out/clip-histograms.csv" | cut -c1-110
echo "... $(($(wc -l <"$out/clip-histograms.csv") - 1)) rows in all: one per frame and region"
grep 'frames per second' "$out/clip.log"

title "the lamp post in the first frame"
# The pipe closes after one chart; areal then exits silently.
"$areal" hist "$clip" --bins 32 --region 300,120,160,200 --chart | head -33

title "sums of regions of $picture"
cat >"$out/picture-regions.csv" <<'END'
x,y,width,height,name
0,0,100,100,corner
100,100,200,150,middle
37,11,1,1,one pixel
END
# One channel, so that the sums do not depend on colour weights.
"$areal" sat "$picture" --channel 1 -o "$out/picture.npy" --regions "$out/picture-regions.csv" >"$out/picture-sums.csv"
cat "$out/picture-sums.csv"
.venv/bin/python demo/direct_sums.py "$picture" 1 "$out/picture-sums.csv"
"$areal" query "$out/picture.npy" --regions "$out/picture-regions.csv" | cmp - "$out/picture-sums.csv"
echo "areal query gives the same from the saved table"

title "what lies in $out"
(cd "$out" && ls -sh1)
