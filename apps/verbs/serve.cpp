#include "apps/shared/arguments/ranker_arguments.hpp"
#include "apps/shared/options/options.hpp"
#include "apps/shared/search/query_candidates.hpp"
#include "apps/shared/session/console.hpp"
#include "apps/verbs/verbs.hpp"
#include "core/error.hpp"
#include "datasets/input/text_source.hpp"
#include "server/access_log.hpp"
#include "server/http_server.hpp"
#include "server/ranking/model_store.hpp"
#include "server/ranking/problem.hpp"
#include "server/ranking/rank_service.hpp"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <sys/resource.h>

namespace rulerank::inline v0::apps {
namespace {

constexpr std::chrono::seconds watch_interval{1};
constexpr std::chrono::seconds drain_time{8};
constexpr std::chrono::seconds most_wait{2};
constexpr std::size_t workers_an_io_thread = 2;  // bench/results/serve
constexpr std::size_t queued_a_thread = 64;
constexpr std::size_t bodies_at_once = 16;  // of the largest size

struct serve_arguments {
  std::vector<std::string> models;
  std::string listen = "127.0.0.1:8080";
  std::vector<std::string> hosts;
  std::string token_file;
  server::tls_files tls;
  bool insecure = false;
  std::string access_log;
  std::uint64_t max_body = std::uint64_t{64} << 20;
  server::request_limits limits;
  std::size_t connections = 4096;
  std::size_t queue = 0;
  query_arguments query;
  ranker_arguments ranker;
};

bool has_collection(serve_arguments const& a) {
  return !a.query.pool.collection.empty() || !a.query.index.empty();
}

bool is_model_name(std::string const& name) {
  return !name.empty() && std::ranges::all_of(name, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '_' || c == '-';
  });
}

/// Paths by name; a model without a name has its file's, without the extension.
std::map<std::string, std::string> paths_of(std::vector<std::string> const& models) {
  std::map<std::string, std::string> paths;
  for (std::string const& one : models) {
    std::size_t const equals = one.find('=');
    bool const named = equals != one.npos && one.find('/') > equals;
    std::string const path = named ? one.substr(equals + 1) : one;
    std::string const name =
        named ? one.substr(0, equals) : std::filesystem::path(path).stem().string();
    if (path.empty()) throw usage_error(fmt::format("--model {}: found an empty path", one));
    if (path == "-")
      throw usage_error("--model: found standard input, expected a file, which may be reloaded");
    if (!is_model_name(name))
      throw usage_error(fmt::format(
          "--model: found the name '{}', expected letters, digits, '.', '_' or '-'", name));
    if (!paths.emplace(name, path).second)
      throw usage_error(
          fmt::format("--model: found the name '{}' twice, expected distinct names", name));
  }
  return paths;
}

std::string read_token(std::string const& path) {
  if (path.empty()) return {};
  std::string token = datasets::read_file(path, "a token");
  while (!token.empty() && (token.back() == '\n' || token.back() == '\r')) token.pop_back();
  constexpr std::size_t shortest = 16;
  bool const fits = std::ranges::all_of(token, [](unsigned char c) { return c > ' ' && c < 0x7f; });
  if (token.size() < shortest || !fits)
    throw error({path, 1, 1},
                fmt::format("found no token, expected {} or more letters, digits and signs on one "
                            "line, such as openssl rand -hex 32 writes",
                            shortest));
  return token;
}

void check(session& owner, serve_arguments const& a, CLI::App const& verb) {
  server::listen_address const address = server::listen_address_from(a.listen);
  if (a.tls.certificate.empty() != a.tls.key.empty())
    throw usage_error("--certificate and --key: found one, expected both");
  if (!a.tls.client_roots.empty() && a.tls.certificate.empty())
    throw usage_error("--client-roots needs --certificate");
  bool const is_guarded = !a.token_file.empty() || !a.tls.client_roots.empty();
  if (!server::is_loopback(address) && !is_guarded && !a.insecure)
    throw usage_error(fmt::format(
        "--listen: other machines can reach {}, expected --token-file, --client-roots, or "
        "--insecure to serve everybody",
        a.listen));
  if (!has_collection(a))
    expect_none_of(verb, {"--candidates", "--collection-format", "--encoding", "--stemmer"},
                   "{} needs --collection");
  else
    a.query.check_collection(verb);
  owner.inputs({{"--token-file", a.token_file},
                {"--certificate", a.tls.certificate},
                {"--key", a.tls.key},
                {"--client-roots", a.tls.client_roots},
                {"--collection", a.query.pool.collection},
                {"--index", a.query.index}});
}

/// Lets the process open as many files as the system allows, for connections.
void raise_descriptor_limit() {
  rlimit most{};
  if (::getrlimit(RLIMIT_NOFILE, &most) != 0) return;
  most.rlim_cur = most.rlim_max;
  ::setrlimit(RLIMIT_NOFILE, &most);
}

/// A collection for POST /search.
class searched_collection {
 public:
  searched_collection(session& owner, query_arguments& arguments)
      : candidates_(arguments.pool.candidates),
        documents_(open_query_collection(owner, arguments)) {
    knn::string_table const& ids = documents_.index().ids();
    std::vector<std::string> all;
    for (std::size_t d = 0; d < ids.size(); ++d) all.emplace_back(ids[d]);
    titles_ = titles_of(owner, arguments, all);
  }

