// The tab Workshop.
#include "tests/app/panels/panels_fixture.h"

namespace orrery::test {
namespace {

WorkshopStatus rejected_edit() {
  WorkshopStatus workshop;
  workshop.state = WorkshopState::rejected;
  workshop.file = "folder/mine.cu";
  workshop.kernel_id = "mine";
  workshop.text = "// id: mine\n// notes: a\n\n__global__ void f();\n";
  workshop.text_number = 2;
  workshop.messages = {{4, true, "the function must be: __global__ void f"}, {2, false, "a warning"}};
  workshop.versions = {
      {.number = 1, .time = "12:03:41", .accepted = true, .error = {}, .largest_error = 3e-6},
      {.number = 2, .time = "12:04:05", .error = "folder/mine.cu(4): the function must be: __global__ void f"}};
  workshop.running = 1;
  return workshop;
}

std::vector<WorkshopSource> two_sources() {
  return {{"cuda-tiled", "compute/kernels/direct/cuda_tiled.cu", "tiled source\n", true},
          {"cuda-tree", "compute/kernels/tree/cuda_tree.cu", "tree source\n", false}};
}

TEST_F(Panels, OpenAKernelFileOrBeginANewOne) {
  view.workshop.sources = two_sources();
  open_tab("workshop");
  settle();
  (void)click("workshop.file");
  EXPECT_EQ(only<OpenKernelFile>(type("folder/mine.cu")).file, "folder/mine.cu");
  state.lab.workshop.file = "my-own";
  EXPECT_EQ(only<NewKernelFile>(click("workshop.open")).id, "my-own");
  EXPECT_TRUE(click("workshop.save").empty()) << "there is no file";

  (void)pick("workshop.source", "cuda-tiled");
  settle();
  const auto started = only<NewKernelFile>(click("workshop.start"));
  EXPECT_EQ(started.id, "my-own");
  EXPECT_EQ(started.from, "cuda-tiled");
  (void)pick("workshop.source", "cuda-tree");
  settle();
  EXPECT_TRUE(seen("workshop.reader"));
  EXPECT_TRUE(click("workshop.start").empty()) << "it is only to be read";
}

TEST_F(Panels, EditCompileAndBringBack) {
  view.workshop = rejected_edit();
  open_tab("workshop");
  settle();
  EXPECT_EQ(state.lab.workshop.text, view.workshop.text);
  const std::string words = lab_text();
  for (const char* part : {"rejected", "version 1 goes on", "4: the function must be", "12:03:41"}) {
    EXPECT_NE(words.find(part), std::string::npos) << part << " is not in " << words;
  }
  EXPECT_EQ(only<BringKernelBack>(click("workshop.back.1")).version, 1);
  (void)only<CompileKernelFile>(click("workshop.compile"));
  state.lab.workshop.text += "// an edit\n";
  EXPECT_EQ(only<SaveKernelFile>(click("workshop.save")).text, state.lab.workshop.text);
  view.workshop.text = "another";
  view.workshop.text_number = 3;
  settle();
  EXPECT_EQ(state.lab.workshop.text, "another") << "the file's newest text";
}

TEST_F(Panels, ShowTheWorkshopInAnyWindow) {
  view.workshop = rejected_edit();
  view.workshop.unavailable = "no CUDA device in this machine";
  view.workshop.sources = two_sources();
  for (const auto& [width, height] :
       {std::pair{320.0f, 200.0f}, std::pair{700.0f, 500.0f}, std::pair{2500.0f, 900.0f}}) {
    resize(width, height, 1);
    state.lab.tab = LabTab::workshop;
    state.lab.folded = false;
    settle();
  }
}

}  // namespace
}  // namespace orrery::test
