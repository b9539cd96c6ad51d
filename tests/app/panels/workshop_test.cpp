// The tab Workshop.
#include "app/features/workshop/workshop.h"

#include "tests/app/panels/panels_fixture.h"
#include "tests/app/support/test.h"

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
      {.number = 1, .time = "12:03:41", .accepted = true, .error = {}, .largest_error = 3e-6, .step_ms = 1.25},
      {.number = 2, .time = "12:04:05", .error = "folder/mine.cu(4): the function must be: __global__ void f"}};
  workshop.running = 1;
  return workshop;
}

struct WorkshopTab : Panels {
  void SetUp() override {
    view.features.of<WorkshopStatus>() = rejected_edit();
    open_tab("workshop");
    settle();
  }
  SourceDraft& draft() { return state.lab.drafts.of<WorkshopDraft>().sources[view.features.of<WorkshopStatus>().file]; }
  void file_gets(const std::string& text) {
    view.features.of<WorkshopStatus>().text = text;
    ++view.features.of<WorkshopStatus>().text_number;
    settle();
  }
};

std::vector<WorkshopSource> two_sources() {
  return {{"cuda-tiled", {{"compute/kernels/direct/cuda_tiled.cu", "tiled source\n"}}, ""},
          {"cuda-tree",
           {{"compute/kernels/tree/cuda_tree.cu", "tree source\n"},
            {"compute/kernels/tree/octree_walk.cu", "walk\nof a\ntree\n"}},
           "no kernel file can start from cuda-tree: it is many functions"}};
}

TEST_F(Panels, OpenAKernelFileOrBeginANewOne) {
  view.features.of<WorkshopStatus>().sources = two_sources();
  open_tab("workshop");
  settle();
  (void)click("workshop.file");
  EXPECT_EQ(only<OpenKernelFile>(type("folder/mine.cu")).file, "folder/mine.cu");
  state.lab.drafts.of<WorkshopDraft>().file = "my-own";
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
  expect_holds(lab_text(), {"it is many functions"});
  (void)pick("workshop.source_file", "octree_walk.cu");
  EXPECT_EQ(state.lab.drafts.of<WorkshopDraft>().source_file, "compute/kernels/tree/octree_walk.cu");
  settle();
  EXPECT_TRUE(seen("workshop.reader"));
}

TEST_F(WorkshopTab, EditsCompilesAndBringsBack) {
  EXPECT_EQ(draft().text, view.features.of<WorkshopStatus>().text);
  expect_holds(lab_text(), {"rejected", "version 1 goes on", "4: the function must be", "12:03:41", "1.25"});
  EXPECT_EQ(only<BringKernelBack>(click("workshop.back.1")).version, 1);
  EXPECT_TRUE(click("workshop.save").empty()) << "nothing differs";
  (void)only<CompileKernelFile>(click("workshop.compile"));
  draft().text += "// an edit\n";
  EXPECT_EQ(only<SaveKernelFile>(click("workshop.save")).text, draft().text);
  EXPECT_EQ(only<SaveKernelFile>(click("workshop.compile")).text, draft().text) << "edits are saved first";
}

TEST_F(WorkshopTab, RunsAnEarlierVersion) {
  EXPECT_FALSE(seen("workshop.run.1")) << "it runs";
  EXPECT_FALSE(seen("workshop.run.2")) << "it was rejected";
  view.features.of<WorkshopStatus>().versions.push_back(
      {.number = 3, .time = "12:05:00", .accepted = true, .remark = "with 10 of the 20 bodies", .kernel = "mine@3"});
  view.features.of<WorkshopStatus>().versions[0].kernel = "mine@1";
  view.features.of<WorkshopStatus>().running = 3;
  settle();
  EXPECT_FALSE(seen("workshop.run.3"));
  const auto asked = only<SelectKernel>(click("workshop.run.1"));
  EXPECT_EQ(asked.id, "mine@1");
  EXPECT_TRUE(asked.settings.empty());
}

TEST_F(WorkshopTab, TakesTheFilesNewTextsButNotInPlaceOfEdits) {
  file_gets("another\n");
  EXPECT_EQ(draft().text, "another\n");
  draft().text = "mine\n";
  file_gets("another\n");
  EXPECT_EQ(draft().text, "mine\n") << "compiled again";
  EXPECT_FALSE(seen("workshop.take"));
  file_gets("theirs\n");
  EXPECT_EQ(draft().text, "mine\n");
  expect_holds(lab_text(), {"changed on disk"});
  EXPECT_TRUE(click("workshop.save").empty()) << "the user has yet to choose";
  EXPECT_TRUE(click("workshop.keep").empty());
  EXPECT_EQ(draft().text, "mine\n");
  EXPECT_EQ(only<SaveKernelFile>(click("workshop.save")).text, "mine\n");
  file_gets("theirs again\n");
  (void)click("workshop.take");
  EXPECT_EQ(draft().text, "theirs again\n");
  settle();
  EXPECT_FALSE(seen("workshop.take"));
}

TEST_F(WorkshopTab, KeepsWhatIsTypedAfterASave) {
  draft().text = "saved\n";
  (void)only<SaveKernelFile>(click("workshop.save"));
  draft().text = "saved\nand more\n";
  file_gets("saved\n");
  EXPECT_EQ(draft().text, "saved\nand more\n");
  EXPECT_FALSE(seen("workshop.take"));
  EXPECT_EQ(only<SaveKernelFile>(click("workshop.save")).text, "saved\nand more\n");
}

