#include "core/error.hpp"
#include "peers/peers.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <utility>

#include <dlfcn.h>
#include <fmt/format.h>

namespace rulerank::peers {

// LightGBM's wheel has no header. These are the prototypes of include/LightGBM/c_api.h that are
// used, version 4; https://lightgbm.readthedocs.io/en/stable/C-API.html describes them.
struct lightgbm_library::functions {
  using dataset = void*;
  using booster = void*;

  char const* (*last_error)() = nullptr;
  int (*register_log)(void (*)(char const*)) = nullptr;
  int (*dataset_from_matrix)(void const* data, int type, std::int32_t rows, std::int32_t columns,
                             int row_major, char const* parameters, dataset reference,
                             dataset* out) = nullptr;
  int (*dataset_set_field)(dataset, char const* name, void const* data, int count,
                           int type) = nullptr;
  int (*dataset_free)(dataset) = nullptr;
  int (*booster_create)(dataset, char const* parameters, booster* out) = nullptr;
  int (*booster_update)(booster, int* finished) = nullptr;
  int (*booster_predict)(booster, void const* data, int type, std::int32_t rows,
                         std::int32_t columns, int row_major, int kind, int first, int count,
                         char const* parameters, std::int64_t* length, double* out) = nullptr;
  int (*booster_text)(booster, int first, int count, int importance, std::int64_t room,
                      std::int64_t* length, char* out) = nullptr;
  int (*booster_free)(booster) = nullptr;
  std::string version;

  void check(int status) const {
    if (status != 0) throw error({version, 0, 0}, last_error());
  }
};

namespace {

namespace fs = std::filesystem;

// Constants of c_api.h.
constexpr int type_float32 = 0, type_float64 = 1, type_int32 = 2;
constexpr int predict_raw_score = 1;

constexpr char name_of_file[] = "lib_lightgbm.so";

using functions = lightgbm_library::functions;

template <class Function>
void look_up(void* library, std::string const& path, char const* name, Function& out) {
  void* const found = dlsym(library, name);
  if (found == nullptr)
    throw error({path, 0, 0}, fmt::format("found no function {}, expected LightGBM 4", name));
  out = reinterpret_cast<Function>(found);
}

/// Frees a data set or a booster.
class handle {
 public:
  handle() = default;
  handle(void* of, int (*free)(void*)) : of_(of), free_(free) {}
  ~handle() {
    if (of_ != nullptr) free_(of_);
  }
  handle(handle&& other) noexcept
      : of_(std::exchange(other.of_, nullptr)), free_(std::exchange(other.free_, nullptr)) {}
  handle& operator=(handle&& other) noexcept {
    std::swap(of_, other.of_);
    std::swap(free_, other.free_);
    return *this;
  }
  void* get() const noexcept { return of_; }

 private:
  void* of_ = nullptr;
  int (*free_)(void*) = nullptr;
};

/// Documents as rows of a matrix, a column for each of the features.
struct matrix {
  std::vector<double> values;
  std::int32_t rows = 0, columns = 0;
};

matrix matrix_of(datasets::dataset const& data, std::span<std::size_t const> documents,
                 std::vector<std::uint32_t> const& features) {
  constexpr auto most = static_cast<std::size_t>(std::numeric_limits<std::int32_t>::max());
  if (documents.size() > most || features.size() > most)
    throw error({data.name, 0, 0}, "found more documents or features than LightGBM can number");
  matrix m{std::vector<double>(documents.size() * features.size()),
           static_cast<std::int32_t>(documents.size()), static_cast<std::int32_t>(features.size())};
  double* row = m.values.data();
  for (std::size_t const d : documents) {
    auto column = features.begin();
    for (datasets::feature_value const& v : data.document(d)) {
      column = std::lower_bound(column, features.end(), v.feature);
      if (column == features.end()) break;
      if (*column == v.feature) row[column - features.begin()] = v.value;
    }
    row += features.size();
  }
  return m;
}

std::string parameters_of(lightgbm_options const& o) {
  return fmt::format(
      "objective={} num_leaves={} min_data_in_leaf={} learning_rate={} seed={} num_threads=1 "
      "deterministic=true force_row_wise=true feature_pre_filter=false verbosity=-1",
      o.objective, o.leaves, o.least, o.rate,
      o.seed % static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max()));
}

class boosted_by_lightgbm final : public committee::learner {
 public:
  boosted_by_lightgbm(std::shared_ptr<functions const> of, lightgbm_options options)
      : call_(std::move(of)), options_(std::move(options)) {
    if (options_.trees == 0 || options_.leaves < 2 || options_.least < 0 || !(options_.rate > 0))
      throw usage_error("lightgbm: trees, two leaves or more and a rate above 0 are expected");
  }

