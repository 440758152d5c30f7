#include "labelling/judge/program_judge.hpp"

#include "al/answers.hpp"
#include "core/error.hpp"
#include "core/json_fields.hpp"
#include "core/sha256.hpp"

#include <chrono>
#include <cmath>
#include <ctime>
#include <deque>
#include <limits>
#include <utility>

#include <fmt/chrono.h>
#include <fmt/format.h>

namespace rulerank::inline v0::labelling {

namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_attempts = 3;

std::string now_in_utc() {
  return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)));
}

std::string text_of(ordered_json const& answer, std::string_view key) {
  auto const found = answer.find(key);
  if (found == answer.end() || found->is_null()) return {};
  if (!found->is_string())
    throw usage_error(fmt::format("{}: found {}, expected text", key, json_shown(*found)));
  return found->get<std::string>();
}

/// The largest label in lines of the record, which other runs may have asked about other labels.
constexpr std::int32_t any_label = std::numeric_limits<std::int32_t>::max();

std::optional<std::int32_t> label_in(ordered_json const& answer, std::int32_t max_label) {
  auto const found = answer.find("label");
  if (found == answer.end()) throw usage_error("found no label, expected label");
  if (found->is_null() || *found == al::left_out_word) return {};
  if (!found->is_number_unsigned() ||
      found->get<std::uint64_t>() > static_cast<std::uint64_t>(max_label))
    throw usage_error(fmt::format("label: found {}, expected an integer from 0 to {}, or skip",
                                  json_shown(*found), max_label));
  return found->get<std::int32_t>();
}

std::vector<double> probabilities_in(ordered_json const& answer, std::int32_t max_label) {
  auto const found = answer.find("probabilities");
  if (found == answer.end() || found->is_null()) return {};
  std::vector<double> shares;
  double sum = 0;
  if (found->is_array())
    for (ordered_json const& share : *found)
      if (share.is_number() && share.get<double>() >= 0)
        sum += shares.emplace_back(share.get<double>());
  if (max_label != any_label &&
      (!found->is_array() || shares.size() != found->size() ||
       shares.size() != static_cast<std::size_t>(max_label) + 1 || !(std::abs(sum - 1) < 0.01)))
    throw usage_error(fmt::format(
        "probabilities: found {}, expected a list of {} numbers of 0 or more whose sum is 1",
        json_shown(*found), max_label + 1));
  return shares;
}

double cost_in(ordered_json const& answer) {
  auto const found = answer.find("cost");
  if (found == answer.end() || found->is_null()) return 0;
  if (!found->is_number() || !(found->get<double>() >= 0))
    throw usage_error(
        fmt::format("cost: found {}, expected a number of 0 or more", json_shown(*found)));
  return found->get<double>();
}

/// The cost of an answer that may be faulty; 0 if it has none.
double stated_cost(ordered_json const& answer) {
  try {
    return cost_in(answer);
  } catch (usage_error const&) {
    return 0;
  }
}

/// Throws `usage_error` for a member that is not as the protocol defines it.
verdict verdict_of(ordered_json const& answer, std::int32_t max_label) {
  verdict read;
  read.label = label_in(answer, max_label);
  read.probabilities = probabilities_in(answer, max_label);
  read.cost = cost_in(answer);
  read.reason = text_of(answer, "reason");
  read.source = text_of(answer, "source");
  read.time = text_of(answer, "time");
  if (read.source.empty()) read.source = "program";
  return read;
}

std::string key_of(std::string const& command, ordered_json const& request) {
  return sha256_hex(command + '\n' + json_line_of(request));
}

}  // namespace

/// The requests of one call of `judge`.
struct program_judge::round {
  std::span<ordered_json const> requests;
  std::size_t first_id = 0;  // of the first request
  std::vector<std::string> keys;
  std::vector<std::optional<verdict>> verdicts;
  std::vector<std::size_t> attempts;
  std::deque<std::size_t> open;                // not sent
  std::map<std::string, std::size_t> waiting;  // sent, by id
  std::size_t failures_in_a_row = 0;
  bool one_by_one = false;
};

program_judge::program_judge(judge_options options)
    : options_(std::move(options)), record_(options_.record, "the answers of a program") {
  read_record();
}

void program_judge::read_record() {
  std::string const text = record_.read();
  std::string const head = std::string(judge_record_mark) + '\n';
  if (text.size() < head.size() && head.starts_with(text)) {
    record_.cut(0);
    record_.append(head);
    record_.sync_folder();
    return;
  }
  if (!text.starts_with(head))
    throw error({options_.record, 1, 1},
                fmt::format("found no record of a program's answers, expected {}, or the name of a "
                            "new file",
                            judge_record_mark));
  std::size_t const whole = text.find_last_of('\n') + 1;
  std::uint64_t number = 1;
  for (std::size_t at = head.size(); at < whole;) {
    std::size_t const end = text.find('\n', at);
    ++number;
    auto const line = parse_ordered_json(std::string_view(text).substr(at, end - at),
                                         options_.record, "an answer of a program", number);
    at = end + 1;
    read_json({options_.record, number, 1}, "not an answer of a program", [&] {
      add_call(cost_in(line));
      if (line.contains("failed")) return;
      verdict read = verdict_of(line, any_label);
      known_.insert_or_assign(line.at("asked").get<std::string>(), std::move(read));
    });
  }
  if (whole != text.size()) record_.cut(whole);
}

void program_judge::add_call(double cost) {
  ++calls_;
  cost_ += cost;
  largest_cost_ = std::max(largest_cost_, cost);
}

