#pragma once
// Shared by the readers of whole texts and of streams in all formats; tests set the size of the
// chunks.

#include "core/context.hpp"
#include "datasets/dataset.hpp"
#include "datasets/svmlight.hpp"
#include "datasets/svmlight/documents.hpp"
#include "datasets/svmlight/whole_text.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace rulerank::inline v0::datasets {

/// Throws `usage_error` for contradictory options.
void check_options(svmlight_options const& options);

/// Returns the rules for a line or record under these options.
line_rules rules_of(svmlight_options const& options);

/// Replaces the documents in `out` by those of a chunk. Called by several threads at once.
using chunk_parser = std::function<void(std::string_view chunk, parsed_documents& out)>;

/// Reads the chunks between `cuts`, offsets in `text`, in parallel into `data`, which `whole`
/// fills.
void read_chunks(context const& ctx, std::string_view text, std::span<std::size_t const> cuts,
                 chunk_parser const& parse, whole_text& whole, dataset& data);

/// Consecutive lines of a text.
struct text_lines {
  std::shared_ptr<text_source const> text;
  std::string_view bytes;          ///< whole lines of the text
  std::uint64_t lines_before = 0;  ///< lines before them
};

/// Reads the lines in chunks of about `chunk_bytes`, at least 1; the result does not depend on the
/// size.
dataset parse_lines(context const& ctx, text_lines lines, std::string name,
                    svmlight_options const& options,
                    std::function<void(std::string const&)> const& warn, std::size_t chunk_bytes);

/// Reads a stream query by query, as `stream_dataset`, with a parser that `begin` sets.
class query_collector {
 public:
  query_collector(context const& ctx, std::string name, svmlight_options const& options,
                  std::function<void(dataset const&)> const& take_query);

  /// Sets the parser of the text after the first `lines` lines; `form` has the attributes of all
  /// documents (names, header, delimiter).
  void begin(chunk_parser parse, dataset form, std::uint64_t lines);
  /// Takes whole lines or records.
  void take(std::string_view text);
  void finish(std::function<void(std::string const&)> const& warn);

 private:
  void add(std::size_t d);
  void give();

  context ctx_;
  std::string name_;
  std::function<void(dataset const&)> const& take_query_;
  query_former queries_;
  chunk_parser parse_;
  parsed_documents part_;
  dataset form_;  // without documents and header
  std::string header_;
  dataset query_;  // its documents so far
  feature_form features_ = feature_form::unknown;
  text_names names_;
  std::size_t query_number_ = 0;
  std::string text_;
  std::vector<std::size_t> line_ends_;
  std::list<std::string> ids_;
  std::string text_id_;  // the first qid converted from a text
  std::size_t documents_ = 0;
  std::uint64_t last_line_ = 0;  // of the last document
  std::uint64_t line_count_ = 0;
};

inline constexpr std::size_t default_chunk_bytes = 1 << 17;

/// Does `parse_svmlight` with chunks of about `chunk_bytes`, at least 1; the result does not depend
/// on the size.
dataset parse_svmlight_chunks(context const& ctx, std::shared_ptr<text_source const> text,
                              std::string name, svmlight_options const& options,
                              std::function<void(std::string const&)> const& warn,
                              std::size_t chunk_bytes);

}  // namespace rulerank::datasets
