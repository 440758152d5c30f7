rulerank sample --documents 4000 --features 10 --queries 60 --fold-count 1 --out-dir drawn --quiet
for part in train test; do
  sed -E "s/ ([1-47-9]|10):[^ ]*//g; s/ 5:/ body_bm25:/; s/ 6:/ title_bm25:/" drawn/Fold1/$part.txt |
    awk '{ for (i = 3; i <= NF; i++) if ($i ~ /bm25:/) { split($i, v, ":"); $i = v[1] ":" 20 * v[2] } print }' > $part.txt  # 0 to 20
done
cat > service.cpp <<'END'
#include <cstdio>
#include "card.h"

int main() {
  const double values[CARD_FEATURES] = {9.0, 4.0};  // in the order of card_features
  double points[CARD_FEATURES];
  std::printf("score %g\n", card_score(values, points));
  for (int f = 0; f < CARD_FEATURES; ++f) std::printf("%s %g\n", card_features[f].name, points[f]);
}
END
cat > Service.java <<'END'
class Service {
  public static void main(String[] arguments) {
    double[] values = {9.0, 4.0};  // in the order of Card.FEATURES
    double[] points = Card.contributions(values);
    System.out.println("score " + Card.score(values));
    for (int f = 0; f < points.length; ++f) System.out.println(Card.FEATURES[f] + " " + points[f]);
  }
}
END
