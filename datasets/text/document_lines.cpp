#include "datasets/text/document_lines.hpp"

#include "core/error.hpp"
#include "datasets/trec.hpp"

#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

std::string fault_of_id(std::string_view id, id_form form) {
  if (form == id_form::any) return {};
  bool const hash = form == id_form::qid && id.find('#') != id.npos;
  if (is_run_column(id) && !hash) return {};
  return fmt::format("found the id {}, expected one word{}", rulerank::quoted(id),
                     form == id_form::qid ? " without #"
                     : id == "#"          ? " other than #"
                                          : "");
}

document_lines::document_lines(context const& ctx, std::string const& path, id_form form,
                               std::function<void(text_document&&)> const& take, document_ids& ids,
                               std::optional<line_range> const& part)
    : ctx_(ctx),
      name_(display_name(path)),
      lines_(part ? text_stream::open(ctx, path, *part) : text_stream::open(ctx, path),
             part ? part->lines_before : 0),
      form_(form),
      take_(take),
      ids_(ids),
      file_(ids.files.size()) {
  ids.files.push_back(name_);
}

void document_lines::fail_at(std::uint64_t line, std::uint64_t column,
                             std::string const& found_and_expected) const {
  throw error({name_, line, column}, found_and_expected);
}

void document_lines::claim_at(std::uint64_t line, std::string const& id, std::uint64_t column) {
  if (std::string const fault = fault_of_id(id, form_); !fault.empty())
    fail_at(line, column, fault);
  auto const [first, is_new] = ids_.places.try_emplace(id, document_ids::place{file_, line});
  claimed_ = line;
  if (is_new) return;
  document_ids::place const& before = first->second;
  fail_at(line, column,
          fmt::format("found id {} again, expected each once (it is that of {}line {} already)",
                      rulerank::quoted(id),
                      before.file == file_ ? "" : fmt::format("{}, ", ids_.files[before.file]),
                      before.line));
}

void document_lines::give(text_document&& document) {
  if (given_++ % documents_a_report == 0) ctx_.report("read", lines_.bytes(), 0);
  document.line = claimed_;
  take_(std::move(document));
}

}  // namespace rulerank::datasets
