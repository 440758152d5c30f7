// Work of a program's own under a context: it reports how far it is, can be stopped, and its output
// appears whole or not at all.
// Prints: stopped at 5 of 10, no file, then done, 10 lines
#include "core/context.hpp"
#include "core/error.hpp"
#include "core/output_file.hpp"

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <stop_token>
#include <string>

namespace {

void write_squares(rulerank::context const& ctx, std::string const& path) {
  rulerank::output_file out(path);
  for (std::uint64_t i = 0; i < 10; ++i) {
    ctx.report("squares", i, 10);
    out.write(std::to_string(i * i) + '\n');
  }
  out.commit();
}

}  // namespace

int main() {
  std::string const path = "squares.txt";
  std::filesystem::remove(path);
  std::uint64_t reached = 0;
  rulerank::context ctx;
  ctx.progress = [&](std::string_view, std::uint64_t done, std::uint64_t) {
    reached = done;
    return done < 5;  // false stops the work
  };
  try {
    write_squares(ctx, path);
  } catch (rulerank::interrupted const&) {
    std::cout << "stopped at " << reached << " of 10, "
              << (std::filesystem::exists(path) ? "a file" : "no file") << ", then ";
  }
  ctx.progress = nullptr;
  write_squares(ctx, path);
  std::ifstream file(path);
  std::string line;
  int lines = 0;
  while (std::getline(file, line)) ++lines;
  std::cout << "done, " << lines << " lines\n";
}