  server::found_documents find(context const& ctx, std::string const& query) const {
    auto const topics = features::make_topics({{"query", "", {{"text", query}}}}, "query");
    features::found_lists found =
        documents_.search(ctx, topics, std::max(candidates_, features::search_depth)).lists;
    server::found_documents made;
    auto& list = found.front();
    if (list.empty()) return made;
    list.resize(std::min(list.size(), candidates_));
    made.pairs =
        documents_.pairs(ctx, topics, found, {.name = "query", .named_features = true}).data;
    std::ranges::sort(list, {}, &features::found_document::document);  // the order of the pairs
    for (features::found_document const& one : list) made.titles.push_back(titles_[one.document]);
    return made;
  }

 private:
  std::size_t candidates_;
  features::pool_collection documents_;
  std::vector<std::string> titles_;
};

/// Loads models whose files change, until it is destroyed.
class model_watch {
 public:
  model_watch(session& owner, server::model_store& models)
      : thread_([this, &owner, &models](std::stop_token const& stop) {
          std::unique_lock lock(mutex_);
          while (!changed_.wait_for(lock, stop, watch_interval, [] { return false; }) &&
                 !stop.stop_requested())
            models.load_changed([&owner](std::string const& what) { owner.say(what); });
        }) {}

 private:
  std::mutex mutex_;
  std::condition_variable_any changed_;
  std::jthread thread_;
};

server::http_response refused(int status, std::string_view why) {
  return server::problem_response({status, std::string(why)});
}

server::http_options http_options_of(session& owner, serve_arguments const& a) {
  server::http_options options;
  options.workers = static_cast<std::size_t>(owner.ctx().thread_count());
  options.io_threads = (options.workers + workers_an_io_thread - 1) / workers_an_io_thread;
  options.most_connections = a.connections;
  options.most_body = a.max_body;
  options.most_body_bytes = a.max_body * bodies_at_once;
  options.most_queued = a.queue > 0 ? a.queue : options.workers * queued_a_thread;
  options.most_wait = most_wait;
  options.fields = {{"X-Content-Type-Options", "nosniff"}, {"Cache-Control", "no-store"}};
  options.tls = a.tls;
  options.refuse = refused;
  options.drain = owner.ctx().stop;
  return options;
}

void run_server(session& owner, serve_arguments const& a, server::model_store& models,
                server::rank_service::options how) {
  std::optional<server::access_log> log;
  if (!a.access_log.empty()) log.emplace(a.access_log);
  std::unique_ptr<server::rank_service> service;
  server::http_options options = http_options_of(owner, a);
  options.refuse_head = [&](server::http_request const& head) { return service->refusal_of(head); };
  options.log = [&](server::http_exchange const& exchange) {
    service->count(exchange);
    if (log) log->add(exchange);
  };
  raise_descriptor_limit();
  server::http_server http(server::listen_address_from(a.listen), std::move(options));
  std::vector<std::string> hosts = server::hosts_of(http.address(), !a.tls.certificate.empty());
  std::string const address = hosts.front();
  // A token is a better guard, and a server behind a proxy has names of its own.
  if (how.token.empty() && server::is_loopback(http.address())) {
    how.hosts = std::move(hosts);
    for (std::string const& host : a.hosts)
      how.hosts.push_back(server::host_in_small_letters(host));
  }
  service = std::make_unique<server::rank_service>(std::move(how), models);
  std::stop_callback const drain(owner.ctx().stop, [&] { service->begin_to_drain(); });
  owner.set_patience(drain_time);
  model_watch const watch(owner, models);
  write_to_standard_error(fmt::format("rulerank: serve at http{}://{}/\n",
                                      a.tls.certificate.empty() ? "" : "s", address));
  context ctx = owner.ctx();
  ctx.stop = {};  // a stop request drains
  http.run(ctx, [&](server::http_request& r) { return service->handle(r, http.load()); });
}

void serve_models(session& owner, serve_arguments& arguments, CLI::App const& verb) {
  owner.expect_one_process("serve");
  check(owner, arguments, verb);
  auto const paths = paths_of(arguments.models);
  server::rank_service::options how;
  how.token = read_token(arguments.token_file);
  how.limits = arguments.limits;
  l2r::engine_options const engine = arguments.ranker.engine_options();
  owner.choose_device(places_of(l2r::engines(), engine.engine), 0);
  std::optional<searched_collection> collection;
  if (has_collection(arguments)) {
    collection.emplace(owner, arguments.query);
    how.search = [&](context const& ctx, std::string const& query) {
      return collection->find(ctx, query);
    };
  }
  how.ctx = owner.ctx();
  how.ctx.stop = {};
  how.ctx.progress = {};
  auto const timer = owner.stage("serve");
  server::model_store models(
      paths, [&](l2r::model model) { return l2r::scorer(how.ctx, std::move(model), engine); });
  nlohmann::ordered_json loaded = nlohmann::ordered_json::object();
  for (auto const& one : models.entries()) loaded[one.name] = one.model->sha256;
  owner.note("models", loaded);
  run_server(owner, arguments, models, how);
}

}  // namespace

