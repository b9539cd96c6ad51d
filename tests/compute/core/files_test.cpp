#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <sstream>

#include "compute/core/atomic_file.h"
#include "compute/core/temporary_folder.h"
#include "tests/test.h"

namespace orrery {
namespace {

namespace fs = std::filesystem;

class AtomicFileTest : public testing::Test {
 protected:
  std::string read(const char* name) const {
    std::ostringstream text;
    text << std::ifstream{folder_ / name}.rdbuf();
    return text.str();
  }
  void put(const char* name, const std::string& text, unsigned mode = 0644) const {
    std::ofstream{folder_ / name} << text;
    fs::permissions(folder_ / name, fs::perms{mode});
  }
  unsigned mode(const char* name) const { return static_cast<unsigned>(fs::status(folder_ / name).permissions()); }
  std::ptrdiff_t entries() const { return std::distance(fs::directory_iterator{folder_.path()}, {}); }

  const TemporaryFolder folder_;
};

TEST_F(AtomicFileTest, AppearsWholeAndOnlyAtTheEnd) {
  AtomicFile file{folder_ / "a", Existing::keep};
  file.write("one ");
  file.write("two");
  EXPECT_FALSE(fs::exists(folder_ / "a"));
  EXPECT_EQ(file.commit(), folder_ / "a");
  EXPECT_EQ(read("a"), "one two");
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFileTest, LeavesNothingWithoutACommit) {
  put("old", "old");
  for (const Existing existing : {Existing::keep, Existing::replace}) {
    AtomicFile{folder_ / "new", existing}.write("lost");
    AtomicFile{folder_ / "old", existing}.write("lost");
  }
  EXPECT_EQ(read("old"), "old");
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFileTest, NumbersOrReplaces) {
  put("a.png", "old");
  fs::create_symlink("nowhere", folder_ / "a-1.png");
  EXPECT_EQ(write_file(folder_ / "a.png", "new", Existing::keep), folder_ / "a-2.png") << "a link is there as well";
  EXPECT_EQ(read("a.png"), "old");
  EXPECT_EQ(read("a-2.png"), "new");
  EXPECT_EQ(write_file(folder_ / "a.png", "new", Existing::replace), folder_ / "a.png");
  EXPECT_EQ(read("a.png"), "new");
  EXPECT_EQ(entries(), 3);
}

TEST_F(AtomicFileTest, KeepsTheModeOfWhatItReplaces) {
  for (const unsigned mode : {0600u, 0640u, 0666u, 0755u}) {
    put("a", "old", mode);
    write_file(folder_ / "a", "new", Existing::replace);
    EXPECT_EQ(this->mode("a"), mode);
  }
}

TEST_F(AtomicFileTest, GivesANewFileTheUsersMode) {
  const mode_t before = umask(027);
  write_file(folder_ / "a", "new", Existing::keep);
  write_file(folder_ / "b", "new", Existing::replace);
  umask(before);
  EXPECT_EQ(mode("a"), 0640u);
  EXPECT_EQ(mode("b"), 0640u);
}

TEST_F(AtomicFileTest, KeepsTheOwnerOfWhatItReplaces) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may give a file to somebody else";
  put("a", "old", 0640);
  ASSERT_EQ(chown((folder_ / "a").c_str(), 1234, 2345), 0);
  write_file(folder_ / "a", "new", Existing::replace);
  struct stat status {};
  ASSERT_EQ(stat((folder_ / "a").c_str(), &status), 0);
  EXPECT_EQ(status.st_uid, 1234u);
  EXPECT_EQ(status.st_gid, 2345u);
  EXPECT_EQ(mode("a"), 0640u);
}

TEST_F(AtomicFileTest, DoesNotReplaceAReadOnlyFile) {
  put("a", "precious", 0444);
  EXPECT_RUNTIME_ERROR(write_file(folder_ / "a", "new", Existing::replace), "/a'", "Permission denied");
  EXPECT_EQ(read("a"), "precious");
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFileTest, ALinkStaysALinkAndItsTargetIsReplaced) {
  fs::create_directory(folder_ / "b");
  put("b/real", "old");
  fs::create_symlink("b/real", folder_ / "link");
  fs::create_symlink("link", folder_ / "chain");
  fs::create_symlink("b/missing", folder_ / "dangling");
  write_file(folder_ / "chain", "new", Existing::replace);
  write_file(folder_ / "dangling", "made", Existing::replace);
  EXPECT_TRUE(fs::is_symlink(folder_ / "link") && fs::is_symlink(folder_ / "chain"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "dangling"));
  EXPECT_EQ(read("b/real"), "new");
  EXPECT_EQ(read("b/missing"), "made");
}

TEST_F(AtomicFileTest, ANameOfTheProgramsOwnReplacesALinkItself) {
  put("target", "precious");
  fs::create_symlink("target", folder_ / "a");
  fs::create_symlink("missing", folder_ / "b");
  for (const char* name : {"a", "b"}) {
    write_file(folder_ / name, "new", Existing::replace_here);
    EXPECT_FALSE(fs::is_symlink(folder_ / name));
    EXPECT_EQ(read(name), "new");
  }
  EXPECT_EQ(read("target"), "precious");
  EXPECT_FALSE(fs::exists(folder_ / "missing"));
}

TEST_F(AtomicFileTest, FollowsNoLinkOfAnotherUserInASharedFolder) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may give a link to somebody else";
  put("target", "precious");
  fs::create_directory(folder_ / "shared");
  chmod((folder_ / "shared").c_str(), 01777);
  fs::create_symlink("../target", folder_ / "shared/a");
  ASSERT_EQ(lchown((folder_ / "shared/a").c_str(), 1234, 2345), 0);
  EXPECT_THROW(write_file(folder_ / "shared/a", "new", Existing::replace), std::runtime_error);
  EXPECT_EQ(read("target"), "precious");
  ASSERT_EQ(lchown((folder_ / "shared/a").c_str(), geteuid(), getegid()), 0);
  write_file(folder_ / "shared/a", "new", Existing::replace);
  EXPECT_EQ(read("target"), "new") << "one's own link is followed";
}

