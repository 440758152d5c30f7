#!/usr/bin/env bash
# Checks that verbs over MPI ranks on GPUs write the bytes of one process on the CPU.
# Usage: ranks_on_gpus.sh PROGRAM FOLDER. FOLDER receives the synthetic data.
set -eu
program=$(readlink -f "$1")
mkdir -p "$2" && cd "$2"
"$program" --version
python3 - <<'P'
import random, struct
draw = random.Random(5)
with open("base.fvecs", "wb") as to:
    for _ in range(20000):
        to.write(struct.pack("<i64f", 64, *(draw.random() for _ in range(64))))
words = [f"w{n}" for n in range(5000)]
with open("docs.tsv", "w") as to:
    for d in range(20000):
        to.write(f"{d}\t{' '.join(words[int(5000 * draw.random() ** 3)] for _ in range(40))}\n")
P
"$program" sample --documents 60000 --features 60 --queries 600 --fold-count 5 --out-dir folds --quiet
for ranks in 0 1 2 4; do
  out=of-$ranks device=cuda
  run=(mpirun --oversubscribe --bind-to none -n $ranks)
  ((ranks)) || { run=() device=cpu; }
  mkdir -p $out
  for step in reduce rank experiment dense text; do
    case $step in
      reduce) line=(reduce --train folds/Fold1/train.txt --out $out/chosen.txt --ids $out/ids.tsv --discretizer-out $out/cuts.json) ;;
      rank) line=(rank --train $out/chosen.txt --discretizer $out/cuts.json --regroup --test folds/Fold1/test.txt --rule-size 4 --out $out/scores.txt) ;;
      experiment) line=(experiment --folds folds --out-dir $out/experiment --reduce-size 3 --rank-size 3 --baselines full --permutations 99) ;;
      dense) line=(search dense --collection base.fvecs --queries base.fvecs --k 20 --out $out/dense.ivecs) ;;
      text) line=(search text --collection docs.tsv --queries docs.tsv --k 20 --out $out/text.tsv) ;;
    esac
    begin=$EPOCHREALTIME
    "${run[@]}" "$program" "${line[@]}" --device $device --quiet >/dev/null
    echo "$step: $ranks ranks on $device, $(awk "BEGIN{print $EPOCHREALTIME - $begin}") s"
  done
  rm -f $out/experiment/manifest.json
  (cd $out && find . -type f ! -name .rulerank.lock | sort | xargs sha256sum) > sums-$ranks
  cmp sums-0 sums-$ranks && echo "$ranks ranks: $(wc -l < sums-$ranks) files as one process writes on the CPU"
done
