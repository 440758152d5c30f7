#include "core/error.hpp"
#include "core/sha256.hpp"
#include "learners/lightgbm_booster.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <utility>

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>

namespace rulerank::inline v0::learners {

namespace {

namespace fs = std::filesystem;

constexpr char name_of_file[] = "lib_lightgbm.so";

using functions = lightgbm_library::functions;

template <class Function>
void look_up(void* library, std::string const& path, char const* name, Function& out) {
  void* const found = dlsym(library, name);
  if (found == nullptr)
    throw error({path, 0, 0}, fmt::format("found no function {}, expected LightGBM 4", name));
  out = reinterpret_cast<Function>(found);
}

/// The minimum size of a library file according to its header, tables and loaded segments (System V
/// ABI, Object Files); 0: unknown, the loader reports the error.
std::uint64_t least_size(std::string const& path) {
  std::ifstream file(path, std::ios::binary);
  Elf64_Ehdr header;
  constexpr unsigned char byte_order =
      std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
  if (!file.read(reinterpret_cast<char*>(&header), sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != byte_order)
    return 0;
  std::uint64_t least =
      std::max(header.e_phoff + std::uint64_t{header.e_phnum} * header.e_phentsize,
               header.e_shoff + std::uint64_t{header.e_shnum} * header.e_shentsize);
  for (std::uint64_t k = 0; k < header.e_phnum; ++k) {
    Elf64_Phdr segment;
    file.seekg(static_cast<std::streamoff>(header.e_phoff + k * header.e_phentsize));
    if (!file.read(reinterpret_cast<char*>(&segment), sizeof segment)) return least;
    if (segment.p_type == PT_LOAD) least = std::max(least, segment.p_offset + segment.p_filesz);
  }
  return least;
}

/// Throws `error` naming a truncated library: the loader would map it, and access to a missing page
/// would kill the process.
void expect_whole(std::string const& path, std::string const& shown) {
  std::error_code absent;
  std::uint64_t const size = fs::file_size(path, absent);
  if (absent) return;
  if (std::uint64_t const least = least_size(path); size < least)
    throw error({shown, 0, 0},
                fmt::format("found {} bytes, expected the {} of a whole library", size, least));
}

class boosted_by_lightgbm final : public learner {
 public:
  boosted_by_lightgbm(lightgbm_functions of, lightgbm_options options)
      : call_(std::move(of)), options_(std::move(options)) {
    check(options_);
  }

  void fit(context const& ctx, documents const& pool, labelled const& known) override {
    features_ = datasets::listed_features(pool.data);
    booster_.reset();
    if (features_.empty()) return;
    booster_.emplace(call_, parameters_of(options_),
                     matrix_of(pool.data, known.documents, features_), pool.data, known);
    booster_->grow(ctx, options_.trees);
  }

  std::vector<double> score(context const& ctx, documents const& test) override {
    return score_by_steps(ctx, test, steps());
  }

  std::size_t steps() const override {
    return booster_ ? std::max<std::size_t>(booster_->trees(), 1) : 1;
  }

  std::vector<std::vector<double>> scores_by_steps(context const& ctx, documents const& test,
                                                   std::span<std::size_t const> counts) override {
    expect_trees(counts, steps());
    if (!booster_) return {counts.size(), std::vector<double>(test.data.size())};
    return booster_->scores(ctx, matrix_of(test.data, features_), counts);
  }

 private:
  lightgbm_functions call_;
  lightgbm_options options_;
  std::vector<std::uint32_t> features_;
  std::optional<lightgbm_booster> booster_;
};

/// The format of the models that the library writes, such as `version=v4`, from a model of one
/// document.
std::string form_of_models(functions const& call) {
  double const value = 0;
  float const label = 0;
  void* made = nullptr;
  call.check(call.dataset_from_matrix(&value, lightgbm_float64, 1, 1, 1,
                                      "verbosity=-1 num_threads=1", nullptr, &made));
  lightgbm_handle const data(made, call.dataset_free);
  call.check(call.dataset_set_field(data.get(), "label", &label, 1, lightgbm_float32));
  call.check(
      call.booster_create(data.get(), "objective=regression verbosity=-1 num_threads=1", &made));
  lightgbm_handle const booster(made, call.booster_free);
  std::string const text = text_of(call, booster.get());
  constexpr std::string_view key = "version=";
  std::size_t const begin = text.find(key);
  if (begin == std::string::npos) return {};
  return text.substr(begin + key.size(), text.find('\n', begin) - begin - key.size());
}

/// The content of the package's VERSION.txt, one folder above the library's.
std::string version_in_package(std::string const& path) {
  std::ifstream file(fs::path(path).parent_path().parent_path() / "VERSION.txt");
  std::string word;
  file >> word;
  return word;
}

/// Identifies the LightGBM version of a file.
std::string version_of(std::string const& path) {
  if (std::string const release = version_in_package(path); !release.empty())
    return fmt::format("LightGBM {}", release);
  std::error_code status;
  if (!fs::is_regular_file(path, status)) return "LightGBM 4 (models v4)";
  return fmt::format("LightGBM 4 (models v4, SHA-256 {})", sha256_of_file(path).substr(0, 12));
}

/// `folder`/python3*/`packages`/lightgbm/lib/lib_lightgbm.so, the last match; empty if there is
/// none.
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
  // A name without a slash is searched in the system's library path, unless it is a local file.
  std::error_code status;
  std::string const where = fs::exists(path, status) ? fs::absolute(path, status).string() : path;
  expect_whole(where, path);
  // Never unloaded, because its OpenMP threads may outlive the last call.
  void* const library = dlopen(where.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    std::string_view why = dlerror();
    if (why.starts_with(where + ": ")) why.remove_prefix(where.size() + 2);
    throw error({path, 0, 0}, fmt::format("cannot be loaded: {}", why));
  }
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
  look_up(library, path, "LGBM_BoosterGetLeafValue", of->booster_leaf);
  look_up(library, path, "LGBM_BoosterSaveModelToString", of->booster_text);
  look_up(library, path, "LGBM_BoosterFree", of->booster_free);
  of->check(of->register_log([](char const*) {}));
  std::string const form = form_of_models(*of);
  if (form != "v4")
    throw error(
        {path, 0, 0},
        fmt::format("found models of format '{}', expected v4, the format of LightGBM 4", form));
  version_ = of->version = version_of(where);
  functions_ = of;
}

std::unique_ptr<learner> lightgbm_library::make(lightgbm_options const& options) const {
  return std::make_unique<boosted_by_lightgbm>(functions_, options);
}

std::unique_ptr<learner> lightgbm_library::make(ilmart_options const& options) const {
  return make_ilmart(functions_, options);
}

}  // namespace rulerank::learners
