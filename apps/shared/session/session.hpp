#pragma once

#include "core/context.hpp"
#include "core/engine_info.hpp"
#include "core/output_file.hpp"
#include "core/stopwatch.hpp"
#include "mpi/communicator.hpp"

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

namespace rulerank::inline v0::apps {

/// The options every verb has.
struct run_options {
  std::string device = "auto";
  int threads = 0;
  std::uint64_t seed = 1;
  bool quiet = false;
  bool json = false;
  std::string manifest;
};

/// One run of the program: its common options, its context, its inputs and outputs, its manifest,
/// its messages. The library prints nothing; the program does. What a thread of the work may call
/// is `request_stop`, `warn` and `say`; the rest is for the thread that runs the verb.
class session {
 public:
  /// `ranks` outlives the session.
  session(std::vector<std::string> command, mpi::communicator const& ranks);
  ~session();
  session(session const&) = delete;
  session& operator=(session const&) = delete;

  run_options run;

  /// Threads, devices, seed, stop token, progress and MPI ranks as the options say; made on the
  /// first call. Ranks of one machine share its GPUs. With --device auto it has no devices before
  /// `choose_device`. Throws `usage_error` for a malformed --device, `device_error` for one that is
  /// not there.
  context const& ctx();
  /// With --device auto, gives the context the GPUs there are, or none: by where the engine asked
  /// for runs, and where it runs on both by the seconds that the work takes one CPU thread and
  /// a GPU (`worth_gpus` in core/device_rule.hpp); over several MPI ranks the CPU. Says which,
  /// where there is a GPU. Before the work itself, by the thread that runs the verb.
  void choose_device(runs_on engine, double thread_seconds, double gpu_seconds = 0);
  /// Throws `device_error` when --device names GPUs and the engine does not run there. `when`: the
  /// case in which `where` holds, for the message.
  void expect_device_for(std::string_view engine, runs_on where, std::string_view when = {}) const;
  /// Requests that the work stops; safe from any thread.
  void request_stop();

  /// Names an input (for the manifest's checksum; "" is left out) and gives it back.
  std::string const& input(std::string const& path);
  /// The same of an index that will be opened, which is compared with its checksums then: ranks
  /// compare its header, not all of it.
  std::string const& index(std::string const& path);
  /// An input that an option names.
  struct named_input {
    std::string option;
    std::string path;  ///< empty: not given
  };
  /// The inputs of the verb that may be streams, before any is read. Throws `usage_error` naming
  /// both where two of them are standard input or the same pipe: the first would leave nothing.
  void inputs(std::vector<named_input> const& all) const;
  /// An output that an option, or what it stands for, names.
  using named_output = named_path;
  /// The outputs of the verb, before any is written. Throws `usage_error` naming both when two of
  /// them, or one and --manifest, would be the same file or both standard output, and where one
  /// would take the place of an input, named before or later. Throws `output_error` where a file
  /// that an option names cannot be made, unless it lies in the folder `made`, which the verb
  /// makes.
  void outputs(std::vector<named_output> const& all, std::string const& made = {});
  /// The same for files of one folder, which differ from each other.
  void outputs_in_folder(std::vector<named_output> const& all);
  /// Makes the folder that the verb writes its results to and keeps other runs out of it. Throws
  /// `output_error` where another one writes there.
  folder_lock hold(std::string const& folder) const;
  /// The ranks over which the verb, or what it calls by its context, shares out work. All call it
  /// together before that; inputs that were named since the last call are compared first, and
  /// `usage_error` names one that is another on a rank.
  mpi::communicator const& ranks();
  /// Deals tasks to the ranks (process_group::deal), all of which call it together. What the
  /// manifest has still to read of inputs, for their SHA-256, is dealt with them. All ranks have
  /// the same tasks: what differs among them, such as their threads, is the first one's
  /// (`value_from_first`).
  std::vector<std::string> deal(std::size_t tasks, process_group::task_fn const& task,
                                process_group::keep_fn const& keep);
  /// Throws `usage_error` where there are several MPI ranks. `what`: does not run over ranks.
  void expect_one_process(std::string_view what) const;
  /// Where an output goes: to its path from the first rank, to /dev/null from the others.
  std::string destination(std::string const& path) const;
  /// Waits until every rank has done its work: before outputs are put in their places. Throws
  /// as `expect_unchanged_inputs` does.
  void meet() const;
  /// Throws `error` naming an input that was written to, cut short or replaced since it was named.
  void expect_unchanged_inputs() const;

  /// Throws `usage_error` where --json is given and results of another form (`what`) go to standard
  /// output.
  void expect_file_beside_json(std::string const& out, std::string_view what) const;
  /// Whether --json has standard output to itself: none of the outputs goes there.
  bool prints_json() const;

  /// `rulerank: warning: ...` on standard error, unless --quiet.
  void warn(std::string const& message);
  /// `rulerank: ...` on standard error, unless --quiet.
  void say(std::string const& message);
  /// A message for when the options are known.
  void say_at_start(std::string message);
  /// The exit code where nothing was thrown; default: 0.
  void exit_with(int code);
  int exit_code() const;
  /// A field of the manifest, such as the engine that ran.
  void note(std::string const& key, nlohmann::ordered_json value);

  /// Times a stage until it is destroyed.
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
  /// A stage that was timed elsewhere.
  void took(std::string const& stage, double seconds);
  /// Seconds of each stage so far, in order.
  nlohmann::json timings() const;

  /// What was run, on what, for how long: the fields of --manifest so far.
  nlohmann::ordered_json manifest();

  /// add_verb calls these around a verb's body: the first opens the file of --manifest, so that
  /// one which cannot be written fails at once, the second writes it. Of several MPI ranks the
  /// first alone has a manifest and messages; `start` throws `usage_error` where version or command
  /// line differ among them.
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
