#include "core/named_values.hpp"
#include "report/document.hpp"

#include <cstdio>
#include <filesystem>
#include <iterator>
#include <memory>
#include <utility>

#include <boost/process/child.hpp>
#include <boost/process/env.hpp>
#include <boost/process/io.hpp>
#include <boost/process/search_path.hpp>
#include <fmt/format.h>
#include <sys/mman.h>

// Writes documents to files. librsvg's program converts SVG figures to PDF.
namespace rulerank::inline v0::report {

namespace {

namespace fs = std::filesystem;
namespace process = boost::process;

constexpr named_values<figure_form, 2> figure_forms{
    {{"svg", figure_form::svg}, {"pdf", figure_form::pdf}}};
constexpr named_values<document_form, 3> document_forms{{{"html", document_form::html},
                                                         {"markdown", document_form::markdown},
                                                         {"latex", document_form::latex}}};

/// Returns the options; throws if they are inconsistent.
output_options checked(output_options options) {
  bool const text = options.form != document_form::html;
  if (text && options.path == "-")
    throw usage_error(fmt::format(
        "format {} needs a file for out, because its figures go to files in the same folder",
        options.form == document_form::markdown ? "markdown" : "latex"));
  if (!text && options.figures == figure_form::pdf)
    throw usage_error(
        "figures pdf: a page holds its own figures, expected format markdown or latex");
  return options;
}

std::string converter_for(figure_form figures) {
  if (figures != figure_form::pdf) return {};
  std::string const found = process::search_path("rsvg-convert").string();
  if (found.empty())
    throw output_error(
        "figures pdf needs the program rsvg-convert, which was not found; install it (Debian: "
        "librsvg2-bin)");
  return found;
}

/// Deterministic: the bytes do not depend on the time.
std::string pdf_of(std::string const& converter, figure const& from) {
  process::environment environment = boost::this_process::environment();
  if (environment.count("SOURCE_DATE_EPOCH") == 0) environment["SOURCE_DATE_EPOCH"] = "0";
  std::unique_ptr<std::FILE, int (*)(std::FILE*)> const svg(
      ::fdopen(::memfd_create("figure.svg", MFD_CLOEXEC), "w+"), std::fclose);
  std::string const name = fs::path(from.name).replace_extension(".svg").string();
  if (svg == nullptr || std::fputs(from.svg.c_str(), svg.get()) < 0)
    throw output_error(fmt::format("{}: cannot be passed to {}", name, converter));
  std::rewind(svg.get());
  process::ipstream said;
  std::string bytes;
  int status = -1;
  try {
    process::child run(converter, "--format", "pdf", environment,
                       process::std_in<svg.get(), process::std_out> said,
                       process::std_err > process::null);
    bytes.assign(std::istreambuf_iterator<char>(said), {});
    run.wait();
    status = run.exit_code();
  } catch (process::process_error const& e) {
    throw output_error(fmt::format("{}: {}", converter, e.what()));
  }
  if (status != 0 || !bytes.starts_with("%PDF"))
    throw output_error(
        fmt::format("{}: {} failed to make a PDF of it, exit status {}", name, converter, status));
  return bytes;
}

}  // namespace

figure_form figure_form_from(std::string_view name) {
  return value_named<figure_form>(figure_forms, name, "figures: found");
}

document_form document_form_from(std::string_view name) {
  return value_named<document_form>(document_forms, name, "format: found");
}

document_output::document_output(output_options options)
    : options_(checked(std::move(options))),
      converter_(converter_for(options_.figures)),
      out_(options_.path) {}

void document_output::write_figures(context const& ctx, std::vector<figure> const& figures,
                                    std::string const& folder) {
  std::vector<output_file> files;
  auto const add = [&](fs::path const& path, std::string const& bytes) {
    files.emplace_back(path.string()).write(bytes);
  };
  for (figure const& one : figures) {
    ctx.check_stop();
    fs::path const path = fs::path(folder) / one.name;
    add(fs::path(path).replace_extension(".svg"), one.svg);
    if (!converter_.empty()) add(path, pdf_of(converter_, one));
  }
  // Detects a full disk before a file is replaced.
  for (output_file& file : files) file.flush();
  out_.flush();
  for (output_file& file : files) file.commit();
  out_.commit();
}

void document_output::write(context const& ctx, document const& of) {
  if (options_.form == document_form::html) {
    out_.write(to_html(of));
    return out_.commit();
  }
  fs::path const folder = fs::path(options_.path).replace_extension().string() + "-figures";
  auto const made_by = options_.form == document_form::markdown ? to_markdown : to_latex;
  text_with_figures const made = made_by(of, folder.filename().string(), options_.figures);
  out_.write(made.text);
  if (made.figures.empty()) return out_.commit();
  bool const is_new = !fs::exists(folder);
  make_folders(folder.string());
  try {
    write_figures(ctx, made.figures, folder.string());
  } catch (...) {
    std::error_code has_others;
    if (is_new) fs::remove(folder, has_others);  // only if it is empty
    throw;
  }
}

}  // namespace rulerank::report