  void learn(context const& ctx, committee::documents const& pool,
             committee::labelled const& known) override {
    features_ = datasets::listed_features(pool.data);
    booster_ = {};  // before the data that it refers to
    training_ = {};
    steps_ = 1;
    if (features_.empty()) return;
    std::string const parameters = parameters_of(options_);
    matrix const m = matrix_of(pool.data, known.documents, features_);
    void* made = nullptr;
    call_->check(call_->dataset_from_matrix(m.values.data(), type_float64, m.rows, m.columns, 1,
                                            parameters.c_str(), nullptr, &made));
    training_ = handle(made, call_->dataset_free);
    std::vector<float> labels;
    for (std::size_t const d : known.documents)
      labels.push_back(static_cast<float>(known.labels[d]));
    std::vector<std::int32_t> const sizes = group_sizes(pool.data, known.documents);
    set_field("label", labels.data(), labels.size(), type_float32);
    set_field("group", sizes.data(), sizes.size(), type_int32);
    call_->check(call_->booster_create(training_.get(), parameters.c_str(), &made));
    booster_ = handle(made, call_->booster_free);
    // A tree that cannot grow ends it: those that follow would be the same.
    std::size_t grown = 0;
    for (int finished = 0; grown < options_.trees && finished == 0;) {
      ctx.check_stop();
      call_->check(call_->booster_update(booster_.get(), &finished));
      if (finished == 0) ++grown;
    }
    steps_ = std::max<std::size_t>(grown, 1);
  }

  std::vector<double> score(context const& ctx, committee::documents const& test) override {
    return score_by_steps(ctx, test, steps_);
  }

  std::size_t steps() const override { return steps_; }

  std::vector<double> score_by_steps(context const&, committee::documents const& test,
                                     std::size_t count) override {
    if (count == 0 || count > steps_)
      throw usage_error(fmt::format("found {} trees, expected 1 to {}", count, steps_));
    std::vector<double> scores(test.data.size());
    if (booster_.get() == nullptr || scores.empty()) return scores;
    std::vector<std::size_t> all(scores.size());
    for (std::size_t d = 0; d < all.size(); ++d) all[d] = d;
    matrix const m = matrix_of(test.data, all, features_);
    std::int64_t length = 0;
    call_->check(call_->booster_predict(booster_.get(), m.values.data(), type_float64, m.rows,
                                        m.columns, 1, predict_raw_score, 0, static_cast<int>(count),
                                        "num_threads=1 verbosity=-1", &length, scores.data()));
    if (length != static_cast<std::int64_t>(scores.size()))
      throw error({call_->version, 0, 0},
                  fmt::format("found {} scores of {} documents", length, scores.size()));
    return scores;
  }

 private:
  void set_field(char const* name, void const* values, std::size_t count, int type) const {
    call_->check(
        call_->dataset_set_field(training_.get(), name, values, static_cast<int>(count), type));
  }

  static std::vector<std::int32_t> group_sizes(datasets::dataset const& data,
                                               std::span<std::size_t const> documents) {
    std::vector<std::int32_t> sizes;
    auto at = documents.begin();
    for (datasets::query_group const& q : data.queries) {
      auto const end = std::lower_bound(at, documents.end(), q.end);
      if (end != at) sizes.push_back(static_cast<std::int32_t>(end - at));
      at = end;
    }
    return sizes;
  }

