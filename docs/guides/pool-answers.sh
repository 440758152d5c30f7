# Answers what `reduce` asks, round by round, from the judgments of the collection; what they lack is 0.
for round in $(seq 100); do
  awk -F "\t" 'NR == FNR {split($0, j, " "); grade[j[1] " " j[3]] = j[4]; next}
                FNR > 1 {$4 = grade[$3 " " $2] + 0} {OFS = FS; print}' qrels labels.tsv > answers.tsv
  tail -n +2 answers.tsv >> all.tsv
  (head -1 answers.tsv; cat all.tsv) > known.tsv
  rulerank reduce --train pairs.txt --unlabelled -1 --max-documents 30 --norm query-minmax --oracle file:known.tsv \
    --pending labels.tsv --out labelled.txt --quiet && break
done
