#include "server/ranking/model_store.hpp"

#include "core/error.hpp"
#include "datasets/input/text_source.hpp"
#include "server/ranking/problem.hpp"

#include <utility>

#include <fmt/format.h>

namespace rulerank::inline v0::server {

namespace {

std::string names_of(auto const& slots) {
  std::string names;
  for (auto const& [name, slot] : slots) names += (names.empty() ? "" : ", ") + name;
  return names;
}

}  // namespace

model_store::model_store(std::map<std::string, std::string> const& paths, maker make)
    : make_(std::move(make)) {
  for (auto const& [name, path] : paths) {
    slot made{path};
    read(name, made);
    slots_.emplace(name, std::move(made));
  }
}

model_pointer model_store::read(std::string const& name, slot& at) {
  // Taken first: a file that is replaced while it is read is read again.
  at.state = file_state_of(at.path);
  std::string const bytes = datasets::read_file(at.path, "a model");
  std::string sum = sha256_hex(bytes);
  if (at.model && at.model->sha256 == sum) return at.model;
  l2r::scorer scorer = make_(l2r::model_from_bytes(bytes, at.path));
  auto made = std::make_shared<served_model>(
      served_model{name, at.versions + 1, std::move(sum), std::move(scorer), {}, {}, false, {}});
  made->columns = l2r::columns_of(made->scorer.fitted());
  auto const scored = l2r::scored_features(made->scorer.fitted());
  made->scored.assign(scored.begin(), scored.end());
  made->depends_on_list = !l2r::is_portable(made->scorer.fitted());
  for (auto const& [number, feature] : made->names()) made->numbers.emplace(feature, number);
  ++at.versions;
  at.model = made;
  return made;
}

model_store::slot& model_store::slot_of(std::string_view name) {
  auto const found = slots_.find(name);
  if (found == slots_.end())
    throw problem(404,
                  fmt::format("found model '{}', expected one of: {}", name, names_of(slots_)));
  return found->second;
}

model_pointer model_store::find(std::string_view name) const {
  std::lock_guard const lock(mutex_);
  auto const found = name.empty() && slots_.size() == 1 ? slots_.begin() : slots_.find(name);
  if (found == slots_.end())
    throw problem(
        404, name.empty()
                 ? fmt::format("found no model, expected one of: {}", names_of(slots_))
                 : fmt::format("found model '{}', expected one of: {}", name, names_of(slots_)));
  if (!found->second.model)
    throw problem(404, fmt::format("model '{}' is not loaded", found->first));
  return found->second.model;
}

model_pointer model_store::load(std::string_view name) {
  std::lock_guard const one_at_a_time(loading_);
  slot copy;
  {
    std::lock_guard const lock(mutex_);
    copy = slot_of(name);
  }
  auto const keep = [&] {
    std::lock_guard const lock(mutex_);
    slot_of(name) = copy;
  };
  try {
    read(std::string(name), copy);
    copy.failure.clear();
  } catch (std::exception const& e) {
    copy.failure = e.what();
    keep();
    throw problem(400, copy.failure);
  }
  keep();
  return copy.model;
}

void model_store::unload(std::string_view name) {
  std::lock_guard const one_at_a_time(loading_);
  std::lock_guard const lock(mutex_);
  slot_of(name).model.reset();
}

void model_store::load_changed(std::function<void(std::string const&)> const& say) {
  std::vector<std::string> changed;
  {
    std::lock_guard const lock(mutex_);
    for (auto const& [name, at] : slots_)
      if (at.model && !(file_state_of(at.path) == at.state)) changed.push_back(name);
  }
  for (std::string const& name : changed) try {
      model_pointer const now = load(name);
      say(fmt::format("model {}: version {}, SHA-256 {}", name, now->version, now->sha256));
    } catch (problem const& e) {
      say(fmt::format("model {}: {}; the loaded version stays", name, e.what()));
    }
}

std::vector<model_store::entry> model_store::entries() const {
  std::lock_guard const lock(mutex_);
  std::vector<entry> all;
  for (auto const& [name, at] : slots_) all.push_back({name, at.model, at.failure});
  return all;
}

}  // namespace rulerank::server
