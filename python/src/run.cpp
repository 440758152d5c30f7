#include "python/src/run.hpp"

#include "core/devices.hpp"
#include "core/error.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <optional>
#include <stdexcept>
#include <stop_token>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <nanobind/stl/string.h>
#include <unistd.h>

namespace rulerank::inline v0::python {

namespace {

/// The interval of checking signals and reporting progress.
constexpr std::chrono::milliseconds interval{50};

std::vector<int> devices_named(std::string const& device) {
  if (device == "cpu") return {};
  if (device != "cuda" && !device.starts_with("cuda:"))
    throw usage_error("device: found '" + device + "', expected cpu, cuda or cuda:0,1,...");
  device_list const list = list_devices();
  if (list.devices.empty())
    throw device_error("device " + device + ": found no CUDA device: " + list.why_none);
  std::vector<int> ordinals;
  if (device == "cuda")
    for (rulerank::device const& one : list.devices) ordinals.push_back(one.ordinal);
  else
    for (std::string_view rest = std::string_view(device).substr(5);;) {
      std::string_view const word = rest.substr(0, rest.find(','));
      int ordinal = -1;
      auto const [end, status] = std::from_chars(word.data(), word.data() + word.size(), ordinal);
      bool const known =
          status == std::errc{} && end == word.data() + word.size() &&
          std::ranges::any_of(list.devices,
                              [&](rulerank::device const& d) { return d.ordinal == ordinal; }) &&
          std::ranges::find(ordinals, ordinal) == ordinals.end();
      if (!known)
        throw usage_error("device " + device + ": found '" + std::string(word) +
                          "', expected numbers of CUDA devices, each once");
      ordinals.push_back(ordinal);
      if (word.size() == rest.size()) break;
      rest.remove_prefix(word.size() + 1);
    }
  return ordinals;
}

/// A thread that runs tasks one after the other. It keeps its OpenMP threads between tasks, because
/// starting new ones takes longer than many calls. It ends with the process.
class worker {
 public:
  worker() {
    std::thread([this] { serve(); }).detach();
  }
  void begin(std::function<void()> work) {
    std::lock_guard const hold(lock_);
    work_ = std::move(work);
    changed_.notify_one();
  }
  /// Whether the task ends within this time.
  bool ends_within(std::chrono::milliseconds most) {
    std::unique_lock hold(lock_);
    return changed_.wait_for(hold, most, [&] { return !work_; });
  }

 private:
  void serve() {
    for (std::unique_lock hold(lock_);;) {
      changed_.wait(hold, [&] { return static_cast<bool>(work_); });
      hold.unlock();
      work_();
      hold.lock();
      work_ = nullptr;
      changed_.notify_one();
    }
  }

  std::mutex lock_;
  std::condition_variable changed_;  // the worker and its caller take turns waiting
  std::function<void()> work_;
};

/// A worker for one call, returned to idle afterwards. Constructed and destroyed with the
/// interpreter's lock, which a forking process also holds; the child process has no such thread.
class hired_worker {
 public:
  hired_worker() {
    if (std::exchange(process, ::getpid()) != process) idle.clear();
    if (idle.empty()) idle.push_back(new worker);
    hired_ = idle.back();
    idle.pop_back();
  }
  ~hired_worker() { idle.push_back(hired_); }
  hired_worker(hired_worker const&) = delete;
  hired_worker& operator=(hired_worker const&) = delete;
  worker* operator->() const { return hired_; }