void add_serve(CLI::App& program, session& owner) {
  auto const [verb, a] = add_verb<serve_arguments>(
      program, owner, "serve", "Score, rank, explain and search over HTTP as queries arrive",
      "rulerank serve --model shop=fold1.model\n"
      "  serves http://127.0.0.1:8080/, where POST /rank ranks the documents of a query",
      serve_models);
  path_option(verb, "--model,MODEL", a.models, "Model that fit wrote, as FILE or NAME=FILE")
      ->required()
      ->group(input_group);
  a.query.add_collection_to(verb);
  {
    help_group const group(verb, "Server");
    value_option(verb, "--listen ADDRESS:PORT", a.listen,
                 "Address and port of the server; port 0: any free port");
    value_option(verb, "--host NAME[:PORT]", a.hosts,
                 "Other names of a server on loopback, such as the name of a proxy")
        ->default_str("");
    path_option(verb, "--token-file", a.token_file,
                "Secret that requests must send: Authorization: Bearer TOKEN");
    path_option(verb, "--certificate", a.tls.certificate, "TLS: certificate chain, PEM");
    path_option(verb, "--key", a.tls.key, "TLS: private key of the certificate, PEM");
    path_option(verb, "--client-roots", a.tls.client_roots,
                "TLS: authorities of the certificates that clients must have, PEM");
    verb.add_flag("--insecure", a.insecure,
                  "Serve other machines without a token or client certificates");
    path_option(verb, "--access-log", a.access_log,
                "File for one JSON line for each response; - is standard output");
  }
  {
    help_group const group(verb, "Limits");
    size_option(verb, "--max-body", a.max_body, "Largest body of a request")->default_str("64MB");
    number_option(verb, "--max-documents", a.limits.documents,
                  "Most documents of a request, of all its queries", {1});
    number_option(verb, "--max-features", a.limits.features, "Most features of a document", {1});
    number_option(verb, "--max-connections", a.connections,
                  "Most open connections; a further one replaces the longest idle one", {1});
    number_option(verb, "--queue", a.queue,
                  "Most requests that wait for a thread; a further one gets 503 at once", {1})
        ->default_str("64 for each thread");
  }
  a.ranker.add_engine_to(verb);
  usual_options(verb, {"--model", "--listen", "--token-file", "--certificate", "--key",
                       "--client-roots", "--insecure", "--access-log", "--collection", "--index"});
}

}  // namespace rulerank::apps
