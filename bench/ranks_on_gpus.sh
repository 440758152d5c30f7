#!/usr/bin/env bash
# Verbs over MPI ranks on GPUs: the bytes of one process on the CPU. Usage: ranks_on_gpus.sh PROGRAM FOLDER, which takes what is drawn.
set -eu
program=$(readlink -f "$1")
mkdir -p "$2" && cd "$2"
"$program" --version
"$program" sample --documents 60000 --features 60 --queries 600 --fold-count 5 --out-dir folds --quiet
for ranks in 0 1 2 4; do
  out=of-$ranks device=cuda
  run=(mpirun --oversubscribe --bind-to none -n $ranks)
  ((ranks)) || { run=() device=cpu; }
  mkdir -p $out
  for step in reduce rank experiment; do
    case $step in
      reduce) line=(reduce --train folds/Fold1/train.txt --out $out/chosen.txt --ids $out/ids.tsv --discretizer-out $out/cuts.json) ;;
      rank) line=(rank --train $out/chosen.txt --discretizer $out/cuts.json --regroup --test folds/Fold1/test.txt --rule-size 4 --out $out/scores.txt) ;;
      experiment) line=(experiment --folds folds --out-dir $out/experiment --reduce-size 3 --rank-size 3 --baselines full --permutations 99) ;;
    esac
    begin=$EPOCHREALTIME
    "${run[@]}" "$program" "${line[@]}" --device $device --quiet >/dev/null
    echo "$step: $ranks ranks on $device, $(awk "BEGIN{print $EPOCHREALTIME - $begin}") s"
  done
  rm -f $out/experiment/manifest.json
  (cd $out && find . -type f ! -name .rulerank.lock | sort | xargs sha256sum) > sums-$ranks
  cmp sums-0 sums-$ranks && echo "$ranks ranks: $(wc -l < sums-$ranks) files as one process writes on the CPU"
done