 private:
  static inline std::vector<worker*> idle;
  static inline pid_t process = 0;
  worker* hired_;
};

/// The message of an exception.
std::string text_of(std::exception_ptr const& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (nb::python_error const& e) {
    nb::gil_scoped_acquire const acquired;
    return nb::cast<std::string>(e.type().attr("__name__")) + ": " + nb::str(e.value()).c_str();
  } catch (std::exception const& e) {
    return e.what();
  }
}

std::vector<std::string> strings_of(nb::handle list) {
  std::vector<std::string> strings;
  for (nb::handle const one : list) {
    auto const bytes = nb::cast<nb::bytes>(one);
    strings.emplace_back(bytes.c_str(), bytes.size());
  }
  return strings;
}

/// The ranks from Python. Every call acquires the interpreter's lock. Each exchanged value is a
/// pair: the exception of a rank or None, and the value.
class python_ranks final : public process_group {
 public:
  explicit python_ranks(nb::object const& ranks)
      : ranks_(ranks),
        rank_(nb::cast<int>(ranks.attr("rank"))),
        size_(nb::cast<int>(ranks.attr("size"))) {}
  int rank() const noexcept override { return rank_; }
  int size() const noexcept override { return size_; }
  std::vector<std::string> gather(std::string_view mine) const override {
    nb::gil_scoped_acquire const acquired;
    return strings_of(exchanged(nb::bytes(mine.data(), mine.size())));
  }
  /// Assigns tasks to ranks in turn.
  std::vector<std::string> deal(std::size_t tasks, task_fn const& task,
                                keep_fn const& keep) const override {
    exchanges_ = true;  // a task may fail before its first exchange
    auto const ranks = static_cast<std::size_t>(size_);
    std::vector<std::string> mine;
    for (auto t = static_cast<std::size_t>(rank_); t < tasks; t += ranks) mine.push_back(task(t));
    std::vector<std::vector<std::string>> results = gather_lists(mine);
    std::vector<std::string> kept;
    if (is_first())
      for (std::size_t t = 0; t < tasks; ++t)
        kept.push_back(keep(t, std::move(results[t % ranks][t / ranks])));
    return gather_lists(kept).front();
  }

  /// Ends work that may have exchanged values: throws if it failed on another rank.
  void end() const {
    if (!exchanges_) return;
    nb::gil_scoped_acquire const acquired;
    exchanged(nb::none());
  }
  /// Ends work that failed here: the other ranks, which wait for this one, throw too.
  void end(std::exception_ptr const& failed) const noexcept {
    if (!exchanges_) return;
    nb::gil_scoped_acquire const acquired;
    try {
      ranks_.attr("allgather")(nb::make_tuple(text_of(failed), nb::none()));
    } catch (...) {  // from the exchange: the original failure is thrown
    }
  }

 private:
  /// The values of all ranks. Throws the first rank's failure.
  nb::list exchanged(nb::handle mine) const {
    exchanges_ = false;  // no exchange follows a failed one
    nb::object const told = ranks_.attr("allgather")(nb::make_tuple(nb::none(), mine));
    nb::list values;
    for (int rank = 0; nb::handle const one : told) {
      if (nb::object const failed = one[0]; !failed.is_none())
        throw std::runtime_error("rank " + std::to_string(rank) + ": " +
                                 nb::cast<std::string>(failed));
      values.append(one[1]);
      ++rank;
    }
    exchanges_ = true;
    return values;
  }
  std::vector<std::vector<std::string>> gather_lists(std::vector<std::string> const& mine) const {
    nb::gil_scoped_acquire const acquired;
    nb::list list;
    for (std::string const& one : mine) list.append(nb::bytes(one.data(), one.size()));
    std::vector<std::vector<std::string>> all;
    for (nb::handle const one : exchanged(list)) all.push_back(strings_of(one));
    return all;
  }

