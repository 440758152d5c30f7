// Judgments in JSON. Sources: for rre the class Engine of
// https://github.com/SeaseLtd/rated-ranking-evaluator and Quepid's export (show.rre.json.jbuilder
// of https://github.com/o19s/quepid), for srw
// https://docs.opensearch.org/latest/search-plugins/search-relevance/judgments/.
#include "core/error.hpp"
#include "datasets/input/number.hpp"
#include "datasets/judgments/read.hpp"

#include <algorithm>
#include <array>
#include <initializer_list>

#include <fmt/format.h>

namespace rulerank::inline v0::datasets {

namespace {

/// Counts a query if its list, read during this object's lifetime, is empty.
class counted_list {
 public:
  explicit counted_list(judgment_notes& notes) : notes_(notes), before_(entries()) {}
  counted_list(counted_list const&) = delete;
  counted_list& operator=(counted_list const&) = delete;
  ~counted_list() { notes_.without_judgments += entries() == before_ ? 1 : 0; }

 private:
  std::size_t entries() const { return notes_.found + notes_.without_grade; }
  judgment_notes& notes_;
  std::size_t before_;
};

/// Reads one object; its file is the last one of the list.
class list_reader {
 public:
  list_reader(judgment_list& list, judgment_notes& notes) : list_(list), notes_(notes) {}

  void read_rre(json_view root) {
    if (auto const name = root.find("query_placeholder"))
      placeholder_ = name->string("the name of a placeholder");
    read_rre_level(root, 0, {});
  }

  void read_srw(json_view root) {
    note_others(root, {"judgmentRatings"});
    root.member("judgmentRatings").for_each_element("an array of queries", [&](json_view query) {
      note_others(query, {"query", "ratings"});
      query_key const key{query.member("query").string("the text of a query"), true};
      counted_list const list(notes_);
      query.member("ratings").for_each_element("an array of ratings", [&](json_view rating) {
        note_others(rating, {"docId", "rating"});
        json_view const id = rating.member("docId");
        add(key, id.id(), rating.member("rating"), id.place());
      });
    });
  }

 private:
  void note_others(json_view object, std::initializer_list<std::string_view> known) {
    object.for_each_member("an object", [&](std::string const& name, json_view) {
      if (std::find(known.begin(), known.end(), name) == known.end()) notes_.left_out.insert(name);
    });
  }

  void add(query_key const& query, std::string id, double grade, source_position const& where) {
    ++notes_.found;
    list_.add(query, {std::move(id), grade, {list_.files.size() - 1, where.line, where.column}});
  }
  void add(query_key const& query, std::string id, json_view grade, source_position const& where) {
    if (grade.is_null())
      ++notes_.without_grade;
    else
      add(query, std::move(id), grade.number("a number as grade"), where);
  }

  /// Reads a level of the hierarchy. If a level is missing, its members are in the object of the
  /// level above. A query without judgments inherits those of the nearest level above.
  void read_rre_level(json_view node, std::size_t level, std::optional<json_view> judged) {
    constexpr std::array<std::string_view, 3> levels = {"topics", "query_groups", "queries"};
    if (auto const own = node.find("relevant_documents")) judged = own;
    note_others(node, {"topics", "query_groups", "queries", "relevant_documents", "placeholders",
                       "query_placeholder"});
    for (; level < levels.size(); ++level)
      if (auto const list = node.find(levels[level]))
        return list->for_each_element(
            "an array", [&](json_view child) { read_rre_level(child, level + 1, judged); });
    json_view const placeholders = node.member("placeholders");
    query_key const key{placeholders.member(placeholder_).string("the text of a query"), true};
    placeholders.for_each_member("an object", [&](std::string const& name, json_view) {
      if (name != placeholder_) notes_.left_out.insert("the placeholder " + name);
    });
    if (!judged) node.fail("relevant_documents here or in its group");
    counted_list const list(notes_);
    read_rre_documents(key, *judged);
  }

  void read_rre_documents(query_key const& query, json_view judged) {
    judged.for_each_member("an object of documents", [&](std::string const& name, json_view value) {
      if (!value.is_array()) {
        if (name.empty()) value.fail("a document's id as the name of this member");
        return add(query, name, value.member("gain"), value.place());
      }
      double gain = 0;
      bool const is_graded = !name.empty();  // Quepid's "" lists documents without a rating
      if (is_graded && read_number(name, gain) != number_kind::finite)
        value.fail("a number as the name of an array of documents");
      value.for_each_element("an array", [&](json_view id) {
        if (is_graded)
          add(query, id.id(), gain, id.place());
        else
          ++notes_.without_grade;
      });
    });
  }

  judgment_list& list_;
  judgment_notes& notes_;
  std::string placeholder_ = "$query";
};

}  // namespace

std::optional<json_view> stored_judgments(json_view response) {
  std::optional<json_view> found;
  auto const hits = response.find("hits");
  auto const list = hits ? hits->find("hits") : std::nullopt;
  if (list && list->is_array())
    list->for_each_element({}, [&](json_view hit) {
      auto const source = hit.find("_source");
      if (!found && source && source->find("judgmentRatings")) found = source;
    });
  return found;
}

void read_json_judgments(json_view value, judgment_form form, judgment_list& to,
                         judgment_notes& notes) {
  list_reader reader(to, notes);
  if (form == judgment_form::rre)
    reader.read_rre(value);
  else
    reader.read_srw(stored_judgments(value).value_or(value));
}

}  // namespace rulerank::datasets
