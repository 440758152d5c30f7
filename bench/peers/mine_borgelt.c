/* Borgelt's miners (the C sources of the Python package pyfim) on transactions in memory, the best
 * of some rounds, in seconds of the processor:
 *
 *   mine_borgelt FILE ROUNDS SUPPORT...
 *
 * FILE has FIMI's form, SUPPORT is a count. A line of JSON each support and program, options as
 * pyfim has them by default. `list_s`: filtering, recoding, mining, and every itemset with its
 * support into one array; `count_s`: the same, but itemsets are only counted by size. Making the
 * transactions, which reading would do, is in neither. `checksum` is the sum of a hash of each
 * listed itemset, its items in any order, and its support (mine_bench has the same). mine_peer.py
 * builds and runs it. */

#include "eclat.h"
#include "fpgrowth.h"
#include "relim.h"
#include "sam.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Itemsets one after the other: size, items, support. */
typedef struct {
  int* words;
  size_t used, room;
  long itemsets;
} list;

static void append(ISREPORT* report, void* data) {
  list* to = data;
  ITEM const size = isr_cnt(report);
  if (to->used + (size_t)size + 2 > to->room) {
    to->room = 2 * to->room + (size_t)size + 2;
    to->words = realloc(to->words, to->room * sizeof(int));
    if (!to->words) exit(1);
  }
  to->words[to->used++] = size;
  memcpy(to->words + to->used, isr_items(report), (size_t)size * sizeof(int));
  to->used += (size_t)size;
  to->words[to->used++] = (int)isr_supp(report);
  ++to->itemsets;
}

static size_t hash_of(void const* key, int type) {
  (void)type;
  return (size_t) * (long const*)key * 2654435761u;
}
static int differ(void const* a, void const* b, void* data) {
  (void)data;
  return *(long const*)a != *(long const*)b;
}

