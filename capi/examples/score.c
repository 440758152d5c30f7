/* score MODEL < ROWS: the score of each row, its base, and what each term adds, as one line a row. A row is as many
   numbers as the model has columns, separated by blanks; `nan` is a missing value. All rows are one list. */
#include <rulerank.h>

#include <stdio.h>
#include <stdlib.h>

static void *room_for(size_t numbers) {
  void *room = malloc((numbers + 1) * sizeof(double));
  if (room == NULL) {
    fprintf(stderr, "score: out of memory\n");
    exit(RULERANK_FAILED);
  }
  return room;
}

/* The numbers of standard input. */
static double *read_values(size_t *count) {
  size_t room = 1024;
  double *values = room_for(room);
  *count = 0;
  while (scanf("%lf", &values[*count]) == 1)
    if (++*count == room) {
      double *more = realloc(values, (room *= 2) * sizeof(double));
      if (more == NULL) exit(RULERANK_FAILED);
      values = more;
    }
  return values;
}

int main(int argc, char **argv) {
  char error[256];
  rulerank_model *model;
  rulerank_code code;
  double *values, *scores, *base, *added;
  size_t count, rows, columns, terms, d, t;

  if (argc != 2) {
    fprintf(stderr, "usage: score MODEL < ROWS\n");
    return RULERANK_USAGE;
  }
  code = rulerank_model_read(argv[1], &model, error, sizeof error);
  if (code != RULERANK_OK) {
    fprintf(stderr, "score: %s\n", error);
    return code;
  }
  columns = rulerank_model_columns(model);
  terms = rulerank_model_terms(model);
  values = read_values(&count);
  rows = columns == 0 ? 0 : count / columns;
  scores = room_for(rows);
  base = room_for(rows);
  added = room_for(rows * terms);

  code = rulerank_score_double(model, values, rows, columns, columns, NULL, 0, scores, error, sizeof error);
  if (code == RULERANK_OK)
    code = rulerank_explain_double(model, values, rows, columns, columns, NULL, 0, base, added, error,
                                   sizeof error);
  if (code != RULERANK_OK) fprintf(stderr, "score: %s\n", error);
  for (d = 0; code == RULERANK_OK && d < rows; ++d) {
    printf("%.17g %.17g", scores[d], base[d]);
    for (t = 0; t < terms; ++t) printf(" %.17g", added[d * terms + t]);
    printf("\n");
  }
  free(added);
  free(base);
  free(scores);
  free(values);
  rulerank_model_free(model);
  return code;
}
