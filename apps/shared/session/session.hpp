#pragma once

#include "core/context.hpp"
#include "core/engine_info.hpp"
#include "core/output_file.hpp"
#include "core/stopwatch.hpp"
#include "mpi/communicator.hpp"

#include <chrono>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::apps {

/// The options of every verb.
struct run_options {
  std::string device = "auto";
  int threads = 0;
  std::uint64_t seed = 1;
  bool quiet = false;
  bool json = false;
  std::string manifest;
};

/// One run of the program: its common options, context, inputs and outputs, manifest and messages.
/// The library prints nothing; the program does. Worker threads may call `request_stop`, `warn` and
/// `say`; all else is for the thread that runs the verb.
class session {
 public:
  /// Keeps a reference to `ranks`.
  session(std::vector<std::string> command, mpi::communicator const& ranks);
  ~session();
  session(session const&) = delete;
  session& operator=(session const&) = delete;

  run_options run;

  /// Threads, devices, seed, stop token, progress and MPI ranks according to the options; created
  /// on the first call. Ranks on one machine share its GPUs. With --device auto it has no devices
  /// before `choose_device`. Throws `usage_error` for a malformed --device, `device_error` for a
  /// missing device.
  context const& ctx();
  /// With --device auto, gives the context all GPUs or none. The engine decides if it runs on only
  /// one kind of device; otherwise the work's seconds on one CPU thread and on a GPU (`worth_gpus`
  /// in core/device_rule.hpp); over several MPI ranks, the CPU. Reports the choice if there is a
  /// GPU. Call it before the work, from the thread that runs the verb.
  void choose_device(runs_on engine, double thread_seconds, double gpu_seconds = 0);
  /// Throws `device_error` if --device names GPUs and the engine does not run there. `when`: the
  /// case to which `where` applies, for the message.
  void expect_device_for(std::string_view engine, runs_on where, std::string_view when = {}) const;
  /// Requests that the work stop; thread-safe.
  void request_stop();
  /// The time that the work has to end after a stop request; thread-safe.
  std::chrono::milliseconds patience() const;
  void set_patience(std::chrono::milliseconds time);

  /// Registers an input (for the manifest's checksum; ignores "") and returns it.
  std::string const& input(std::string const& path);
  /// As above, for an index, whose checksums are verified when it is opened: ranks compare its
  /// header, not all of it.
  std::string const& index(std::string const& path);
  /// An input with its option.
  struct named_input {
    std::string option;
    std::string path;  ///< empty: not given
  };
  /// Call it with all inputs of the verb that may be streams, before any is read. Throws
  /// `usage_error` naming both if two are standard input or the same pipe: the first would leave
  /// nothing to read.
  void inputs(std::vector<named_input> const& all) const;
  /// An output with its option or description.
  using named_output = named_path;
  /// Call it with all outputs of the verb, before any is written. Throws `usage_error` naming both
  /// if two outputs, or one and --manifest, are the same file or both standard output, and if one
  /// would replace an input, registered before or later. Throws `output_error` if a file cannot be
  /// created, unless it is in the folder `made`, which the verb creates. With --json, throws
  /// `usage_error` if an option other than `json_output`, which then has JSON, names standard
  /// output.
  void outputs(std::vector<named_output> const& all, std::string const& made = {},
               std::string_view json_output = {});
  /// As above, for distinct files of one folder.
  void outputs_in_folder(std::vector<named_output> const& all);
  /// Creates the folder of the verb's results and locks it. Throws `output_error` if another run
  /// holds the lock.
  folder_lock hold(std::string const& folder) const;
  /// The ranks over which the verb, or a library function with its context, splits work. All ranks
  /// must call it together beforehand. First compares inputs registered since the last call;
  /// `usage_error` names an input that differs on a rank.
  mpi::communicator const& ranks();
  /// Deals tasks to the ranks (process_group::deal); all ranks must call it together with the same
  /// tasks. Also deals the SHA-256 computations of inputs that the manifest still needs. Values
  /// that differ between ranks, such as the number of threads, must be the first one's
  /// (`value_from_first`).
  std::vector<std::string> deal(std::size_t tasks, process_group::task_fn const& task,
                                process_group::keep_fn const& keep);
  /// Throws `usage_error` if there are several MPI ranks. `what`: the subject that does not run
  /// over ranks.
  void expect_one_process(std::string_view what) const;
  /// The path of an output: `path` on the first rank, /dev/null on the others.
  std::string destination(std::string const& path) const;
  /// Waits until every rank has finished its work, before outputs are committed. Throws as
  /// `expect_unchanged_inputs` does.
  void meet() const;
  /// Throws `error` naming an input that was modified, truncated or replaced since it was
  /// registered.
  void expect_unchanged_inputs() const;

  /// Whether --json has standard output to itself: no output goes there.
  bool prints_json() const;

  /// Writes `rulerank: warning: ...` to standard error, unless --quiet.
  void warn(std::string const& message);
  /// Writes `rulerank: ...` to standard error, unless --quiet.
  void say(std::string const& message);
  /// A message to print once the options are known.
  void say_at_start(std::string message);
  /// Sets the exit code for a run without an exception; default: 0.
  void exit_with(int code);
  int exit_code() const;
  /// Adds a field to the manifest, such as the engine used.
  void note(std::string const& key, nlohmann::ordered_json value);

  /// Times a stage until destruction.
  class stage_timer {
   public:
    stage_timer(session& owner, std::string name);
    ~stage_timer();
    stage_timer(stage_timer const&) = delete;
    stage_timer& operator=(stage_timer const&) = delete;

   private:
    session& owner_;
    std::string name_;
    stopwatch watch_;
    double cpu_begin_;
  };
  stage_timer stage(std::string name) { return {*this, std::move(name)}; }
  /// Adds a stage timed elsewhere.
  void took(std::string const& stage, double seconds);
  /// Seconds of each stage so far, in order.
  nlohmann::json timings() const;

  /// The current fields of --manifest: the command, its inputs and its duration.
  nlohmann::ordered_json manifest();

  /// add_verb calls these before and after a verb's body. `start` opens the file of --manifest, so
  /// that an unwritable one fails at once; `finish` writes it. Over several MPI ranks only the
  /// first one has a manifest and messages; `start` throws `usage_error` if version or command line
  /// differ between them.
  void start();
  void finish();

 private:
  std::vector<int> of_this_rank(std::vector<int> const& devices) const;
  struct state;
  std::unique_ptr<state> state_;
};

/// Splits "a,b,c".
std::vector<std::string> split_list(std::string const& text, char separator = ',');

}  // namespace rulerank::apps