TEST_F(AtomicFileTest, KeepsTheFileThatItReplaces) {
  for (const char* text : {"one", "two", "three"}) {
    AtomicFile file{folder_ / "a", Existing::replace_here};
    file.write(text);
    file.commit_keeping("b");
  }
  EXPECT_EQ(read("a"), "three");
  EXPECT_EQ(read("b"), "two");
  EXPECT_EQ(entries(), 2) << "no temporary file is left";
}

TEST_F(AtomicFileTest, TakesNamesAsLongAsTheSystem) {
  const std::string longest(255, 'n');
  write_file(folder_.path() / longest, "new", Existing::replace);
  EXPECT_EQ(read(longest.c_str()), "new");
  EXPECT_RUNTIME_ERROR(write_file(folder_.path() / (longest + "n"), "new", Existing::keep), "too long");
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFileTest, WritesDevicesAndPipesDirectly) {
  EXPECT_EQ(write_file("/dev/null", "gone", Existing::replace), "/dev/null");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_RUNTIME_ERROR(write_file("/dev/full", "gone", Existing::keep), "/dev/full", "No space left");
  const std::string fifo = folder_ / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  const int reader = open(fifo.c_str(), O_RDONLY | O_NONBLOCK);
  write_file(fifo, "through", Existing::replace);
  char text[16] = {};
  EXPECT_EQ(::read(reader, text, sizeof text), 7);
  close(reader);
  EXPECT_STREQ(text, "through");
  EXPECT_TRUE(fs::is_fifo(fifo));
}

TEST_F(AtomicFileTest, WritesToADescriptorOfThisProcessWhereItStands) {
  put("a", "first ");
  const int descriptor = open((folder_ / "a").c_str(), O_WRONLY | O_APPEND);
  const std::string name = "/dev/fd/" + std::to_string(descriptor);
  EXPECT_EQ(own_descriptor(name), descriptor);
  EXPECT_EQ(own_descriptor("/dev/stdout"), 1);
  EXPECT_EQ(own_descriptor("-"), 1);
  EXPECT_EQ(own_descriptor("./-"), std::nullopt) << "a file of this name";
  EXPECT_EQ(own_descriptor(folder_ / "a"), std::nullopt);
  EXPECT_EQ(write_file(name, "second", Existing::keep), name);
  close(descriptor);
  EXPECT_EQ(read("a"), "first second");
  EXPECT_RUNTIME_ERROR(write_file(name, "third", Existing::keep), name, "Bad file descriptor");
}