  std::shared_ptr<functions const> call_;
  lightgbm_options options_;
  std::vector<std::uint32_t> features_;
  handle training_, booster_;
  std::size_t steps_ = 1;
};

/// `version=v4`: the form of the models that the library writes, by one of a single document.
std::string form_of_models(functions const& call) {
  double const value = 0;
  float const label = 0;
  void* made = nullptr;
  call.check(call.dataset_from_matrix(&value, type_float64, 1, 1, 1, "verbosity=-1 num_threads=1",
                                      nullptr, &made));
  handle const data(made, call.dataset_free);
  call.check(call.dataset_set_field(data.get(), "label", &label, 1, type_float32));
  call.check(
      call.booster_create(data.get(), "objective=regression verbosity=-1 num_threads=1", &made));
  handle const booster(made, call.booster_free);
  std::int64_t length = 0;
  call.check(call.booster_text(booster.get(), 0, -1, 0, 0, &length, nullptr));
  std::string text(static_cast<std::size_t>(std::max<std::int64_t>(length, 1)), '\0');
  call.check(call.booster_text(booster.get(), 0, -1, 0, length, &length, text.data()));
  constexpr std::string_view key = "version=";
  std::size_t const begin = text.find(key);
  if (begin == std::string::npos) return {};
  return text.substr(begin + key.size(), text.find('\n', begin) - begin - key.size());
}

/// What stands in the package's VERSION.txt, one folder above the library's.
std::string version_in_package(std::string const& path) {
  std::ifstream file(fs::path(path).parent_path().parent_path() / "VERSION.txt");
  std::string word;
  file >> word;
  return word;
}

/// `folder`/python3*/`packages`/lightgbm/lib/lib_lightgbm.so, of the last such name; or empty.
std::string find_below(fs::path const& folder) {
  std::string found;
  std::error_code status;
  for (fs::directory_iterator at(folder, status), end; !status && at != end; at.increment(status)) {
    if (!at->path().filename().string().starts_with("python3")) continue;
    for (char const* const packages : {"site-packages", "dist-packages"}) {
      fs::path const path = at->path() / packages / "lightgbm" / "lib" / name_of_file;
      std::error_code absent;
      if (fs::is_regular_file(path, absent)) found = std::max(found, path.string());
    }
  }
  return found;
}

}  // namespace

std::string find_lightgbm() {
  std::vector<fs::path> folders;
  for (auto const& [variable, below] :
       {std::pair{"VIRTUAL_ENV", "lib"}, {"CONDA_PREFIX", "lib"}, {"HOME", ".local/lib"}})
    if (char const* const folder = std::getenv(variable); folder != nullptr && *folder != '\0')
      folders.push_back(fs::path(folder) / below);
  folders.emplace_back("/usr/local/lib");
  folders.emplace_back("/usr/lib");
  for (fs::path const& folder : folders)
    if (std::string found = find_below(folder); !found.empty()) return found;
  return {};
}

lightgbm_library::lightgbm_library(std::string const& path) {
  // A name without a slash is looked for among the machine's libraries, unless it is a file here.
  std::error_code status;
  std::string const where = fs::exists(path, status) ? fs::absolute(path, status).string() : path;
  // Never unloaded: its OpenMP threads may outlive the last call.
  void* const library = dlopen(where.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) throw error({path, 0, 0}, fmt::format("cannot be loaded: {}", dlerror()));
  auto const of = std::make_shared<functions>();
  of->version = "LightGBM";
  look_up(library, path, "LGBM_GetLastError", of->last_error);
  look_up(library, path, "LGBM_RegisterLogCallback", of->register_log);
  look_up(library, path, "LGBM_DatasetCreateFromMat", of->dataset_from_matrix);
  look_up(library, path, "LGBM_DatasetSetField", of->dataset_set_field);
  look_up(library, path, "LGBM_DatasetFree", of->dataset_free);
  look_up(library, path, "LGBM_BoosterCreate", of->booster_create);
  look_up(library, path, "LGBM_BoosterUpdateOneIter", of->booster_update);
  look_up(library, path, "LGBM_BoosterPredictForMat", of->booster_predict);
  look_up(library, path, "LGBM_BoosterSaveModelToString", of->booster_text);
  look_up(library, path, "LGBM_BoosterFree", of->booster_free);
  of->check(of->register_log([](char const*) {}));
  std::string const form = form_of_models(*of);
  if (form != "v4")
    throw error({path, 0, 0},
                fmt::format("found models of form '{}', expected v4, that of LightGBM 4", form));
  std::string const release = version_in_package(where);
  version_ = of->version =
      release.empty() ? "LightGBM 4 (models v4)" : fmt::format("LightGBM {}", release);
  functions_ = of;
}

std::unique_ptr<committee::learner> lightgbm_library::make(lightgbm_options const& options) const {
  return std::make_unique<boosted_by_lightgbm>(functions_, options);
}

}  // namespace rulerank::peers
