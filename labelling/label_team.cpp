#include "labelling/label_team.hpp"

#include "core/error.hpp"

#include <algorithm>
#include <unordered_set>

#include <fmt/format.h>

namespace rulerank::inline v0::labelling {

namespace {

/// The majority's answer, of ties the earliest. `answers`: one or more.
std::optional<std::int32_t> settled(std::vector<said> const& answers) {
  auto const votes = [&](said const& s) {
    return std::ranges::count(answers, s.label, &said::label);
  };
  return std::ranges::max_element(answers, {}, votes)->label;
}

}  // namespace

label_team::label_team(al::labelling& work, al::answer_journal& journal, std::string const& path,
                       std::size_t needed)
    : work_(work), journal_(journal), needed_(std::max<std::size_t>(needed, 1)) {
  for (al::answer const& a : journal_.answers())
    about_[a.document].push_back({a.labeller, a.label, a.note});
  for (al::answer const& a : journal_.answers()) {
    auto const given = work_.answers();
    if (work_.label_of(a.document) != datasets::unlabelled &&
        std::ranges::find(given, a.document, &al::answer::document) == given.end())
      throw error({path, a.line, 1},
                  "found an answer for a document that has a label in the pool, expected answers "
                  "for documents without one");
    settle(a.document);
  }
}

std::vector<said> const& label_team::answers_about(std::size_t document) const {
  static std::vector<said> const none;
  auto const found = about_.find(document);
  return found != about_.end() ? found->second : none;
}

std::vector<said> label_team::answers_of_people(std::size_t document) const {
  std::vector<said> answers = answers_about(document);
  std::erase_if(answers, [](said const& s) { return s.labeller == program_labeller; });
  return answers;
}

void label_team::update(std::size_t document) {
  std::vector<said>& answers = about_[document];
  answers.clear();
  for (al::answer const& a : journal_.answers())
    if (a.document == document) answers.push_back({a.labeller, a.label, a.note});
}

/// Updates the sampling's label of a document from the current answers.
void label_team::settle(std::size_t document) {
  auto const answers = answers_of_people(document);
  auto const given = work_.answers();
  auto const now = std::ranges::find(given, document, &al::answer::document);
  bool const enough = answers.size() >= needed_;
  if (now != given.end()) {
    if (enough && now->label == settled(answers)) return;
    work_.take_back(document);
  }
  if (enough) work_.answer(document, settled(answers));
}

std::optional<al::question> label_team::next(std::string const& labeller) {
  looks_at_.erase(labeller);
  std::optional<al::question> second;
  for (al::question const& q : work_.wanted()) {
    auto const answers = answers_of_people(q.document);
    if (std::ranges::find(answers, labeller, &said::labeller) != answers.end()) continue;
    auto const looking = static_cast<std::size_t>(std::ranges::count_if(
        looks_at_, [&](auto const& look) { return look.second == q.document; }));
    if (answers.size() + looking < needed_) {
      looks_at_[labeller] = q.document;
      return q;
    }
    if (!second) second = q;
  }
  if (second) looks_at_[labeller] = second->document;
  return second;
}

bool label_team::may_answer(std::string const& labeller, std::size_t document) const {
  auto const looks = looks_at_.find(labeller);
  return (looks != looks_at_.end() && looks->second == document) ||
         std::ranges::find(work_.wanted(), document, &al::question::document) !=
             work_.wanted().end() ||
         !answers_about(document).empty();
}

void label_team::answer(std::string const& labeller, std::size_t document,
                        std::optional<std::int32_t> label, std::string note) {
  auto const given = work_.answers();
  if (work_.label_of(document) != datasets::unlabelled &&
      std::ranges::find(given, document, &al::answer::document) == given.end())
    throw usage_error("the document has a label in the pool, expected a document without one");
  journal_.add(document, label, labeller, std::move(note));
  update(document);
  settle(document);
}

std::optional<std::size_t> label_team::undo(std::string const& labeller) {
  auto const answers = journal_.answers();
  auto const last = std::find_if(answers.rbegin(), answers.rend(),
                                 [&](al::answer const& a) { return a.labeller == labeller; });
  if (last == answers.rend()) return {};
  std::size_t const document = last->document;
  journal_.undo(labeller);
  update(document);
  settle(document);
  looks_at_[labeller] = document;
  return document;
}

std::optional<std::size_t> label_team::undo_back_to(std::string const& labeller,
                                                    std::size_t document) {
  if (!answer_of(labeller, document)) return {};
  while (undo(labeller) != document) {
  }
  return document;
}

std::vector<std::size_t> label_team::without_opinion() const {
  std::vector<std::size_t> documents;
  for (al::answer const& a : journal_.answers())
    if (a.labeller != program_labeller && !answer_of(program_labeller, a.document) &&
        std::ranges::find(documents, a.document) == documents.end())
      documents.push_back(a.document);
  return documents;
}

void label_team::add_opinion(std::size_t document, std::optional<std::int32_t> label) {
  journal_.add(document, label, std::string(program_labeller));
  update(document);
}

std::vector<dispute> label_team::disputes() const {
  std::vector<dispute> found;
  std::unordered_set<std::size_t> seen;
  auto const all = journal_.answers();
  for (auto a = all.rbegin(); a != all.rend(); ++a) {
    if (!seen.insert(a->document).second) continue;
    auto const& answers = answers_about(a->document);
    if (std::ranges::any_of(answers, [&](said const& s) { return s.label != answers[0].label; }) &&
        !answers_of_people(a->document).empty())
      found.push_back({a->document, answers, settled(answers_of_people(a->document))});
  }
  return found;
}

std::size_t label_team::answers_of(std::string_view labeller) const {
  return static_cast<std::size_t>(
      std::ranges::count(journal_.answers(), labeller, &al::answer::labeller));
}

std::vector<al::answer> label_team::all_of(std::string_view labeller) const {
  std::vector<al::answer> all;
  for (al::answer const& a : journal_.answers())
    if (a.labeller == labeller) all.push_back(a);
  std::ranges::reverse(all);
  return all;
}

std::optional<said> label_team::answer_of(std::string_view labeller, std::size_t document) const {
  for (said const& s : answers_about(document))
    if (s.labeller == labeller) return s;
  return {};
}

std::vector<std::string> label_team::labellers() const {
  std::vector<std::string> names;
  for (al::answer const& a : journal_.answers())
    if (std::ranges::find(names, a.labeller) == names.end()) names.push_back(a.labeller);
  return names;
}

}  // namespace rulerank::labelling
