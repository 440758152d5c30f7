#include "core/aligned.hpp"
#include "core/context.hpp"
#include "core/devices.hpp"
#include "core/engine_registry.hpp"
#include "core/error.hpp"
#include "core/machine.hpp"
#include "core/message_testing.hpp"
#include "core/named_values.hpp"
#include "core/output_file.hpp"
#include "core/parallel.hpp"
#include "core/random.hpp"
#include "core/sha256.hpp"
#include "core/testing.hpp"

#include <filesystem>
#include <fstream>
#include <numeric>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <sys/wait.h>
#include <unistd.h>

namespace rulerank::inline v0::core_test {
namespace {

using rulerank::testing_tools::message_of;
using rulerank::testing_tools::says;

std::string read_all(std::string const& path) {
  std::ifstream in(path);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

TEST(parallel_for, covers_every_index_once) {
  for (int threads : {1, 2, 7}) {
    for (std::size_t n : {0, 1, 63, 64, 1000}) {
      context ctx;
      ctx.threads = threads;
      std::vector<int> seen(n);
      parallel_for(ctx, n, 7, [&](std::size_t begin, std::size_t end, int thread) {
        EXPECT_LT(thread, threads);
        for (std::size_t i = begin; i < end; ++i) ++seen[i];
      });
      EXPECT_EQ(std::accumulate(seen.begin(), seen.end(), std::size_t{0}), n);
      EXPECT_TRUE(std::all_of(seen.begin(), seen.end(), [](int s) { return s == 1; }));
    }
  }
}

TEST(parallel_for, covers_every_index_where_openmp_gives_fewer_threads) {
  context ctx;
  ctx.threads = 4;
  std::vector<int> seen(4 * 100);
  parallel_for(ctx, 4, 1, [&](std::size_t outer, std::size_t, int) {
    parallel_for(ctx, 100, 7, [&](std::size_t begin, std::size_t end, int) {  // one thread
      for (std::size_t i = begin; i < end; ++i) ++seen[outer * 100 + i];
    });
  });
  EXPECT_EQ(seen, std::vector<int>(4 * 100, 1));
}

TEST(parallel_for, begins_with_the_range_of_a_threads_number) {
  int team = 1;
#pragma omp parallel num_threads(4)
#pragma omp master
  team = omp_get_num_threads();
  if (team < 4) GTEST_SKIP() << "OpenMP gives " << team << " threads of 4";
  context ctx;
  ctx.threads = 4;
  for (int round = 0; round < 20; ++round) {
    std::vector<int> thread_of(4, -1);
    parallel_for(ctx, 20, 5, [&](std::size_t begin, std::size_t, int thread) {
      thread_of[begin / 5] = thread;
    });
    EXPECT_EQ(thread_of, (std::vector<int>{0, 1, 2, 3}));
  }
}

TEST(parallel_for, ends_with_all_ranges_below_one_that_ran) {
  for (int round = 0; round < 300; ++round) {
    std::stop_source source;
    context ctx;
    ctx.threads = 4;
    ctx.stop = source.get_token();
    std::vector<int> ran(64);
    std::size_t const last = static_cast<std::size_t>(round) % 40;
    bool const throws = round % 2 == 0;
    EXPECT_ANY_THROW(parallel_for(ctx, ran.size(), 1, [&](std::size_t i, std::size_t, int) {
      ran[i] = 1;
      if (i != last) return;
      if (throws) throw usage_error("x");
      source.request_stop();
    }));
    auto const end = std::find(ran.rbegin(), ran.rend(), 1).base();
    EXPECT_GT(end - ran.begin(), static_cast<std::ptrdiff_t>(last));
    EXPECT_EQ(std::count(ran.begin(), end, 1), end - ran.begin()) << round;
  }
}

TEST(parallel_for, throws_what_the_work_threw) {
  for (int threads : {1, 4}) {
    context ctx;
    ctx.threads = threads;
    EXPECT_THROW(parallel_for(ctx, 100, 1,
                              [](std::size_t begin, std::size_t, int) {
                                if (begin == 50) throw error({"f", 1, 2}, "x");
                              }),
                 error);
  }
}

TEST(parallel_for, stops_on_request) {
  std::stop_source source;
  context ctx;
  ctx.stop = source.get_token();
  source.request_stop();
  EXPECT_THROW(parallel_for(ctx, 10, 1, [](std::size_t, std::size_t, int) {}), interrupted);
}

TEST(error, names_the_position) {
  EXPECT_STREQ(error({"a.txt", 3, 7}, "x").what(), "a.txt:3:7: x");
  EXPECT_STREQ(error({"a.txt", 3, 0}, "x").what(), "a.txt:3:1: x");
  EXPECT_STREQ(error({"a.txt", 0, 0}, "x").what(), "a.txt: x");
}

TEST(counted, one_is_no_plural) {
  EXPECT_EQ(counted(0, "document"), "0 documents");
  EXPECT_EQ(counted(1, "document"), "1 document");
  EXPECT_EQ(counted(2, "document"), "2 documents");
  EXPECT_EQ(counted(1, "query", "queries"), "1 query");
  EXPECT_EQ(counted(21, "query", "queries"), "21 queries");
}

TEST(error, what_is_not_printable_is_quoted) {
  struct {
    char const* given;
    char const* shown;
  } const cases[] = {
      {"plain \"text\" \\ ~", "plain \"text\" \\ ~"},
      {"Grüße €\xf0\x9d\x84\x9e", "Grüße €\xf0\x9d\x84\x9e"},
      {"a\033[31mb\n\t\x7f", "a\\x1b[31mb\\x0a\\x09\\x7f"},
      {"\xc2\x9b\xc2\xa0", "\\xc2\\x9b\xc2\xa0"},  // CSI in one character; a no-break space
      // An invalid byte, a lead byte alone, a truncated character.
      {"\xff\xc3(\xe2\x82", "\\xff\\xc3(\\xe2\\x82"},
      {"\xc0\xaf\xe0\x80\xaf", "\\xc0\\xaf\\xe0\\x80\\xaf"},  // overlong encodings
      {"\xed\xa0\x80\xf4\x90\x80\x80", "\\xed\\xa0\\x80\\xf4\\x90\\x80\\x80"},
      // U+061C, U+200E, U+200F, U+202A, U+202E, U+2066 and U+2069 change the text direction
      {"\xd8\x9c\xe2\x80\x8e\xe2\x80\x8f", "\\xd8\\x9c\\xe2\\x80\\x8e\\xe2\\x80\\x8f"},
      {"\xe2\x80\xaa\xe2\x80\xae", "\\xe2\\x80\\xaa\\xe2\\x80\\xae"},
      {"\xe2\x81\xa6\xe2\x81\xa9", "\\xe2\\x81\\xa6\\xe2\\x81\\xa9"},
      // their neighbours do not
      {"\xd8\x9b\xe2\x80\x8d\xe2\x80\xaf\xe2\x81\xaa",
       "\xd8\x9b\xe2\x80\x8d\xe2\x80\xaf\xe2\x81\xaa"},
  };
  for (auto const& [given, shown] : cases) {
    EXPECT_EQ(printable(given), shown);
    EXPECT_EQ(printable(shown), shown);
    EXPECT_EQ(error({given, 1, 1}, given).what(), fmt::format("{}:1:1: {}", shown, shown));
    EXPECT_STREQ(usage_error(given).what(), shown);
    EXPECT_STREQ(output_error(given).what(), shown);
    EXPECT_STREQ(device_error(given).what(), shown);
  }
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(error({"a\nb", 1, 1}, "x").where().file, "a\nb");
}

TEST(random, is_fixed) {
  random_engine engine(1);
  EXPECT_EQ(engine(), 2469588189546311528ULL);
  std::vector<int> values{0, 1, 2, 3, 4, 5, 6, 7};
  shuffle(std::span<int>(values), engine);
  std::vector<int> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, (std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7}));
  for (int i = 0; i < 1000; ++i) EXPECT_LT(uniform_below(engine, 7), 7U);
}

TEST(sha256, known_answer) {
  EXPECT_EQ(sha256_hex("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
}

TEST(output_file, appears_on_commit_alone) {
  testing_tools::temporary_folder const folder;
  std::string const path = folder / "out.txt";
  {
    output_file file(path);
    file.write("half");
    file.flush();
    EXPECT_FALSE(std::filesystem::exists(path));
  }
  EXPECT_FALSE(std::filesystem::exists(path));
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
  write_file(path, "one");
  EXPECT_EQ(read_all(path), "one");
  {
    output_file file(path);
    file.write("lost");
  }
  EXPECT_EQ(read_all(path), "one");
  write_file(path, "two");
  EXPECT_EQ(read_all(path), "two");
}

/// A killed process must not leave another name in the folder.
TEST(output_file, a_new_file_has_its_own_name_alone) {
  testing_tools::temporary_folder const folder;
  std::string const path = folder / "out.txt";
#ifdef O_TMPFILE
  int const nameless = ::open(folder.path().c_str(), O_TMPFILE | O_RDWR, 0666);
  if (nameless < 0) GTEST_SKIP() << "needs a file system with nameless files";
  ::close(nameless);
#endif
  int const watch = ::inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  ASSERT_GE(::inotify_add_watch(watch, folder.path().c_str(), IN_CREATE | IN_MOVED_TO), 0);
  auto const names_made = [&] {
    alignas(inotify_event) char bytes[4096];
    ssize_t const size = ::read(watch, bytes, sizeof bytes);
    std::vector<std::string> names;
    for (ssize_t at = 0; at < size;) {
      auto const* const event = reinterpret_cast<inotify_event const*>(bytes + at);
      names.emplace_back(event->name);
      at += static_cast<ssize_t>(sizeof(inotify_event) + event->len);
    }
    return names;
  };
  write_file(path, "one");
  EXPECT_EQ(names_made(), std::vector<std::string>{"out.txt"});
  write_file(path, "two");
  auto const of_old = names_made();
  ASSERT_EQ(of_old.size(), 2U) << "a link replaces nothing: it is renamed";
  EXPECT_TRUE(of_old.front().starts_with(".out.txt.partial-"));
  EXPECT_EQ(read_all(path), "two");
  ::close(watch);
}

TEST(output_file, what_is_written_can_stay_in_memory) {
  std::string const large(3'000'000, 'x');
  EXPECT_EQ(written_bytes([&](output_file& out) {
              out.write("a\n");
              out.write(large);
            }),
            "a\n" + large);
  EXPECT_EQ(written_bytes([](output_file&) {}), "");
}

TEST(output_file, shows_what_is_written) {
  testing_tools::temporary_folder const folder;
  std::string const large(3'000'000, 'x');
  std::string seen;
  output_file first(folder / "out.txt", [&](std::string_view bytes) { seen += bytes; });
  first.write("a\n");
  output_file moved = std::move(first);
  moved.write(large);
  moved.write("b");
  moved.commit();
  EXPECT_EQ(seen, "a\n" + large + "b");
  EXPECT_EQ(read_all(folder / "out.txt"), seen);
}

TEST(output_file, a_link_stays_and_its_target_is_replaced) {
  testing_tools::temporary_folder const folder;
  std::string const target = folder / "target.txt";
  std::string const link = folder / "link.txt";
  write_file(target, "old");
  std::filesystem::create_symlink(target, link);
  {
    output_file discarded(link);
    discarded.write("lost");
  }
  EXPECT_EQ(read_all(target), "old");
  write_file(link, "new");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(read_all(target), "new");
}

TEST(output_file, a_link_to_nothing_yet_makes_its_target) {
  testing_tools::temporary_folder const folder;
  std::filesystem::create_directory(folder / "deep");
  std::filesystem::create_symlink("deep/target.txt", folder / "link.txt");
  write_file(folder / "link.txt", "new");
  EXPECT_TRUE(std::filesystem::is_symlink(folder / "link.txt"));
  EXPECT_EQ(read_all(folder / "deep/target.txt"), "new");
  std::filesystem::create_symlink("loop", folder / "loop");
  EXPECT_THROW(output_file(folder / "loop"), output_error);
}

TEST(output_file, an_open_descriptor_is_written_in_place) {
  testing_tools::temporary_folder const folder;
  std::string const path = folder / "out.txt";
  int const descriptor = ::open(path.c_str(), O_CREAT | O_WRONLY, 0666);
  ASSERT_GE(descriptor, 0);
  std::filesystem::create_symlink(fmt::format("/dev/fd/{}", descriptor), folder / "link");
  ASSERT_EQ(::write(descriptor, "0", 1), 1);
  std::string expected = "0";
  for (std::string const& name :
       {fmt::format("/dev/fd/{}", descriptor), fmt::format("/proc/self/fd/{}", descriptor),
        fmt::format("/proc/{}/fd/{}", ::getpid(), descriptor), folder / "link"}) {
    write_file(name, name);
    expected += name;
    EXPECT_EQ(read_all(path), expected);
  }
  // The descriptor is still open, and the file is the same.
  ASSERT_EQ(::write(descriptor, "1", 1), 1);
  EXPECT_EQ(read_all(path), expected + "1");
  ::close(descriptor);
  EXPECT_THROW(output_file(fmt::format("/dev/fd/{}", descriptor)), output_error);
  int const read_only = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  EXPECT_THROW(output_file(fmt::format("/dev/fd/{}", read_only)), output_error);
  ::close(read_only);
}

TEST(output_file, knows_when_two_paths_are_one_output) {
  testing_tools::temporary_folder const folder;
  std::string const path = folder / "out.txt";
  std::filesystem::create_directory_symlink(folder.path(), folder / "again");
  std::filesystem::create_symlink("out.txt", folder / "link");
  for (bool const exists : {false, true}) {
    if (exists) write_file(path, "x");
    EXPECT_TRUE(same_output(path, path));
    EXPECT_TRUE(same_output(path, folder / "./out.txt"));
    EXPECT_TRUE(same_output(path, folder / "again/out.txt"));
    EXPECT_TRUE(same_output(folder / "link", path));
    EXPECT_FALSE(same_output(path, folder / "other.txt"));
    EXPECT_FALSE(same_output(path, "-"));
  }
  std::filesystem::create_hard_link(path, folder / "second");
  EXPECT_TRUE(same_output(folder / "second", path));
  EXPECT_TRUE(same_output("-", "-"));
  EXPECT_TRUE(same_output("-", "/dev/stdout"));
  EXPECT_TRUE(same_output("/dev/fd/1", "/proc/self/fd/1"));
  EXPECT_FALSE(same_output("/dev/null", "/dev/null"));
  int const descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  ASSERT_GE(descriptor, 0);
  EXPECT_TRUE(same_output(fmt::format("/dev/fd/{}", descriptor), path));
  ::close(descriptor);
}

TEST(output_file, has_any_name_that_the_file_system_takes) {
  testing_tools::temporary_folder const folder;
  constexpr std::size_t longest = 255;
  for (std::size_t const size : {230, 240, 255}) {
    std::string const path = folder / std::string(size, 'x');
    write_file(path, "x");
    EXPECT_EQ(read_all(path), "x") << size;
  }
  // A file that cannot be renamed at the end is rejected at the beginning.
  EXPECT_THROW(output_file(folder / std::string(longest + 1, 'x')), output_error);
  write_file(folder / "file", "x");
  EXPECT_THROW(output_file(folder / "file/below"), output_error);
}

/// Returns the message of `expect_apart`, or "OK".
std::string clash(std::vector<named_path> const& inputs, std::vector<named_path> const& outputs) {
  return message_of<usage_error>([&] { expect_apart(inputs, outputs); });
}

TEST(expect_apart, an_input_is_never_an_output) {
  testing_tools::temporary_folder const folder;
  std::string const in = folder / "in.txt";
  write_file(in, "x");
  std::filesystem::create_symlink("in.txt", folder / "link");
  std::filesystem::create_hard_link(in, folder / "twin");
  std::filesystem::create_directory_symlink(folder.path(), folder / "again");
  for (std::string const& out :
       {in, folder / "./in.txt", folder / "link", folder / "twin", folder / "again/in.txt"}) {
    EXPECT_EQ(clash({{"--in", in}}, {{"--out", out}}),
              fmt::format("--out {} is also --in, expected a different file", out));
    EXPECT_EQ(clash({{"--a", ""}, {"", in}}, {{"--b", folder / "b"}, {"--out", out}}),
              fmt::format("--out {} is also an input, expected a different file", out));
  }
  EXPECT_EQ(clash({{"--in", in}, {"--none", ""}}, {{"--out", folder / "b"}, {"--none", ""}}), "OK");
  EXPECT_EQ(clash({{"--in", "-"}}, {{"--out", "-"}}), "OK");
  EXPECT_EQ(clash({{"--in", "/dev/null"}}, {{"--out", "/dev/null"}}), "OK");
}

TEST(expect_apart, two_outputs_are_two_files) {
  testing_tools::temporary_folder const folder;
  std::filesystem::create_directory_symlink(folder.path(), folder / "again");
  std::string const out = folder / "not-there-yet", same = folder / "again/not-there-yet";
  EXPECT_EQ(clash({}, {{"--out", out}, {"--run", out}}),
            fmt::format("--out and --run are both {}, expected different files", out));
  EXPECT_EQ(
      clash({}, {{"--out", out}, {"--run", same}}),
      fmt::format("--out {} and --run {} are the same file, expected different files", out, same));
  EXPECT_EQ(clash({}, {{"--out", "-"}, {"--run", "-"}}),
            "--out and --run are both standard output, expected different files");
  EXPECT_EQ(clash({}, {{"--out", out}, {"--run", folder / "b"}, {"--c", "-"}}), "OK");
}

TEST(folder_lock, one_at_a_time_holds_a_folder) {
  testing_tools::temporary_folder const folder, other;
  std::string const path = folder.path().string();
  {
    folder_lock const first(path);
    EXPECT_EQ(message_of<output_error>([&] { folder_lock const second(path); }),
              path + ": another run writes to this folder, expected a different folder");
    folder_lock const elsewhere(other.path().string());
  }
  EXPECT_TRUE(std::filesystem::is_empty(folder.path())) << "nothing stays";
  folder_lock held(path);
  folder_lock moved(std::move(held));
  EXPECT_THROW(folder_lock{path}, output_error);
  held = folder_lock();
  EXPECT_THROW(folder_lock{path}, output_error);
  moved = folder_lock();
  EXPECT_NO_THROW(folder_lock{path});
  EXPECT_THROW(folder_lock{folder / "not there"}, output_error);
}

TEST(folder_lock, ends_with_its_process) {
  testing_tools::temporary_folder const folder;
  pid_t const child = ::fork();
  if (child == 0) {
    folder_lock const held(folder.path().string());
    ::_exit(0);  // like a killed process: no destructor runs
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_TRUE(std::filesystem::exists(folder / ".rulerank.lock"));
  EXPECT_NO_THROW(folder_lock{folder.path().string()});
  EXPECT_TRUE(std::filesystem::is_empty(folder.path()));
}

TEST(output_file, full_disk_is_an_error) {
  output_file file("/dev/full");
  file.write("x");
  EXPECT_THROW(file.commit(), output_error);
}

TEST(make_folders, makes_the_folders_above_too) {
  testing_tools::temporary_folder const folder;
  std::string const deep = folder / "a/b/c";
  make_folders(deep);
  EXPECT_TRUE(std::filesystem::is_directory(deep));
  write_file(deep + "/file.txt", "kept");
  make_folders(deep);  // existing folders and files are kept
  make_folders(deep + "/");
  EXPECT_EQ(read_all(deep + "/file.txt"), "kept");
}

TEST(make_folders, names_what_cannot_be_made) {
  testing_tools::temporary_folder const folder;
  std::string const file = folder / "file.txt";
  write_file(file, "x");
  for (std::string const& path : {file, file + "/below"}) {
    EXPECT_PRED2(says, message_of<output_error>([&] { make_folders(path); }),
                 path + ": cannot be created: ...");
  }
}

enum class toy { automatic, plain, fast, both, absent };
constexpr engine_info<toy> toys[] = {
    {toy::plain, "plain", "one by one", "", runs_on::cpu, runs_on::cpu},
    {toy::fast, "fast", "many at a time", "Someone 2017", runs_on::gpus, runs_on::gpus},
    {toy::both, "both", "either", "", runs_on::cpu_and_gpus, runs_on::nowhere},
};

context with_devices(std::vector<int> ordinals) {
  context ctx;
  ctx.devices = std::move(ordinals);
  return ctx;
}

TEST(engine_registry, names_where_engines_run) {
  EXPECT_EQ(name_of(runs_on::cpu), "cpu");
  EXPECT_EQ(name_of(runs_on::gpus), "cuda");
  EXPECT_EQ(name_of(runs_on::cpu_and_gpus), "cpu, cuda");
  EXPECT_EQ(name_of(runs_on::nowhere), "");
  EXPECT_TRUE(includes(runs_on::cpu_and_gpus, runs_on::gpus));
  EXPECT_FALSE(includes(runs_on::cpu, runs_on::gpus));
  EXPECT_FALSE(includes(runs_on::nowhere, runs_on::cpu_and_gpus));
}

TEST(engine_registry, finds_engines_by_value_and_by_name) {
  static_assert(find_engine(toys, toy::fast)->name == "fast");
  EXPECT_EQ(find_engine(toys, toy::automatic), nullptr);
  EXPECT_EQ(find_engine(toys, toy::absent), nullptr);
  EXPECT_EQ(name_of_engine(toys, toy::both), "both");
  EXPECT_EQ(name_of_engine(toys, toy::automatic), "auto");
  EXPECT_EQ(engine_named<toy>(toys, "plain"), toy::plain);
  EXPECT_EQ(engine_named<toy>(toys, "auto"), toy::automatic);
  EXPECT_EQ(find_default_engine(toys, runs_on::gpus)->which, toy::fast);
  EXPECT_PRED2(says, message_of<usage_error>([] { engine_named<toy>(toys, "slow"); }),
               "found engine 'slow', expected one of auto, plain, fast, both...");
}

enum class tone { low, high, none };

TEST(named_values, are_found_by_name_and_by_value) {
  constexpr named_values<tone, 2> tones{{{"low", tone::low}, {"high", tone::high}}};
  constexpr std::array<std::string_view, 2> in_order{"low", "high"};
  EXPECT_EQ(value_named<tone>(tones, "high"), tone::high);
  EXPECT_EQ(value_named<tone>(in_order, "high"), tone::high);
  static_assert(name_in(tones, tone::low) == "low");
  EXPECT_EQ(name_in(tones, tone::none), "");
}

TEST(named_values, are_listed_where_a_name_is_not_known) {
  constexpr std::array<std::string_view, 3> names{"a", "b", "c"};
  auto const message_for = [&](std::string_view name, std::string_view found, name_list how) {
    try {
      value_named<tone>(names, name, found, how);
      return std::string();
    } catch (usage_error const& e) {
      return std::string(e.what());
    }
  };
  EXPECT_EQ(message_for("x", "found", name_list::plain), "found 'x', expected a, b, c");
  EXPECT_EQ(message_for("", "tone: found", name_list::one_of),
            "tone: found '', expected one of a, b, c");
  EXPECT_EQ(message_for("A", "found the tone", name_list::alternatives),
            "found the tone 'A', expected a, b or c");
  EXPECT_EQ(list_of_names(std::span(names).first(1), name_list::alternatives), "a");
  EXPECT_EQ(list_of_names(std::span(names).first(2), name_list::alternatives), "a or b");
  EXPECT_EQ(list_of_names(std::vector<std::string>()), "");
}

TEST(engine_registry, chooses_the_default_where_the_devices_are) {
  EXPECT_EQ(choose_engine(toys, toy::automatic, with_devices({})).which, toy::plain);
  EXPECT_EQ(choose_engine(toys, toy::automatic, with_devices({0})).which, toy::fast);
  std::span const without_gpus(toys, 1);  // a module without engines for GPUs
  EXPECT_EQ(choose_engine(without_gpus, toy::automatic, with_devices({0})).which, toy::plain);
}

TEST(engine_registry, holds_what_is_added_once_and_after_its_own) {
  engine_registry<toy, int> all{{toys[0], 1}};
  EXPECT_EQ(all.list().size(), 1U);
  for (int i = 0; i < 2; ++i) all.add({{toys[2], 3}, {toys[0], 4}});
  ASSERT_EQ(all.list().size(), 2U);
  EXPECT_EQ(all.list()[1].which, toy::both);
  EXPECT_EQ(all.maker_of(toy::plain), 1);
  EXPECT_EQ(all.maker_of(toy::both), 3);
}

TEST(engine_registry, lists_stay_while_engines_are_added) {
  engine_registry<toy, int> all{{toys[0], 1}};
  auto const before = all.list();
  all.add({{toys[1], 2}, {toys[2], 3}});
  EXPECT_EQ(before.data(), all.list().data());
  EXPECT_EQ(before.size(), 1U);
}

TEST(engine_registry, never_replaces_an_engine_that_was_asked_for) {
  for (auto const& devices : {std::vector<int>{}, std::vector<int>{0}}) {
    EXPECT_EQ(choose_engine(toys, toy::plain, with_devices(devices)).which, toy::plain);
    EXPECT_EQ(choose_engine(toys, toy::both, with_devices(devices)).which, toy::both);
    EXPECT_THROW(choose_engine(toys, toy::absent, with_devices(devices)), device_error);
  }
  EXPECT_EQ(choose_engine(toys, toy::fast, with_devices({0})).which, toy::fast);
  EXPECT_THROW(choose_engine(toys, toy::fast, with_devices({})), device_error);
}

TEST(devices, have_code_by_machine_code_or_ptx) {
  EXPECT_TRUE(has_code_for("90", 9, 0));
  EXPECT_TRUE(has_code_for("90", 10, 0));  // PTX
  EXPECT_FALSE(has_code_for("90-real", 10, 0));
  EXPECT_FALSE(has_code_for("90-real", 8, 9));
  EXPECT_TRUE(has_code_for("80-real", 8, 9));  // an earlier minor version of the same major one
  EXPECT_FALSE(has_code_for("89-real", 8, 6));
  EXPECT_TRUE(has_code_for("80-virtual", 9, 0));
  EXPECT_FALSE(has_code_for("90-virtual", 8, 0));
  EXPECT_FALSE(has_code_for("90a", 10, 0));
  EXPECT_TRUE(has_code_for("90a-real", 9, 0));
  EXPECT_TRUE(has_code_for("80-real;86-real;89-real;90-real;100-real;120", 10, 3));
  EXPECT_TRUE(has_code_for("80-real;86-real;89-real;90-real;100-real;120", 13, 0));
  EXPECT_FALSE(has_code_for("80-real;86-real;89-real;90-real;100-real;120", 7, 5));
  EXPECT_TRUE(has_code_for("all-major", 9, 0));
  EXPECT_FALSE(has_code_for("", 9, 0));
}

TEST(devices, say_how_to_build_for_one_without_code) {
  device const turing{.ordinal = 0, .name = "T4", .major = 7, .minor = 5};
  EXPECT_EQ(
      why_without_code(turing),
      "T4 (compute capability 7.5) is too old: the kernels need compute capability 8.0 or later");
  device const ampere{.ordinal = 0, .name = "A10", .major = 8, .minor = 6};
  EXPECT_TRUE(why_without_code(ampere).ends_with("build it with -DCMAKE_CUDA_ARCHITECTURES=86"))
      << why_without_code(ampere);
}

TEST(devices, are_none_without_a_driver) {
  device_list const list = list_devices();
  for (device const& one : list.devices) {
    auto const memory = memory_use_of(one.ordinal);
    ASSERT_TRUE(memory.has_value());
    EXPECT_GT(memory->used, 0U);
    EXPECT_LE(memory->used, memory->total);
  }
  EXPECT_FALSE(memory_use_of(1000).has_value());
  EXPECT_EQ(list.devices.empty(), !list.why_none.empty());
}

TEST(machine, free_memory_is_part_of_what_there_is) {
  EXPECT_GT(free_memory(), 0U);
  EXPECT_LT(free_memory(), this_machine().memory);
}

TEST(machine, reports_what_a_manifest_needs) {
  machine const here = this_machine();
  EXPECT_GE(here.cores, 1);
  EXPECT_GT(here.memory, std::uint64_t{1} << 20);
  std::string hash = commit();
  hash = hash.substr(0, hash.find('-'));
  EXPECT_TRUE(
      hash == "unknown" ||
      (hash.size() >= 40 && hash.find_first_not_of("0123456789abcdef") == std::string::npos))
      << commit();
}

}  // namespace
}  // namespace rulerank::core_test
