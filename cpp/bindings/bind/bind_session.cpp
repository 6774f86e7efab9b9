// Binds Session and Replay, the two step sources that a driver of runs can follow.
#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/casts/operation_cast.h"
#include "bindings/casts/species_estimate_cast.h"
#include "core/base/error.h"
#include "core/coverage/features.h"
#include "core/draw/continuation.h"
#include "core/draw/replay.h"
#include "core/search/session.h"

namespace ordeal::bindings {
namespace {

SwarmDistribution parse_distribution(const std::string& name) {
  static const std::map<std::string, SwarmDistribution, std::less<>> kDistributions{
      {"off", SwarmDistribution::kOff},
      {"coins", SwarmDistribution::kCoinFlip},
      {"sizes", SwarmDistribution::kUniformSize},
      {"hypothesis", SwarmDistribution::kHypothesis}};
  const auto found = kDistributions.find(name);
  if (found == kDistributions.end()) {
    throw ConfigError("the swarm law \"" + name + "\" is unknown; it must be off, coins, sizes or hypothesis");
  }
  return found->second;
}

SwarmPolicy parse_policy(const std::string& name) {
  if (name != "classic" && name != "adaptive") {
    throw ConfigError("the swarm policy \"" + name + "\" is unknown; it must be classic or adaptive");
  }
  return name == "adaptive" ? SwarmPolicy::kAdaptive : SwarmPolicy::kClassic;
}

FeatureMask all_but(const std::vector<std::string>& names) {
  FeatureMask mask = kAllFeatures;
  for (const std::string& name : names) {
    mask &= ~mask_of(feature_named(name));
  }
  return mask;
}

// Edges and other features, packed as edges * 2^32 + features: 0 is the usual answer.
std::uint64_t packed(const StepNovelty& novelty) noexcept {
  return (static_cast<std::uint64_t>(novelty.edges) << 32U) | novelty.features;
}

std::unique_ptr<Session> make_session(const std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>& shape,
                                      std::shared_ptr<CoverageMap> coverage, std::uint64_t seed,
                                      std::size_t max_checkpoints, std::optional<double> checkpoint_prob,
                                      const std::string& checkpoint_strategy, double fault_toggle_prob,
                                      std::optional<double> seed_mutation_prob, std::uint32_t steps_per_run,
                                      std::optional<bool> rule_swarm, const std::string& swarm,
                                      const std::string& swarm_policy, const std::vector<OperationFields>& operations,
                                      bool pair_features, double value_reuse_prob,
                                      const std::vector<std::string>& features_off, bool by_clock) {
  const auto [rules, initializers, faults] = shape;
  return std::make_unique<Session>(MachineShape{.rules = rules, .initializers = initializers, .faults = faults},
                                   SessionOptions{.seed = seed,
                                                  .max_checkpoints = max_checkpoints,
                                                  .checkpoint_prob = checkpoint_prob,
                                                  .checkpoint_strategy = parse_strategy(checkpoint_strategy),
                                                  .fault_toggle_prob = fault_toggle_prob,
                                                  .seed_mutation_prob = seed_mutation_prob,
                                                  .value_reuse_prob = value_reuse_prob,
                                                  .steps_per_run = steps_per_run,
                                                  .rule_swarm = rule_swarm,
                                                  .swarm = parse_distribution(swarm),
                                                  .operations = to_operations(operations),
                                                  .policy = parse_policy(swarm_policy),
                                                  .pair_features = pair_features,
                                                  .features = all_but(features_off),
                                                  .by_clock = by_clock},
                                   std::move(coverage));
}

// Null when the run uses the configuration of the session.
py::object configuration(const Session& session) {
  if (!session.draws_rules()) {
    return py::none();
  }
  return py::make_tuple(session.configuration().rules, session.configuration().faults);
}

// Runs by kind, in the order of the enumerators.
py::dict run_counts(const Session& session) {
  const RunCounts& counts = session.run_counts();
  const auto named = [](const auto& values, const auto& names) {
    py::dict result;
    for (std::size_t i = 0; i < values.size(); ++i) {
      result[names.at(i)] = values.at(i);
    }
    return result;
  };
  static constexpr std::array<const char*, kRunStarts> kStarts{"fresh",  "branch", "leaning",
                                                               "splice", "repeat", "edit"};
  static constexpr std::array<const char*, kRunSwarms> kSwarms{"full",   "coins",    "sizes",
                                                               "shared", "directed", "energy"};
  py::dict result;
  result["starts"] = named(counts.starts, kStarts);
  result["swarm"] = named(counts.swarms, kSwarms);
  return result;
}

// The steps and failures of each rule: without faults, then under each fault.
py::list rule_uses(const Session& session) {
  const RuleStats& stats = session.stats();
  py::list rules;
  for (std::size_t row = 0; row < stats.uses().size(); row += stats.columns()) {
    py::list numbers;
    for (std::size_t column = 0; column < stats.columns(); ++column) {
      numbers.append(stats.uses()[row + column].steps);
      numbers.append(stats.uses()[row + column].failed);
    }
    rules.append(numbers);
  }
  return rules;
}

py::dict swarm_counts(const Session& session) {
  const SwarmCounts counts = session.swarm().counts();
  const auto of = [&](SwarmSource source) { return counts.draws.at(static_cast<std::size_t>(source)); };
  py::dict result;
  result["runs"] = counts.total;
  result["warm_up"] = of(SwarmSource::kWarmUp);
  result["full"] = of(SwarmSource::kFull);
  result["coin_flip"] = of(SwarmSource::kCoinFlip);
  result["directed"] = of(SwarmSource::kDirected);
  result["energy"] = of(SwarmSource::kEnergy);
  result["configurations"] = counts.configurations;
  result["productive"] = counts.productive;
  return result;
}

}  // namespace

void bind_session(py::module_& m) {
  py::class_<RunSpec>(m, "RunSpec")
      .def_readonly("run_id", &RunSpec::run_id)
      .def_readonly("checkpoint", &RunSpec::checkpoint)
      .def_readonly("prefix_steps", &RunSpec::prefix_steps)
      .def_readonly("steps", &RunSpec::steps);

  py::class_<Session>(m, "Session")
      .def(py::init(&make_session), py::arg("shape"), py::arg("coverage"), py::kw_only(), py::arg("seed"),
           py::arg("max_checkpoints"), py::arg("checkpoint_prob"), py::arg("checkpoint_strategy"),
           py::arg("fault_toggle_prob"), py::arg("seed_mutation_prob"), py::arg("steps_per_run"), py::arg("rule_swarm"),
           py::arg("swarm"), py::arg("swarm_policy"), py::arg("operations"), py::arg("pair_features"),
           py::arg("value_reuse_prob"), py::arg("features_off") = std::vector<std::string>{},
           py::arg("by_clock") = false)
      .def("begin_run", &Session::begin_run)
      .def("restored", &Session::restored, py::arg("steps") = std::nullopt)
      .def("next", [](Session& self) { return self.next().packed(); })
      .def("reject", &Session::reject)
      .def("draws_again", &Session::draws_again)
      .def(
          "done",
          [](Session& self, std::uint64_t state_hash, std::uint32_t improved) {
            return packed(self.done(state_hash, improved));
          },
          py::arg("state_hash") = 0, py::arg("improved") = 0)
      .def(
          "finished", [](Session& self, std::uint32_t improved) { return packed(self.finished(improved)); },
          py::arg("improved") = 0)
      .def("bundle_size", &Session::bundle_size, py::arg("bundle"), py::arg("size"))
      .def(
          "event", [](Session& self, std::string_view label) { self.feature(FeatureKind::kEvent, hash_bytes(label)); },
          py::arg("label"))
      .def(
          "interleaved", [](Session& self, const std::vector<std::uint64_t>& features) { self.interleaved(features); },
          py::arg("features"))
      .def(
          "target",
          [](Session& self, std::string_view label, double value) { return self.target(hash_bytes(label), value); },
          py::arg("label"), py::arg("value"))
      .def("species_estimate", [](const Session& self) { return estimate_to_python(self.species_estimate()); })
      .def("keep",
           [](Session& self) {
             const KeepResult kept = self.keep();
             return py::make_tuple(kept.id, kept.evicted);
           })
      .def("transfer_energy", &Session::transfer_energy, py::arg("checkpoint"), py::arg("by"))
      .def("failed", &Session::failed)
      .def("ended_process", &Session::ended_process, py::arg("tape"), py::arg("seconds") = 0.0)
      .def("failure_took", &Session::failure_took, py::arg("seconds"))
      .def("search_took", &Session::search_took, py::arg("seconds"))
      .def("step_back", &Session::step_back, py::arg("failure"), py::arg("slow") = false)
      .def_property_readonly("wants_times", &Session::wants_times)
      .def("took", &Session::took, py::arg("seconds"))
      .def("end_run", &Session::end_run, py::arg("seconds") = 0.0)
      .def("direct_swarm", &Session::direct_swarm, py::arg("rules"))
      .def("configuration", &configuration)
      .def_property_readonly("weights", &Session::weights)
      .def("swarm_counts", &swarm_counts)
      .def("run_counts", &run_counts)
      .def("rule_uses", &rule_uses)
      .def_property_readonly("learns_swarm", &Session::learns_swarm)
      .def_property_readonly("spec", &Session::spec)
      .def_property_readonly("running", &Session::running)
      .def_property_readonly("prefix_left", &Session::prefix_left)
      .def_property_readonly("source", &Session::source, py::return_value_policy::reference_internal)
      .def_property_readonly("tape", &Session::tape, py::return_value_policy::copy)
      .def_property_readonly("faults_on", &Session::faults_on)
      .def_property_readonly("edges_in_run", &Session::edges_in_run)
      .def_property_readonly("reads_numbers", &Session::reads_numbers)
      .def("magnitude", &Session::magnitude, py::arg("label"), py::arg("value"))
      .def_property_readonly("only_climbed", &Session::only_climbed)
      .def_property_readonly("checkpoints_saved", &Session::checkpoints_saved)
      .def_property_readonly("checkpoints", [](const Session& self) { return self.corpus().size(); })
      .def_property_readonly("replaying_prefix", &Session::replaying_prefix);

  py::class_<Continuation>(m, "Continuation")
      .def(py::init([](const std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>& shape,
                       std::vector<std::uint32_t> faults, std::uint32_t steps, std::uint64_t seed) {
             const auto [rule_count, initializer_count, fault_count] = shape;
             return Continuation(
                 {.shape = {.rules = rule_count, .initializers = initializer_count, .faults = fault_count},
                  .faults = std::move(faults),
                  .steps = steps,
                  .seed = seed});
           }),
           py::arg("shape"), py::arg("faults"), py::arg("steps"), py::arg("seed"));

  py::class_<Replay>(m, "Replay")
      .def(py::init([](Tape tape, const Continuation* continuation) {
             return continuation == nullptr ? std::make_unique<Replay>(std::move(tape))
                                            : std::make_unique<Replay>(std::move(tape), *continuation);
           }),
           py::arg("tape"), py::arg("continuation") = nullptr)
      .def("next", [](Replay& self) { return self.next().packed(); })
      .def("reject", &Replay::reject)
      .def_property_readonly("source", &Replay::source, py::return_value_policy::reference_internal)
      .def_property_readonly("tape", &Replay::realized, py::return_value_policy::copy)
      .def_property_readonly("position", &Replay::position)
      .def_property_readonly("rejected", &Replay::rejected)
      .def(
          "unused",
          [](const Replay& self, const std::vector<std::uint32_t>& in_body, bool finished) {
            return self.unused(in_body, finished);
          },
          py::arg("in_body"), py::arg("finished"));

  m.def("rung_of", &rung_of, py::arg("value"));
}

}  // namespace ordeal::bindings