/* splitmix64 (Steele, Lea and Flood 2014). */
static uint64_t mixed(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* What is left of an itemset when only the checksum is wanted. */
static void add_to_checksum(ISREPORT* report, void* data) {
  uint64_t items = 0;
  for (ITEM i = 0; i < isr_cnt(report); ++i)
    items += mixed((uint64_t)(uintptr_t)isr_itemobj(report, isr_itemx(report, i)));
  *(uint64_t*)data += mixed(items + mixed((uint64_t)isr_supp(report)));
}

typedef struct {
  long* names;  /* of the items, lines one after the other */
  size_t* line; /* [lines + 1] */
  size_t lines;
} transactions;

static transactions read_fimi(char const* path) {
  FILE* in = fopen(path, "rb");
  if (!in) exit(1);
  transactions t = {NULL, malloc(sizeof(size_t)), 0};
  size_t used = 0, room = 0, line_room = 1;
  t.line[0] = 0;
  long value = -1;
  int c;
  while ((c = getc(in)) != EOF) {
    if (c >= '0' && c <= '9') {
      value = (value < 0 ? 0 : value) * 10 + (c - '0');
      continue;
    }
    if (value >= 0) {
      if (used == room) t.names = realloc(t.names, (room = 2 * room + 1024) * sizeof(long));
      t.names[used++] = value;
      value = -1;
    }
    if (c != '\n') continue;
    if (++t.lines == line_room) t.line = realloc(t.line, (line_room *= 2) * sizeof(size_t));
    t.line[t.lines] = used;
  }
  fclose(in);
  return t;
}

/* A bag, as pyfim makes one of Python's lists. */
static TABAG* bag_of(transactions const* t) {
  ITEMBASE* base = ib_create(IB_OBJNAMES, 0, hash_of, differ, NULL, NULL);
  TABAG* bag = tbg_create(base);
  for (size_t i = 0; i < t->lines; ++i) {
    ib_clear(base);
    for (size_t e = t->line[i]; e < t->line[i + 1]; ++e) ib_add2ta(base, t->names + e);
    ib_finta(base, 1);
    tbg_addib(bag);
  }
  return bag;
}

enum program { eclat, fpgrowth, sam, relim };
static char const* const names[] = {"eclat", "fpgrowth", "sam", "relim"};

/* The number of frequent itemsets of a bag, which it deletes; `visit` null: only counted. */
static long mined(enum program which, TABAG* bag, double supp, ISREPOFN* visit, void* data) {
  ISREPORT* report = NULL;
  void* miner = NULL;
  int bad = 0;
  switch (which) {
    case eclat:
      miner = eclat_create(ISR_SETS, supp, 100, 80, 1, ITEM_MAX, 0, 0, 10, ECL_OCCDLV, ECL_DEFAULT);
      bad = eclat_data(miner, bag, 0, +2);
      break;
    case fpgrowth:
      miner = fpg_create(ISR_SETS, supp, 100, 80, 1, ITEM_MAX, 0, 0, 10, FPG_SIMPLE, FPG_DEFAULT);
      bad = fpg_data(miner, bag, 0, +2);
      break;
    case sam:
      miner = sam_create(ISR_SETS, supp, 0, 1, ITEM_MAX, 0, -1, 0, 10, SAM_BSEARCH, SAM_DEFAULT);
      bad = sam_data(miner, bag, +2);
      break;
    case relim:
      miner = relim_create(ISR_SETS, supp, 0, 1, ITEM_MAX, 0, -1, 0, 10, REL_BASIC,
                           REL_DEFAULT | REL_FIM16);
      bad = relim_data(miner, bag, +2);
      break;
  }
  if (bad) exit(1); /* no frequent item: choose another support */
  report = isr_create(tbg_base(bag));
  switch (which) {
    case eclat:
      eclat_report(miner, report);
      break;
    case fpgrowth:
      fpg_report(miner, report);
      break;
    case sam:
      sam_report(miner, report);
      break;
    case relim:
      relim_report(miner, report);
      break;
  }
  if (visit)
    isr_setrepo(report, visit, data);
  else
    isr_addpsp(report, NULL);
  if (isr_setup(report) < 0) exit(1);
  switch (which) {
    case eclat:
      eclat_mine(miner, ITEM_MIN, 0);
      break;
    case fpgrowth:
      fpg_mine(miner, ITEM_MIN, 0);
      break;
    case sam:
      sam_mine(miner, 8192);
      break;
    case relim:
      relim_mine(miner, 32);
      break;
  }
  long const itemsets = (long)isr_repcnt(report);
  switch (which) {
    case eclat:
      eclat_delete(miner, 1);
      break;
    case fpgrowth:
      fpg_delete(miner, 1);
      break;
    case sam:
      sam_delete(miner, 1);
      break;
    case relim:
      relim_delete(miner, 1);
      break;
  }
  return itemsets;
}

static double cpu_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double best_of(int rounds, enum program which, transactions const* t, double supp, int lists,
                      long* itemsets) {
  double best = 1e300;
  for (int r = 0; r < rounds; ++r) {
    TABAG* bag = bag_of(t);
    list found = {NULL, 0, 0, 0};
    double const begin = cpu_s();
    *itemsets = mined(which, bag, supp, lists ? append : NULL, &found);
    double const took = cpu_s() - begin;
    if (took < best) best = took;
    free(found.words);
  }
  return best;
}

int main(int argc, char** argv) {
  if (argc < 4) {
    fprintf(stderr, "usage: mine_borgelt FILE ROUNDS SUPPORT...\n");
    return 2;
  }
  transactions const t = read_fimi(argv[1]);
  int const rounds = atoi(argv[2]);
  for (int a = 3; a < argc; ++a) {
    double const supp = -atof(argv[a]);
    for (enum program which = eclat; which <= relim; ++which) {
      uint64_t checksum = 0;
      mined(which, bag_of(&t), supp, add_to_checksum, &checksum);
      long listed = 0, counted = 0;
      double const list_s = best_of(rounds, which, &t, supp, 1, &listed);
      double const count_s = best_of(rounds, which, &t, supp, 0, &counted);
      printf(
          "{\"program\": \"%s\", \"support\": %s, \"itemsets\": %ld, \"checksum\": %llu, "
          "\"list_s\": %.6f, \"count_s\": %.6f}\n",
          names[which], argv[a], listed, (unsigned long long)checksum, list_s, count_s);
      fflush(stdout);
    }
  }
  return 0;
}