TEST_F(AtomicFileTest, NamesTheFileAndTheCause) {
  put("file", "");
  fs::create_directory(folder_ / "b");
  const auto refused = [&](const fs::path& path, const char* cause) {
    for (const Existing existing : {Existing::keep, Existing::replace}) {
      EXPECT_RUNTIME_ERROR(write_file(path, "x", existing), path.string(), cause);
      EXPECT_RUNTIME_ERROR(check_output(path, existing), path.string(), cause);
    }
  };
  refused(folder_ / "none/a", "No such file or directory");
  refused(folder_ / "file/a", "Not a directory");
  refused(folder_ / "b", "it is a folder");
  refused(folder_ / "b/", "it is a folder");
  refused("/proc/none", "No such file or directory");
  EXPECT_EQ(entries(), 2);
}

TEST_F(AtomicFileTest, ACheckChangesNothing) {
  put("a", "old");
  const auto before = fs::last_write_time(folder_ / "a");
  for (const Existing existing : {Existing::keep, Existing::replace}) {
    check_output(folder_ / "a", existing);
    check_output(folder_ / "b", existing);
    check_output("/dev/null", existing);
  }
  put("read-only", "", 0400);
  EXPECT_NO_THROW(check_output(folder_ / "read-only", Existing::keep));
  EXPECT_THROW(check_output(folder_ / "read-only", Existing::replace), std::runtime_error);
  const std::string fifo = folder_ / "fifo";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  check_output(fifo, Existing::keep);  // does not wait for a reader
  EXPECT_EQ(read("a"), "old");
  EXPECT_EQ(fs::last_write_time(folder_ / "a"), before);
  EXPECT_EQ(entries(), 3);
}

/// A file that a killed writer left: nothing holds its lock.
std::string stale_name(const char* target) {
  return std::string{"."} + target + ".orrery-0123456789abcdef";
}

TEST_F(AtomicFileTest, RemovesWhatKilledWritersLeftAndNothingElse) {
  const std::string stale = stale_name("a"), others = stale_name("b"), held = ".a.orrery-fedcba9876543210";
  for (const std::string& name : {stale, others, held, std::string{".a.orrery-mine"}}) put(name.c_str(), "partial");
  const int writer = open((folder_.path() / held).c_str(), O_RDONLY);
  ASSERT_EQ(flock(writer, LOCK_EX), 0);
  write_file(folder_ / "a", "new", Existing::replace);
  close(writer);
  EXPECT_FALSE(fs::exists(folder_.path() / stale));
  EXPECT_TRUE(fs::exists(folder_.path() / held)) << "of a writer that lives";
  EXPECT_TRUE(fs::exists(folder_.path() / others) && fs::exists(folder_ / ".a.orrery-mine"));
  EXPECT_EQ(read("a"), "new");
}

TEST_F(AtomicFileTest, AKilledWriterLeavesTheOldFile) {
  put("a", "old");
  const pid_t child = fork();
  ASSERT_GE(child, 0);
  if (child == 0) {
    AtomicFile file{folder_ / "a", Existing::replace};
    file.write("new");
    raise(SIGKILL);
  }
  ASSERT_EQ(waitpid(child, nullptr, 0), child);
  EXPECT_EQ(read("a"), "old");
  write_file(folder_ / "a", "newer", Existing::replace);
  EXPECT_EQ(read("a"), "newer");
  EXPECT_EQ(entries(), 1);
}

TEST_F(AtomicFileTest, TwoWritersOfOneNameLoseNothing) {
  std::vector<pid_t> children;
  for (int i = 0; i < 8; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      for (int repeat = 0; repeat < 20; ++repeat) write_file(folder_ / "a", "whole", Existing::keep);
      _exit(0);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    EXPECT_EQ(waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(entries(), 160);
  for (const auto& entry : fs::directory_iterator{folder_.path()}) EXPECT_EQ(entry.file_size(), 5u) << entry.path();
}

TEST(TemporaryFolder, HasItsFilesUntilItGoes) {
  std::filesystem::path file;
  {
    const TemporaryFolder folder, other;
    file = folder.write("a", "text\n");
    EXPECT_NE(file, other / "a");
    std::string line;
    std::ifstream stream{file};
    ASSERT_TRUE(std::getline(stream, line));
    EXPECT_EQ(line, "text");
    EXPECT_THROW(folder.write("no/such/folder", ""), std::runtime_error);
  }
  EXPECT_FALSE(std::filesystem::exists(file.parent_path()));
}

}  // namespace
}  // namespace orrery