TEST_F(WorkshopTab, KeepsTheEditsOfEachFile) {
  draft().text = "mine\n";
  view.features.of<WorkshopStatus>().file = "folder/other.cu";
  view.features.of<WorkshopStatus>().versions.clear();
  settle();
  view.features.of<WorkshopStatus>().versions.resize(1);
  file_gets("the other file\n");
  EXPECT_EQ(draft().text, "the other file\n");
  EXPECT_EQ(state.lab.drafts.of<WorkshopDraft>().sources.at("folder/mine.cu").text, "mine\n");
}

TEST_F(WorkshopTab, ReplacesTheTextOfAnEditorThatHasTheKeyboard) {
  const UiRect editor = ui_marked("workshop.editor");
  ImGui::GetIO().MousePos = {(editor.x0 + editor.x1) / 2, editor.y0 + 20};  // in the first lines
  (void)press();
  file_gets("// a text of the file that is longer than the one before it, so that the editor needs more room\n");
  EXPECT_EQ(draft().text, view.features.of<WorkshopStatus>().text);
  ImGui::GetIO().AddInputCharacter('x');
  settle();
  EXPECT_EQ(draft().text, "x" + view.features.of<WorkshopStatus>().text);
}

TEST_F(WorkshopTab, KeepsEditsAfterEscape) {
  const UiRect editor = ui_marked("workshop.editor");
  ImGui::GetIO().MousePos = {(editor.x0 + editor.x1) / 2, editor.y0 + 20};
  (void)press();
  ImGui::GetIO().AddInputCharacter('x');
  settle();
  ASSERT_EQ(draft().text.size(), view.features.of<WorkshopStatus>().text.size() + 1);
  const std::string edited = draft().text;
  constexpr int escape = 2;
  ImGui::GetIO().KeyMap[ImGuiKey_Escape] = escape;
  ImGui::GetIO().KeysDown[escape] = true;
  frame();
  ImGui::GetIO().KeysDown[escape] = false;
  settle();
  EXPECT_EQ(draft().text, edited);
  EXPECT_FALSE(ImGui::GetIO().WantTextInput) << "it leaves the editor";
}

TEST_F(WorkshopTab, ShowsACorrectTextThatNothingHereCanRun) {
  view.features.of<WorkshopStatus>().state = WorkshopState::unchecked;
  view.features.of<WorkshopStatus>().messages.clear();
  view.features.of<WorkshopStatus>().running = 0;
  settle();
  const std::string words = lab_text();
  expect_holds(words, {"compiles; not checked here"});
  expect_lacks(words, {"goes on"});
}

TEST_F(WorkshopTab, SaysWhichVersionRunsIfAnEarlierOneWasReturnedTo) {
  view.features.of<WorkshopStatus>().state = WorkshopState::running;
  settle();
  expect_holds(lab_text(), {"version 1 goes on"});
  view.features.of<WorkshopStatus>().running = 2;
  settle();
  expect_lacks(lab_text(), {"goes on"});
}

TEST_F(WorkshopTab, KnowsUnsavedEdits) {
  EXPECT_FALSE(unsaved(draft()));
  draft().text += "// an edit\n";
  EXPECT_TRUE(unsaved(draft()));
  file_gets(draft().text);
  EXPECT_FALSE(unsaved(draft()));
  file_gets("a\r\nb\n");
  EXPECT_FALSE(unsaved(draft())) << "it can only be read";
}

TEST_F(WorkshopTab, KeepsTheFilesLineEnds) {
  file_gets("// id: a\r\n\r\n");
  EXPECT_EQ(draft().text, "// id: a\n\n");
  EXPECT_TRUE(click("workshop.save").empty());
  draft().text += "// b\n";
  EXPECT_EQ(only<SaveKernelFile>(click("workshop.save")).text, "// id: a\r\n\r\n// b\r\n");
}

TEST_F(WorkshopTab, LocksATextThatItsEditorWouldDamage) {
  using namespace std::string_literals;
  for (const auto& [text, why] : {std::pair{"a\n\xff\n"s, "line 2 has a character"},
                                  {"\xF0\x9F\x98\x80"s, "line 1 has a character"},
                                  {"a\nb\n\0c"s, "line 3 has a character"},
                                  {"\xED\xA0\x80"s, "line 1 has a character"},
                                  {"a\r\nb\n"s, "more than one way"},
                                  {"a\rb\n"s, "more than one way"}}) {
    file_gets(text);
    EXPECT_FALSE(seen("workshop.editor"));
    expect_holds(lab_text(), {why});
    EXPECT_TRUE(click("workshop.save").empty());
    (void)only<CompileKernelFile>(click("workshop.compile"));
  }
  file_gets("\u00e9 \u2192 a\n");
  EXPECT_TRUE(seen("workshop.editor"));
  EXPECT_EQ(why_not_editable(""), "");
}

TEST_F(WorkshopTab, ShowsAProblemOfTheWholeFileWithoutALine) {
  view.features.of<WorkshopStatus>().messages = {{0, true, "'mine.cu': No such file"}};
  settle();
  const std::string words = lab_text();
  expect_holds(words, {"'mine.cu': No such file"});
  expect_lacks(words, {"0: 'mine"});
}

TEST_F(Panels, ShowTheWorkshopInAnyWindow) {
  view.features.of<WorkshopStatus>() = rejected_edit();
  view.features.of<WorkshopStatus>().unavailable = "no CUDA device in this machine";
  view.features.of<WorkshopStatus>().sources = two_sources();
  for (const auto& [width, height] :
       {std::pair{320.0f, 200.0f}, std::pair{700.0f, 500.0f}, std::pair{2500.0f, 900.0f}}) {
    resize(width, height, 1);
    state.lab.tab = "workshop";
    state.lab.folded = false;
    settle();
  }
}

}  // namespace
}  // namespace orrery::test
