#pragma once

#include "core/sha256.hpp"
#include "l2r/model/input_columns.hpp"
#include "l2r/model/scorer.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rulerank::inline v0::server {

/// A loaded model. Several threads may use it at once.
struct served_model {
  std::string name;
  std::uint64_t version = 0;  ///< 1 for the name's first file; each other file adds 1
  std::string sha256;         ///< of the file
  l2r::scorer scorer;
  l2r::input_columns columns;
  std::vector<std::uint32_t> scored;  ///< features whose values change a score, ascending
  bool depends_on_list = false;
  std::unordered_map<std::string_view, std::uint32_t> numbers;  ///< of named features; views in
                                                                ///< `scorer`
  datasets::feature_names const& names() const { return l2r::names_of(scorer.fitted()); }
};

using model_pointer = std::shared_ptr<served_model const>;

/// The models of a server, by name. Requests keep the model that they began with, so loading and
/// unloading disturb none. Several threads may call all functions at once.
class model_store {
 public:
  struct entry {
    std::string name;
    model_pointer model;  ///< null: unloaded
    std::string failure;  ///< why the last load failed; empty: it did not
  };
  using maker = std::function<l2r::scorer(l2r::model)>;

  /// Loads all models. `paths`: by name. Throws what reading and `make` throw.
  model_store(std::map<std::string, std::string> const& paths, maker make);

  /// Returns a loaded model, or the only model of the store for an empty name. Throws `problem` if
  /// there is none.
  model_pointer find(std::string_view name) const;
  /// Reads a model's file. Throws `problem` for an unknown name and for a file that is no model; a
  /// loaded model then stays.
  model_pointer load(std::string_view name);
  void unload(std::string_view name);
  /// Loads the models whose files have changed since their last load; calls `say` with a message
  /// for each.
  void load_changed(std::function<void(std::string const&)> const& say);
  std::vector<entry> entries() const;

 private:
  struct slot {
    std::string path;
    file_state state{};
    std::uint64_t versions = 0;
    model_pointer model{};
    std::string failure{};
  };
  model_pointer read(std::string const& name, slot& at);
  slot& slot_of(std::string_view name);

  maker make_;
  std::mutex loading_;        // held by one load at a time, and by `unload`
  mutable std::mutex mutex_;  // guards `slots_`
  std::map<std::string, slot, std::less<>> slots_;
};

}  // namespace rulerank::server
