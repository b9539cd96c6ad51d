#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "app/cli/measuring.h"
#include "app/cli/verb.h"
#include "app/features/report/facts.h"
#include "app/features/report/page.h"
#include "app/lab/force_promise.h"
#include "app/lab/metadata.h"
#include "app/lab/sweep/result_rows.h"
#include "app/text/console.h"
#include "app/text/printable.h"
#include "compute/core/atomic_file.h"
#include "compute/core/backend.h"
#include "compute/core/error.h"
#include "compute/core/process.h"
#include "compute/core/text.h"

namespace orrery {
namespace {

constexpr int count_without_gpu = 8192;  // all CPU kernels in some 10 s on two cores

std::vector<ReportGroup> groups_of(const Sweep& sweep) {
  const std::vector<std::vector<Measurement>> counts = sweep.measured();
  const RowSettings settings{counts, {}};
  std::vector<ReportGroup> groups;
  for (const std::vector<Measurement>& rows : counts) {
    ReportGroup& group = groups.emplace_back();
    group.title = fmt::format("{}, {}", sweep.first_status()->scene_name, counted_bodies(rows.front().count));
    group.ranked = true;
    for (const Measurement& row : rows) {
      group.rows.push_back({row, settings.text(row), row.kernel->backend == Backend::cuda});
    }
  }
  return groups;
}

std::vector<SkippedTogether> gaps_of(const Sweep& sweep, const std::vector<Skipped>& skipped) {
  std::vector<SkippedTogether> gaps = together(skipped);
  for (const Measurement& entry : sweep.entries()) {
    if (!entry.measured()) gaps.push_back({name_of(entry), entry.problem.text});
  }
  for (std::size_t i = sweep.entries().size(); i < sweep.total(); ++i) {
    gaps.push_back({name_of(sweep.planned(i)), "measuring was stopped before its turn"});
  }
  return gaps;
}

std::string how_words(const Sampling& sampling) {
  return fmt::format(
      "Each time is the median of {}, each of one step or of as many steps as take {:g} ms, after a warm-up of at "
      "least {}, from the scene's first state. The 95 % interval covers the variation within this run; another "
      "run "
      "may differ by more. Variants whose intervals overlap share their ranks. A direct sum has N\u00b2 interactions "
      "per "
      "step; a tree has those that it evaluated. The force error is |\u0394a|/|a| against a direct sum in double "
      "precision, over a sample of up to {} bodies of the first state.",
      counted(sampling.samples, "sample"), sampling.sample_ms, counted(sampling.warmup_steps, "step"),
      format_count(ForceSample::usual_size));
}

/// `orrery report`: measures as `orrery bench` does, and writes the page. Lists failed variants on the page; the exit
/// status is then 1.
struct ReportVerb final : Verb {
  void declare(CommandLine& line) override;
  void finish(const CommandLine& line) override;
  int run(const Program& program) const override;

  SweepOptions sweep;
  bool count_given = false;
  std::string file;
  std::optional<WindowSize> size;      // size of the picture
  std::optional<render::Theme> theme;  // theme of the picture
  std::optional<double> budget_s;      // seconds after which measuring ends; none: no limit
  Existing existing = Existing::keep;
  bool progress = false;
  std::vector<std::string> words;  // words of the command line
};

/// Returns the sweep options with numbers of bodies. Without a GPU, the default number is smaller.
SweepOptions sized(const Backends& backends, const ReportVerb& report) {
  SweepOptions sweep = report.sweep;
  const SceneRequest& scene = sweep.scene.request;
  if (report.count_given || !scene.file.empty() || backends.status(Backend::cuda).available) return sweep;
  if (find_scene(scene.scene).fixed_count == 0) sweep.scene.counts = {count_without_gpu};
  return sweep;
}

class Report {
 public:
  Report(const Backends& backends, const ReportVerb& options, const SweepOptions& sweep)
      : options_{options}, planned_{plan_sweep(backends, sweep)}, sweep_{backends, planned_.plan} {}

  int run(ReportPicture picture, const GlReport& gl) {
    measure();
    const std::vector<Measurement>& entries = sweep_.entries();
    const bool failed_at_once = !sweep_.first_status() && !entries.empty();
    if (failed_at_once) throw_failure(entries.front());
    const std::string written =
        write_file(options_.file, report_page(content(std::move(picture), gl)), options_.existing);
    console::print("wrote {}\n", written);
    for (const Measurement& entry : entries) {
      if (!entry.measured() && !entry.problem.refused) throw_failure(entry);
    }
    if (!sweep_.stopped() || !stop_requested()) return 0;
    console::complain("stopped before the end: " + progress_words());
    return stop_status();
  }