void program_judge::write(ordered_json const& line) {
  record_.append(json_line_of(line) + '\n');
}

/// Whether the budgets allow another request while `waiting` ones are unanswered. Their cost is
/// expected to be the largest one so far.
bool program_judge::may_send(std::size_t waiting) {
  auto const used_up = [&](std::string_view budget) {
    if (waiting == 0) problem_ = fmt::format("{} is used up", budget);
    return false;
  };
  if (options_.most_calls != 0 && calls_ + waiting >= options_.most_calls)
    return used_up("the budget of calls");
  double const expected = cost_ + largest_cost_ * static_cast<double>(waiting + 1);
  if (options_.most_cost > 0 && expected > options_.most_cost)
    return used_up("the budget of costs");
  return true;
}

void program_judge::send(round& now) {
  // With a budget of costs, the first answer shows what a call costs.
  std::size_t const most =
      now.one_by_one || (options_.most_cost > 0 && calls_ == 0) ? 1 : now.requests.size();
  while (!now.open.empty() && now.waiting.size() < most && may_send(now.waiting.size())) {
    std::size_t const request = now.open.front();
    now.open.pop_front();
    if (!process_) process_ = std::make_unique<judge_process>(options_.command);
    std::string const id = fmt::format("{}", now.first_id + request);
    ordered_json line{{"id", id}};
    line.update(now.requests[request]);
    process_->send(json_line_of(line));
    now.waiting.emplace(id, request);
  }
}

void program_judge::fail(round& now, std::size_t request, std::string const& why, bool is_its_own,
                         double cost) {
  add_call(cost);
  problem_ = why;
  ordered_json line{{"asked", now.keys[request]},
                    {"qid", now.requests[request]["qid"]},
                    {"docid", now.requests[request]["docid"]},
                    {"failed", why}};
  if (cost > 0) line["cost"] = cost;
  line["time"] = now_in_utc();
  write(line);
  if (is_its_own) ++now.attempts[request];
  if (now.attempts[request] < most_attempts) now.open.push_back(request);
}

/// Ends the program; nothing that it was asked is answered.
void program_judge::fail_all(round& now, std::string const& why) {
  process_.reset();
  for (auto const& [id, request] : std::exchange(now.waiting, {}))
    fail(now, request, why, now.one_by_one);
  now.one_by_one = true;
  // A program that fails whatever it is asked is not asked again.
  if (++now.failures_in_a_row >= most_attempts) now.open.clear();
}

void program_judge::hear(round& now, std::string const& line) {
  ordered_json const answer = ordered_json::parse(line, nullptr, false);
  auto const id = answer.is_object() && answer.contains("id") ? answer["id"] : ordered_json();
  auto const found = id.is_string() ? now.waiting.find(id.get<std::string>()) : now.waiting.end();
  if (found == now.waiting.end())
    return fail_all(now, fmt::format("found {}, expected a JSON object with the id of a question",
                                     rulerank::quoted(line)));
  std::size_t const request = found->second;
  now.waiting.erase(found);
  double const cost = stated_cost(answer);
  try {
    if (std::string const why = text_of(answer, "error"); !why.empty())
      return fail(now, request, "the program reports: " + printable(why), true, cost);
    verdict said = verdict_of(answer, options_.max_label);
    said.time = now_in_utc();
    ordered_json line_of_record{{"asked", now.keys[request]},
                                {"qid", now.requests[request]["qid"]},
                                {"docid", now.requests[request]["docid"]},
                                {"label", said.label ? ordered_json(*said.label) : nullptr}};
    if (!said.probabilities.empty()) line_of_record["probabilities"] = said.probabilities;
    if (said.cost > 0) line_of_record["cost"] = said.cost;
    if (!said.reason.empty()) line_of_record["reason"] = said.reason;
    line_of_record["source"] = said.source;
    line_of_record["time"] = said.time;
    write(line_of_record);
    add_call(said.cost);
    now.failures_in_a_row = 0;
    known_.insert_or_assign(now.keys[request], said);
    now.verdicts[request] = std::move(said);
  } catch (usage_error const& e) {
    fail(now, request, e.what(), true, cost);
  }
}

std::vector<std::optional<verdict>> program_judge::judge(context const& ctx,
                                                         std::span<ordered_json const> requests) {
  round now;
  now.requests = requests;
  // A second answer about an earlier question must not become one about another question.
  now.first_id = std::exchange(next_id_, next_id_ + requests.size());
  now.verdicts.resize(requests.size());
  now.attempts.resize(requests.size());
  for (std::size_t r = 0; r < requests.size(); ++r) {
    now.keys.push_back(key_of(options_.command, requests[r]));
    if (auto const found = known_.find(now.keys[r]); found != known_.end()) {
      now.verdicts[r] = found->second;
      ++recalled_;
    } else {
      now.open.push_back(r);
    }
  }
  try {
    for (std::string line; send(now), !now.waiting.empty();) {
      switch (process_->next(ctx, options_.seconds, line)) {
        case judge_process::event::line:
          hear(now, line);
          break;
        case judge_process::event::time_out:
          fail_all(now, fmt::format("no answer within {} s", options_.seconds));
          break;
        case judge_process::event::end:
          fail_all(now, "the program ended: " + process_->how_it_ended());
          break;
      }
    }
  } catch (interrupted const&) {
    fail_all(now, "interrupted");
    throw;
  }
  return std::move(now.verdicts);
}

}  // namespace rulerank::labelling