  nb::object const& ranks_;
  int rank_;
  int size_;
  mutable bool exchanges_ = false;  // the other ranks expect this one to exchange values
};

/// Shared by the working thread and the waiting thread.
struct shared_state {
  std::mutex lock;
  std::exception_ptr failed;
  std::string stage;
  std::uint64_t done = 0, total = 0;
  bool news = false;  // progress to report
};

/// Whether a progress callable returned False, Python's or NumPy's. Other results are ignored.
bool is_false(nb::handle answer) {
  auto const name = nb::cast<std::string>(answer.type().attr("__name__"));
  return (name == "bool" || name == "bool_") && PyObject_IsTrue(answer.ptr()) == 0;
}

/// Checks signals and reports progress, holding the interpreter's lock; returns whether to
/// continue.
bool go_on(run_settings const& how, shared_state& shared) {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
  std::string stage;
  std::uint64_t done = 0, total = 0;
  {
    std::lock_guard const hold(shared.lock);
    if (!std::exchange(shared.news, false)) return true;
    stage = shared.stage, done = shared.done, total = shared.total;
  }
  return !is_false(how.progress(stage, done, total));
}

}  // namespace

void run_work(run_settings const& how, std::function<void(context const&)> const& work) {
  shared_state shared;
  std::stop_source stop;
  context ctx;
  ctx.threads = how.threads;
  ctx.seed = how.seed;
  ctx.devices = devices_named(how.device);
  ctx.stop = stop.get_token();
  ctx.map_files = false;
  std::optional<python_ranks> ranks;
  if (how.ranks.is_valid() && !how.ranks.is_none()) ctx.processes = &ranks.emplace(how.ranks);
  bool const reports = how.progress.is_valid() && !how.progress.is_none();
  if (reports)
    ctx.progress = [&shared](std::string_view stage, std::uint64_t done, std::uint64_t total) {
      std::lock_guard const hold(shared.lock);
      shared.stage = stage, shared.done = done, shared.total = total, shared.news = true;
      return true;
    };
  std::exception_ptr raised;  // by a signal handler or the progress callable
  bool stopped = false;       // by the progress callable
  hired_worker const own;
  own->begin([&] {
    try {
      work(ctx);
      if (ranks) ranks->end();
    } catch (...) {
      shared.failed = std::current_exception();
      if (ranks) ranks->end(shared.failed);
    }
  });
  {
    nb::gil_scoped_release const released;
    while (!own->ends_within(interval)) {
      if (raised) continue;
      nb::gil_scoped_acquire const acquired;
      try {
        stopped = !go_on(how, shared) || stopped;
        if (stopped) stop.request_stop();
      } catch (...) {
        raised = std::current_exception();
        stop.request_stop();
      }
    }
  }
  if (raised) std::rethrow_exception(raised);
  if (shared.failed) std::rethrow_exception(shared.failed);
  // Final report: work that ends between two checks can be interrupted like longer work.
  if (stopped || (reports && !go_on(how, shared))) throw interrupted();
}

namespace {

/// Raises the exception of this name from rulerank.exceptions.
template <class... Attributes>
void raise(char const* name, char const* what, Attributes&&... attributes) {
  nb::object const type = nb::module_::import_("rulerank.exceptions").attr(name);
  nb::object const made = type(what);
  (nb::setattr(made, attributes.first, nb::cast(attributes.second)), ...);
  PyErr_SetObject(type.ptr(), made.ptr());
}

void translate(std::exception_ptr const& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (error const& e) {
    raise("DataError", e.what(), std::pair("file", e.where().file),
          std::pair("line", e.where().line), std::pair("column", e.where().column));
  } catch (usage_error const& e) {
    raise("UsageError", e.what());
  } catch (device_error const& e) {
    raise("DeviceError", e.what());
  } catch (output_error const& e) {
    raise("OutputError", e.what());
  } catch (interrupted const& e) {
    raise("Interrupted", e.what());
  }
}

}  // namespace

void add_run(nb::module_& to) {
  nb::register_exception_translator(translate);
  nb::class_<run_settings>(to, "RunSettings", "Where work runs, and who hears of its progress.")
      .def(
          "__init__",
          [](run_settings* self, int threads, std::uint64_t seed, std::string device,
             nb::object progress, nb::object ranks) {
            new (self) run_settings{threads, seed, std::move(device), std::move(progress),
                                    std::move(ranks)};
          },
          nb::arg("threads") = 0, nb::arg("seed") = 1, nb::arg("device") = "cpu",
          nb::arg("progress") = nb::none(), nb::arg("ranks") = nb::none());
}

}  // namespace rulerank::python
