#include "datasets/delimited/read.hpp"

#include "core/error.hpp"
#include "datasets/delimited/documents.hpp"
#include "datasets/delimited/joined_features.hpp"
#include "datasets/delimited/records.hpp"
#include "datasets/input/lines.hpp"
#include "datasets/input/text_source.hpp"
#include "datasets/svmlight/faults.hpp"

#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

dataset parse_any(context const& ctx, std::shared_ptr<text_source const> text, std::string name,
                  read_options const& options, std::function<void(std::string const&)> const& warn,
                  std::span<std::string const> columns = {}) {
  std::string_view bytes = text->bytes();
  remove_byte_order_mark(bytes);
  char const delimiter = delimiter_of(name, bytes.substr(0, bytes.find('\n')), options);
  if (delimiter == 0) return parse_svmlight(ctx, std::move(text), std::move(name), options, warn);
  return parse_delimited_chunks(ctx, std::move(text), std::move(name), delimiter, options, warn,
                                default_chunk_bytes, columns);
}

/// Returns the layout without text columns, which `warn` reports.
delimited_layout layout_of_text(std::string_view bytes, char delimiter, std::string const& name,
                                read_options options, std::span<std::string const> columns,
                                std::function<void(std::string const&)> const& warn) {
  delimited_layout layout = read_layout(bytes, delimiter, name, options, columns);
  auto const words = columns.empty() ? text_columns(bytes.substr(layout.size), layout)
                                     : std::vector<std::string>();
  if (!words.empty() && words.size() < layout.features) {
    options.skip_columns.insert(options.skip_columns.end(), words.begin(), words.end());
    layout = read_layout(bytes, delimiter, name, options, columns);
    for (std::string const& title : words)
      layout.notes.push_back(
          fmt::format("left out the column {}, whose values are not numbers", printable(title)));
  }
  if (warn)
    for (std::string const& note : layout.notes) warn(fmt::format("{}: {}", name, note));
  return layout;
}

}  // namespace

void expect_records(std::string_view text, std::string const& name) {
  if (text.find_first_not_of(" \t\r\n") == text.npos) throw error({name, 1, 1}, no_records);
}

dataset layout_form(delimited_layout const& layout) {
  dataset form;
  form.names = layout.names;
  form.delimiter = layout.delimiter;
  form.header = layout.header;
  form.label_column = layout.label_title;
  return form;
}

chunk_parser parser_of(delimited_layout layout, read_options const& options) {
  return [layout = std::move(layout), rules = rules_of(options)](std::string_view chunk,
                                                                 parsed_documents& out) {
    parse_records(chunk, layout, rules, out);
  };
}

dataset parse_delimited_chunks(context const& ctx, std::shared_ptr<text_source const> text,
                               std::string name, char delimiter, read_options const& options,
                               std::function<void(std::string const&)> const& warn,
                               std::size_t chunk_bytes, std::span<std::string const> columns) {
  check_options(options);
  std::string_view bytes = text->bytes();
  remove_byte_order_mark(bytes);
  ctx.report("read", 0, bytes.size());
  delimited_layout const layout = layout_of_text(bytes, delimiter, name, options, columns, warn);
  dataset data = layout_form(layout);
  data.name = std::move(name);
  data.text = std::move(text);
  bytes.remove_prefix(layout.size);
  expect_records(bytes, data.name);
  whole_text whole(query_former(ctx, options, data.name), data, layout.feeds);
  read_chunks(ctx, bytes, cut_at_records(ctx, bytes, chunk_bytes), parser_of(layout, options),
              whole, data);
  expect_unchanged(*data.text, data.name);
  whole.finish(ctx, warn);
  return data;
}

dataset read_dataset(context const& ctx, std::string const& path, read_options const& options,
                     std::function<void(std::string const&)> const& warn) {
  return parse_any(ctx, open_text(ctx, path), display_name(path), options, warn);
}

dataset parse_dataset(context const& ctx, std::string text, std::string name,
                      read_options const& options,
                      std::function<void(std::string const&)> const& warn) {
  return parse_any(ctx, make_text(std::move(text)), std::move(name), options, warn);
}

namespace {

/// Allows rows in any order, and ignores labels.
read_options options_of_columns() {
  read_options options;
  options.optional_labels = true;
  options.unlabelled = unlabelled;
  options.regroup = true;
  return options;
}

dataset columns_of(context const& ctx, std::shared_ptr<text_source const> text, std::string name,
                   std::span<std::string const> chosen,
                   std::function<void(std::string const&)> const& warn) {
  std::vector<std::string> notes;
  dataset data = parse_any(
      ctx, std::move(text), std::move(name), options_of_columns(),
      [&](std::string const& note) { notes.push_back(note); }, chosen);
  // Columns of documents have no qids.
  std::string const no_qids = data.delimiter != 0 ? all_one_query(data.name, data.size()) : "";
  for (std::string const& note : notes)
    if (warn && note != no_qids) warn(note);
  return data;
}

}  // namespace

dataset read_columns(context const& ctx, std::string const& path,
                     std::span<std::string const> chosen,
                     std::function<void(std::string const&)> const& warn) {
  return columns_of(ctx, open_text(ctx, path), display_name(path), chosen, warn);
}

dataset parse_columns(context const& ctx, std::string text, std::string name,
                      std::span<std::string const> chosen,
                      std::function<void(std::string const&)> const& warn) {
  return columns_of(ctx, make_text(std::move(text)), std::move(name), chosen, warn);
}

}  // namespace rulerank::datasets
