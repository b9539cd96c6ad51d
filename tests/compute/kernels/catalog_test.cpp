// The catalog of kernels and their settings: what the command line, the panel and the benchmark rely on.
#include "compute/kernels/catalog.h"

#include "compute/core/error.h"
#include "compute/core/text.h"
#include "compute/kernels/dispatch.h"
#include "compute/kernels/kernel.h"
#include "compute/kernels/tree/tree_tunables.h"
#include "tests/compute/support/backends.h"
#include "tests/compute/support/kernel_doubles.h"
#include "tests/test.h"

namespace orrery {

#define X(stem) extern const KernelInfo kernel_##stem;
#include "kernels_list.inc"
#undef X

namespace {

template <class Function>
std::string usage_error(Function&& function) {
  const test::Failure failure = test::failure_of(function);
  return failure.kind == test::Failure::usage ? failure.message : "no UsageError";
}

std::string quoted(const char* text) {
  return std::string{'\''}.append(text).append(1, '\'');
}

TEST(KernelCatalog, IdsAreTheFileStems) {
  std::size_t listed = 0;
#define X(stem)                                                        \
  {                                                                    \
    std::string id = #stem;                                            \
    std::ranges::replace(id, '_', '-');                                \
    EXPECT_EQ(kernel_##stem.id, id);                                   \
    EXPECT_EQ(test::find_kernel(id).get(), &kernel_##stem);            \
    EXPECT_EQ(test::kernels()[listed].get(), &kernel_##stem) << #stem; \
    ++listed;                                                          \
  }
#include "kernels_list.inc"
#undef X
  EXPECT_EQ(test::kernels().size(), listed);
}

TEST(KernelCatalog, FindsVersionsOfAKernelFile) {
  KernelCatalog catalog;
  KernelInfo info = test::kernel_info(
      "mine", [](const Settings&, const cuda::Device*) { return std::make_unique<test::UniformKernel>(1.0f); });
  std::vector<KernelPtr> versions;
  for (const int version : {1, 2, 1}) {  // the last of another file, or of the same one that was opened again
    info.file_version = version;
    versions.push_back(catalog.put(info));
  }
  EXPECT_EQ(catalog.find("mine@2"), versions[1]);
  EXPECT_EQ(catalog.find("mine@1"), versions[2]);
  EXPECT_EQ(catalog.find("mine"), versions[2]);
  EXPECT_EQ(versioned_id(*versions[1]), "mine@2");
  EXPECT_EQ(versioned_id(*catalog.find("cpu-serial")), "cpu-serial");
  EXPECT_EQ(usage_error([&] { (void)catalog.find("mine@3"); }),
            "there is no version '3' of a kernel 'mine'; versions: 1, 2, 1");
  EXPECT_EQ(usage_error([&] { (void)catalog.find("cpu-serial@1"); }),
            "there is no version '1' of a kernel 'cpu-serial'; versions are those of a kernel file");
}

TEST(KernelCatalog, DescriptorsAreComplete) {
  for (const KernelPtr& kernel : test::kernels()) {
    SCOPED_TRACE(kernel->id);
    for (const char* text : {kernel->title, kernel->notes, kernel->source}) EXPECT_FALSE(std::string{text}.empty());
    const std::string source = kernel->source;
    EXPECT_TRUE(std::ranges::any_of(std::array{"Brute Force N-Body Optimization", "Wilt", "Zahran", "Vliora", "Makino"},
                                    [&](const char* known) { return source.find(known) != std::string::npos; }))
        << "`source` names none of these texts of docs/literature.md: " << source;
    EXPECT_EQ(std::string{kernel->id}.starts_with("cuda-"), kernel->backend == Backend::cuda);
    EXPECT_GT(kernel->tolerance.median, 0);
    EXPECT_GE(kernel->tolerance.max, kernel->tolerance.median);
    EXPECT_TRUE(kernel->create);
    EXPECT_FALSE(kernel->is_tree && kernel->full_fp32) << "`auto` would take it unseen";
    std::set<std::string> names;
    for (const Tunable& tunable : kernel->tunables) {
      SCOPED_TRACE(tunable.name);
      EXPECT_TRUE(names.insert(tunable.name).second) << "declared twice";
      EXPECT_FALSE(std::string{tunable.notes}.empty());
      const std::set<std::string> values(tunable.values.begin(), tunable.values.end());
      EXPECT_EQ(values.size(), tunable.values.size()) << "a value twice";
      for (const char* value : tunable.values) {
        EXPECT_EQ(tunable.allowed(value), value);
        const auto number = parsed_number<double>(value);
        if (!number || !tunable.numbers) continue;
        EXPECT_TRUE(tunable.numbers->contains(*number)) << value;
      }
      EXPECT_TRUE(values.contains(tunable.initial));
    }
  }
}

TEST(KernelCatalog, RefusesAnUnknownKernelAndListsTheKnown) {
  for (const char* id : {"cpu-sreial", "", "cpu_serial"}) {
    const std::string message = usage_error([&] { (void)test::find_kernel(id); });
    EXPECT_NE(message.find(quoted(id)), std::string::npos) << message;
    for (const KernelPtr& kernel : test::kernels()) EXPECT_NE(message.find(kernel->id), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

/// A descriptor that points to texts of the caller, which may be gone when the catalog has copied them.
KernelPtr put_uniform(KernelCatalog& catalog, const std::string& id, float strength) {
  const std::string title = "Uniform " + id, notes = "Pulls all bodies alike.", name = "steps", one = "1", two = "2",
                    faster = "another";
  const char* const values[] = {one.c_str(), two.c_str()};
  const char* const candidates[] = {"steps=2"};
  const Tunable tunables[] = {{.name = name.c_str(), .notes = notes.c_str(), .values = values, .initial = one.c_str()}};
  return catalog.put({.id = id.c_str(),
                      .title = title.c_str(),
                      .notes = notes.c_str(),
                      .source = "this test",
                      .lesson = "none",
                      .backend = Backend::cpu,
                      .tunables = tunables,
                      .tolerance = {.median = 1, .max = 1},
                      .candidates = candidates,
                      .faster = faster.c_str(),
                      .create = [strength](const Settings&, const cuda::Device*) {
                        return std::make_unique<test::UniformKernel>(strength);
                      }});
}

float pull_by(const KernelInfo& kernel) {
  const Vec4 body{0, 0, 0, 1};
  Vec4 acceleration{};
  kernel.make(Settings{kernel}, nullptr)
      ->evaluate({.bodies = &body, .count = 1, .masses = {}, .law = {}, .epilogue = {.accelerations = &acceleration}});
  return acceleration.x;
}

TEST(KernelCatalog, TakesKernelsAtRunTimeAndCopiesTheirTexts) {
  KernelCatalog catalog;
  const std::size_t built_in = catalog.all().size();
  put_uniform(catalog, "uniform", 3);
  ASSERT_EQ(catalog.all().size(), built_in + 1);
  const KernelPtr added = catalog.all().back();
  EXPECT_STREQ(added->id, "uniform");
  EXPECT_STREQ(added->title, "Uniform uniform");
  ASSERT_TRUE(added->tunable("steps"));
  EXPECT_TRUE(added->tunable("steps")->allows("2"));
  ASSERT_EQ(added->candidates.size(), 1u);
  EXPECT_STREQ(added->candidates[0], "steps=2");
  EXPECT_STREQ(added->faster, "another");
  EXPECT_EQ(catalog.find("uniform"), added);
  EXPECT_EQ(pull_by(*added), 3);
  EXPECT_EQ(test::catalog().find_or_null("uniform"), nullptr) << "each catalog has its own";
}

TEST(KernelCatalog, ReplacesAKernelInItsPlaceAndThoseWhoUseTheOldOneKeepIt) {
  KernelCatalog catalog;
  const std::size_t built_in = catalog.all().size();
  const KernelPtr first = put_uniform(catalog, "uniform", 3);
  Settings settings{*first};
  put_uniform(catalog, "behind", 1);
  const KernelPtr second = put_uniform(catalog, "uniform", 4);
  ASSERT_EQ(catalog.all().size(), built_in + 2);
  EXPECT_EQ(catalog.all()[built_in], second);
  EXPECT_FALSE(same_kernel(*first, *second));
  EXPECT_TRUE(same_kernel(*second, *catalog.find("uniform")));
  EXPECT_EQ(catalog.find_revision("uniform", 1), first);
  EXPECT_EQ(catalog.find_revision("uniform", 0), second);
  EXPECT_THROW((void)catalog.find_revision("uniform", 3), UsageError);
  EXPECT_THROW((void)catalog.find_revision("none", 0), UsageError);
  EXPECT_EQ(pull_by(*first), 3);
  EXPECT_EQ(pull_by(*second), 4);
  settings.set("steps", "2");
  EXPECT_EQ(settings.to_string(), "steps=2");
}

TEST(KernelCatalog, ReplacesBuiltInKernelsToo) {
  KernelCatalog catalog;
  put_uniform(catalog, "cpu-serial", 5);
  EXPECT_EQ(pull_by(*catalog.find("cpu-serial")), 5);
  EXPECT_EQ(catalog.all().size(), test::kernels().size());
  EXPECT_FALSE(same_kernel(*catalog.find("cpu-serial"), *test::find_kernel("cpu-serial")));
}

TEST(KernelCatalog, ForgetsARemovedKernelAndCountsItsRevisionsOn) {
  KernelCatalog catalog;
  const KernelPtr first = put_uniform(catalog, "uniform", 3);
  catalog.remove("uniform");
  EXPECT_EQ(catalog.find_or_null("uniform"), nullptr);
  const std::string refusal = usage_error([&] { (void)catalog.find("unifrom"); });
  EXPECT_EQ(refusal.find("did you mean uniform"), std::string::npos) << refusal;
  EXPECT_NE(usage_error([&] { catalog.remove("uniform"); }).find("'uniform'"), std::string::npos);
  EXPECT_FALSE(same_kernel(*first, *put_uniform(catalog, "uniform", 3)));
  EXPECT_NE(usage_error([&] { (void)catalog.find("unifrom"); }).find("did you mean uniform"), std::string::npos);
}

TEST(KernelCatalog, RefusesDescriptorsThatCannotBeUsed) {
  KernelCatalog catalog;
  const std::size_t before = catalog.all().size();
  for (const char* id : {"", "auto", "all", "My Kernel", "a,b", "a=b"}) {
    EXPECT_NE(usage_error([&] { put_uniform(catalog, id, 1); }).find(quoted(id)), std::string::npos) << id;
  }
  KernelInfo info = *test::find_kernel("cpu-openmp");
  info.create = nullptr;
  EXPECT_THROW(catalog.put(info), UsageError);
  info = *test::find_kernel("cpu-openmp");
  Tunable tunable = info.tunables.front();
  tunable.initial = "many";
  info.tunables = {&tunable, 1};
  const std::string refusal = usage_error([&] { catalog.put(info); });
  for (const char* part : {"cpu-openmp", "'many'", "threads"}) EXPECT_NE(refusal.find(part), std::string::npos) << part;
  EXPECT_EQ(catalog.all().size(), before);
  EXPECT_TRUE(same_kernel(*catalog.find("cpu-openmp"), *test::find_kernel("cpu-openmp")));
}

TEST(Settings, StartAtTheInitialValuesAndTakeEveryAllowedOne) {
  for (const KernelPtr& kernel : test::kernels()) {
    SCOPED_TRACE(kernel->id);
    Settings settings{*kernel};
    EXPECT_EQ(settings.values().size(), kernel->tunables.size());
    for (const Tunable& tunable : kernel->tunables) {
      EXPECT_EQ(settings.text(tunable.name), tunable.initial);
      for (const char* value : tunable.values) {
        settings.set(tunable.name, value);
        EXPECT_EQ(settings.text(tunable.name), value);
        const std::string shown = tunable.name + std::string{'='} + value;
        EXPECT_NE(settings.to_string().find(shown), std::string::npos) << settings.to_string();
      }
    }
  }
}

TEST(Settings, RefuseAnUnknownTunableAndListTheKnown) {
  Settings simd{*test::find_kernel("cpu-simd")};
  const Settings before = simd;
  const std::string message = usage_error([&] { simd.set("blokc", "64"); });
  for (const char* part : {"cpu-simd", "'blokc'", "threads", "rows"}) {
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }
  EXPECT_EQ(simd, before);

  Settings serial{*test::find_kernel("cpu-serial")};
  EXPECT_NE(usage_error([&] { serial.set("threads", "1"); }).find("none"), std::string::npos);
  Settings of_no_kernel;
  EXPECT_NE(usage_error([&] { of_no_kernel.set("threads", "1"); }).find("none"), std::string::npos);
}

TEST(Settings, RefuseAnUnknownValueAndListTheAllowed) {
  Settings settings{*test::find_kernel("cpu-openmp")};
  settings.set("threads", "2");
  for (const char* value : {"0", "2000", "", "1.5", "Auto", "2 "}) {
    const std::string message = usage_error([&] { settings.set("threads", value); });
    EXPECT_NE(message.find(quoted(value)), std::string::npos) << message;
    for (const char* part : {"cpu-openmp", "threads", "auto, 1, 2, 4, 8, 16, 32, 64, 128"}) {
      EXPECT_NE(message.find(part), std::string::npos) << message;
    }
    EXPECT_EQ(settings.text("threads"), "2");
  }
}

TEST(Settings, ReadNumbersAndNamesApart) {
  Settings settings{*test::find_kernel("cpu-simd")};
  EXPECT_EQ(settings.integer("threads", -7), -7) << "auto is no number";
  settings.set("threads", "16");
  EXPECT_EQ(settings.integer("threads", -7), 16);
  EXPECT_TRUE(settings.has("threads"));
  EXPECT_FALSE(settings.has("block"));
}

TEST(Tunable, TakesAnyNumberOfItsRangeUnderOneText) {
  constexpr const char* values[] = {"off", "1e-2", "1e-3", "5e-4"};
  const Tunable tunable{
      .name = "t", .notes = "", .values = values, .initial = "1e-3", .numbers = Range<double>{1e-6, 0.1}};
  for (const auto& [typed, kept] : {std::pair{"off", "off"},
                                    {"0.001", "1e-3"},
                                    {"1e-3", "1e-3"},
                                    {"6e-04", "6e-4"},
                                    {"0.0006", "6e-4"},
                                    {"0.10", "0.1"},
                                    {"0.01", "1e-2"}}) {
    EXPECT_EQ(tunable.allowed(typed), kept) << typed;
  }
  for (const char* typed : {"", "nan", "inf", "-1e-3", "0.2", "1e-7", "1e-3x", " 1e-3", "on"}) {
    EXPECT_FALSE(tunable.allows(typed)) << typed;
  }
  EXPECT_EQ(tunable.allowed_text(), "off, 1e-2, 1e-3, 5e-4, or a number from 1e-6 to 0.1");
  EXPECT_EQ(tunable.values_with("6e-4"), (std::vector<std::string>{"off", "1e-2", "1e-3", "6e-4", "5e-4"}));
  EXPECT_EQ(tunable.values_with("1e-6").back(), "1e-6");
  EXPECT_EQ(tunable.values_with("1e-3").size(), 4u) << "it is there";
}

TEST(Tunable, TakesWholeNumbersOnlyWhereItSaysSo) {
  constexpr const char* values[] = {"auto", "1", "8"};
  const Tunable tunable{
      .name = "t", .notes = "", .values = values, .initial = "auto", .numbers = Range<double>{1, 64}, .whole = true};
  EXPECT_EQ(tunable.allowed("8.0"), "8");
  EXPECT_EQ(tunable.allowed("3"), "3");
  EXPECT_EQ(tunable.allowed("6e1"), "60");
  for (const char* typed : {"0", "65", "2.5", "nan"}) EXPECT_FALSE(tunable.allows(typed)) << typed;
  EXPECT_EQ(tunable.allowed_text(), "auto, 1, 8, or a whole number from 1 to 64");
  EXPECT_EQ(tunable.values_with("3"), (std::vector<std::string>{"auto", "1", "3", "8"}));
  EXPECT_EQ(tunable.values_with("64").back(), "64");
}

enum class Colour { red, green, blue };
constexpr Values<1, 32, 48, 100> numbers;
constexpr auto numbers_or_auto = numbers.names_after("auto");
constexpr Values<Colour::red, Colour::green> colours{"red", "green"};
constexpr Tunable tunable{.name = "unroll", .notes = "", .values = numbers_or_auto, .initial = "auto"};

std::vector<std::string> words(std::span<const char* const> names) {
  return {names.begin(), names.end()};
}

TEST(Dispatch, EveryNameHasItsInstance) {
  for (const char* name : numbers.names()) {
    const int value = numbers.find(name);
    EXPECT_EQ(std::to_string(value), name);
    EXPECT_EQ(numbers.dispatch(value, [](auto constant) { return decltype(constant)::value; }), value);
  }
  EXPECT_EQ(colours.find("green"), Colour::green);
  EXPECT_EQ(colours.dispatch(Colour::green, [](auto constant) { return decltype(constant)::value; }), Colour::green);
}

TEST(Dispatch, NamesStandInTheOrderOfTheList) {
  EXPECT_EQ(words(numbers.names()), (std::vector<std::string>{"1", "32", "48", "100"}));
  EXPECT_EQ(words(tunable.values), (std::vector<std::string>{"auto", "1", "32", "48", "100"}));
  EXPECT_EQ(words(colours.names()), (std::vector<std::string>{"red", "green"}));
}

TEST(Dispatch, AValueWithoutAnInstanceThrows) {
  for (const int value : {0, 2, 31, 49, -1}) {
    EXPECT_THROW(numbers.dispatch(value, [](auto) {}), std::logic_error) << value;
  }
  EXPECT_THROW(colours.dispatch(Colour::blue, [](auto) {}), std::logic_error);
  EXPECT_THROW(numbers.find("auto"), std::logic_error);
  EXPECT_THROW(colours.find("blue"), std::logic_error);
}

TEST(Dispatch, TheLargestValueMayHaveAnyPlace) {
  EXPECT_EQ(numbers.largest, 100);
  EXPECT_EQ((Values<3, 7, 5>::largest), 7);
}

TEST(Dispatch, ATextWithoutAMeaningThrows) {
  static constexpr const char* orders[] = {"octupole", "quadrupole"};
  static constexpr Tunable order{.name = "order", .notes = "", .values = orders, .initial = "octupole"};
  KernelInfo kernel = *test::find_kernel("cpu-tree");
  kernel.tunables = {&order, 1};
  Settings settings{kernel};
  EXPECT_THROW(far_field(settings), std::logic_error);
  settings.set("order", "quadrupole");
  EXPECT_EQ(far_field(settings), FarField::quadrupole);
}

}  // namespace
}  // namespace orrery
