#include "datasets/text/document_lines.hpp"

#include "core/error.hpp"
#include "datasets/input/fields.hpp"
#include "datasets/text/encoding.hpp"
#include "datasets/trec.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

std::string fault_of_id(std::string_view id, id_form form) {
  if (is_missing_word(id)) return missing_id_fault("id", id);
  if (form == id_form::any) return {};
  bool const hash = form == id_form::qid && id.find('#') != id.npos;
  if (is_run_column(id) && !hash) return {};
  return fmt::format("found the id {}, expected one word{}", rulerank::quoted(id),
                     form == id_form::qid ? " without #"
                     : id == "#"          ? " other than #"
                                          : "");
}

void encoding_check::look_at(std::string const& name, std::uint64_t line, std::string_view text,
                             std::string_view ahead) {
  if (is_over_) return;
  std::size_t const at = first_not_utf8(text);
  if (at == text.npos) return;
  is_over_ = true;
  std::string_view const before = text.substr(0, at);
  name_ = name;
  line_ = line + static_cast<std::uint64_t>(std::ranges::count(before, '\n'));
  column_ = at - (before.rfind('\n') + 1) + 1;
  found_ = fmt::format("found the byte {:02X}", static_cast<unsigned char>(text[at]));
  likely_ = likely_encoding((std::string(text) + '\n').append(ahead));
}

/// Returns the likely encodings, and the option that sets one.
std::string encoding_check::advice() const {
  return fmt::format("the text is {}: --encoding {}", likely_.text(),
                     likely_.is_certain ? likely_.names.front() : "NAME");
}

void encoding_check::expect_utf8() const {
  if (!found_.empty())
    throw error({name_, line_, column_},
                found_ + ", expected UTF-8" +
                    (likely_.names.empty() ? " or --encoding NAME" : "; " + advice()));
}

void encoding_check::warn() {
  if (found_.empty()) return;
  bool const is_read_so =
      likely_.names.empty() || (likely_.names.front() == "ISO-8859-1" &&
                                std::ranges::find(likely_.names, "GB18030") == likely_.names.end());
  if (options_.warn)
    options_.warn(fmt::format("{}:{}:{}: {}, which is not UTF-8; read such bytes as Latin-1{}",
                              name_, line_, column_, found_,
                              is_read_so ? "" : ", but " + advice()));
  found_.clear();
}

document_lines::document_lines(context const& ctx, std::string const& path,
                               text_options const& options,
                               std::function<void(text_document&&)> const& take, document_ids& ids)
    : ctx_(ctx),
      name_(display_name(path)),
      lines_(options.lines ? text_stream::open(ctx, path, *options.lines)
                           : text_stream::open(ctx, path, options.encoding),
             options.lines ? options.lines->lines_before : 0),
      form_(options.ids),
      take_(take),
      ids_(ids),
      file_(ids.files.size()) {
  ids.files.push_back(name_);
}

bool document_lines::next() {
  if (!lines_.next()) return false;
  ids_.encoding.look_at(name_, lines_.number(), lines_.line(), lines_.ahead());
  return true;
}

void document_lines::fail_at(std::uint64_t line, std::uint64_t column,
                             std::string const& found_and_expected) const {
  throw error({name_, line, column}, found_and_expected);
}

void document_lines::warn_once(std::string const& what) {
  if (ids_.warn) std::exchange(ids_.warn, nullptr)(what);
}

void document_lines::claim_at(std::uint64_t line, std::string const& id, std::uint64_t column) {
  if (std::string const fault = fault_of_id(id, form_); !fault.empty())
    fail_at(line, column, fault);
  auto const [first, is_new] = ids_.places.try_emplace(id, document_ids::place{file_, line});
  claimed_ = line;
  if (is_new) return;
  document_ids::place const& before = first->second;
  fail_at(line, column,
          fmt::format("found id {} again (first on {}line {}), expected each id once",
                      rulerank::quoted(id),
                      before.file == file_ ? "" : fmt::format("{}, ", ids_.files[before.file]),
                      before.line));
}

void document_lines::give(text_document&& document) {
  if (given_++ % documents_a_report == 0) ctx_.report("read", lines_.bytes(), 0);
  ids_.encoding.warn();
  document.line = claimed_;
  take_(std::move(document));
}

}  // namespace rulerank::datasets