 private:
  void measure() {
    using Clock = std::chrono::steady_clock;
    const Clock::time_point begin = Clock::now();
    measure_to_end(sweep_, options_.progress, [&] {
      const double elapsed_s = std::chrono::duration<double>(Clock::now() - begin).count();
      if (options_.budget_s && elapsed_s >= *options_.budget_s) sweep_.stop();
    });
  }

  std::string progress_words() const {
    const auto measured = std::ranges::count_if(sweep_.entries(), &Measurement::measured);
    return fmt::format("{} of {} measured", measured,
                       counted(static_cast<std::int64_t>(sweep_.total()), "variant was", "variants were"));
  }

  std::string remark() const {
    if (!sweep_.stopped()) return {};
    const std::string cause = stop_requested()
                                  ? "Measuring was interrupted"
                                  : fmt::format("Measuring ended after {:g} s, as asked", *options_.budget_s);
    return fmt::format("{}: {}.", cause, progress_words());
  }

  Json simulation() const {
    Json simulation = Json::object();
    if (sweep_.first_status()) add_simulations(simulation, *sweep_.first_status(), planned_.plan.counts);
    return simulation;
  }

  ReportContent content(ReportPicture picture, const GlReport& gl) const {
    const Json run = simulation();
    ReportContent content{
        .title = run.empty() ? "no results" : run_title(run),
        .made = made_words(machine_metadata(sweep_.backends())),
        .remark = remark(),
        .picture = std::move(picture),
        .groups = groups_of(sweep_),
        .how = how_words(planned_.plan.sampling),
        .gaps = gaps_of(sweep_, planned_.skipped),
        .settings = run.empty() ? ReportFacts{} : run_facts(run),
        .machine = machine_report(sweep_.backends(), gl, measure_machine_peak_rates(sweep_.backends()),
                                  measure_cpu_peak_rates())
                       .facts};
    std::vector<std::string> words{"orrery"};
    words.insert(words.end(), options_.words.begin(), options_.words.end());
    content.commands = {{"This command measures again and writes such a page:", shell_line(words)}};
    return content;
  }

  const ReportVerb& options_;
  PlannedSweep planned_;
  Sweep sweep_;
};

}  // namespace

void ReportVerb::declare(CommandLine& line) {
  line.add("--out", "FILE.html", "the page",
           [this](const std::string& text) { file = parse_page_name("--out", file_name("--out", text)); });
  sweep.scene.declare_list(line, "numbers of bodies: 1k,4k,16k (the scene's; without a GPU 8k)");
  sweep.kernels.declare_list(line);
  sweep.kernels.declare_setting_lists(line);
  sweep.declare_repeats(line);
  line.add("--budget", "S", "ends measuring after S seconds; the page has what was measured until then", budget_s,
           Range<double>{0, 1e6, "s"});
  sweep.physics.declare(line);
  add_size(line, size, "size of the picture in pixels (1280x720)");
  add_theme(line, theme);
  add_force(line, existing);
  add_progress(line, progress);
  sweep.device.declare(line);
  line.add_footer(
      "Examples:\n"
      "  orrery report --out report.html\n"
      "  orrery report galaxy.bin --kernels cpu-simd,cpu-tree --set theta=0.3,0.5,0.7 --out galaxy.html\n"
      "\nMeasures as 'orrery bench' does. The page holds a picture of the scene, plots, tables, the settings, the "
      "machine and the command line. It needs no other file. Ctrl+C ends measuring and keeps what was measured.");
}

void ReportVerb::finish(const CommandLine& line) {
  sweep.scene.check(line);
  if (file.empty()) throw UsageError("'orrery report' needs the name of the page: --out FILE.html");
  count_given = line.given("-n");
  sweep.finish(line);
  refuse_small_size(size, /*panels=*/false);
  words = line.words;
}

int ReportVerb::run(const Program& program) const {
  RunFiles files{.inputs = {}, .outputs = {{"--out", file}}, .existing = existing};
  add_named(files.inputs, "FILE", sweep.scene.request.file);
  prepare_files(files);
  watch_stop_signals();  // if stopped during drawing, still writes a page
  const Backends backends = sweep.device.backends(program.kernels);
  const GlReport gl = program.graphics.probe(program.kernels);
  const SweepOptions measured = sized(backends, *this);
  SceneRequest pictured = measured.scene.request;
  pictured.count = std::ranges::max(measured.scene.counts);
  ReportPicture picture = program.graphics.picture(program.kernels, pictured, size.value_or(WindowSize{}),
                                                   theme.value_or(render::Theme::dark), sweep.device.device);
  return Report{backends, *this, measured}.run(std::move(picture), gl);
}

extern constinit const VerbInfo report_verb{"report", "measures kernels and writes a page with plots, for people",
                                            create_verb<ReportVerb>};

}  // namespace orrery
