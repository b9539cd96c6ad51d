// Instructions that the inner loop of a kernel issues, read from its disassembly.
#include "app/lab/roofline/roofline.h"

#include "app/lab/metadata.h"
#include "app/lab/roofline/instruction_counts.h"
#include "tests/app/support/fake_program.h"
#include "tests/app/support/test.h"
#include "tests/compute/support/backends.h"

namespace orrery::test {
namespace {

/// cuobjdump of CUDA 13.0 on a small kernel for sm_90: a loop over j, unrolled twice, from 1f0 to 300; a last body
/// apart; the loop around both from 1d0 (in truth it begins earlier) to 3e0; and the trap behind the end.
constexpr const char* nested_loops = R"sass(
    code for sm_90
        Function : _Z4pullPK6float2ifPf
    .headerflags	@"EF_CUDA_SM90 EF_CUDA_VIRTUAL_SM(EF_CUDA_SM90)"
        /*01d0*/                   IMAD.U32 R4, RZ, RZ, UR8 ;                   /* 0x00000008ff047e24 */
                                                                                /* 0x000fe4000f8e00ff */
        /*01e0*/                   IMAD.MOV.U32 R3, RZ, RZ, R5 ;                /* 0x000000ffff037224 */
                                                                                /* 0x000fce00078e0005 */
        /*01f0*/                   LDG.E.64 R6, desc[UR10][R2.64+-0x8] ;        /* 0xfffff80a02067981 */
                                                                                /* 0x000ea8000c1e1b00 */
        /*0200*/                   LDG.E.64 R4, desc[UR10][R2.64] ;             /* 0x0000000a02047981 */
                                                                                /* 0x0000e2000c1e1b00 */
        /*0210*/                   IADD3 R13, R13, -0x2, RZ ;
        /*0220*/                   IADD3 R12, R12, 0x2, RZ ;
        /*0230*/                   ISETP.NE.AND P1, PT, R13, RZ, PT ;
        /*0240*/                   IADD3 R2, P2, R2, 0x10, RZ ;
        /*0250*/                   IMAD.X R3, RZ, RZ, R3, P2 ;
        /*0260*/                   FADD R6, -R9, R6 ;
        /*0270*/                   FFMA R14, R6, R6.reuse, UR5 ;
        /*0280*/                   FADD R4, -R9, R4 ;
        /*0290*/                   FMUL R6, R7, R6 ;
        /*02a0*/                   FFMA R16, R4, R4.reuse, UR5 ;
        /*02b0*/                   MUFU.RSQ R14, R14 ;
        /*02c0*/                   FMUL R5, R5, R4 ;
        /*02d0*/                   MUFU.RSQ R16, R16 ;
        /*02e0*/                   FFMA R6, R6, R14, R11 ;
        /*02f0*/                   FFMA R11, R5, R16, R6 ;
        /*0300*/               @P1 BRA 0x1f0 ;
        /*0310*/              @!P0 BRA 0x3c0 ;
        /*0320*/                   LDC.64 R2, c[0x0][0x210] ;
        /*0330*/                   IADD3 R5, R12, UR4, RZ ;
        /*0340*/                   ULDC UR5, c[0x0][0x21c] ;
        /*0350*/                   IMAD.WIDE R2, R5, 0x8, R2 ;
        /*0360*/                   LDG.E.64 R2, desc[UR10][R2.64] ;
        /*0370*/                   FADD R4, -R9, R2 ;
        /*0380*/                   FFMA R5, R4, R4.reuse, UR5 ;
        /*0390*/                   FMUL R4, R3, R4 ;
        /*03a0*/                   MUFU.RSQ R5, R5 ;
        /*03b0*/                   FFMA R11, R4, R5, R11 ;
        /*03c0*/                   UIADD3 UR4, UR4, 0x40, URZ ;
        /*03d0*/                   ISETP.LE.AND P0, PT, R15, UR4, PT ;
        /*03e0*/              @!P0 BRA 0x1d0 ;
        /*03f0*/                   ULDC.64 UR4, c[0x0][0x220] ;
        /*0400*/                   LEA R2, P0, R0, UR4, 0x2 ;
        /*0410*/                   LEA.HI.X R3, R0, UR5, RZ, 0x2, P0 ;
        /*0420*/                   STG.E desc[UR10][R2.64], R11 ;
        /*0430*/                   EXIT ;
        /*0440*/                   BRA 0x440;
)sass";

/// The loop of cuda-naive with rsqrt=exact for sm_90: a square root and a division, each with a call for arguments that
/// hardly ever come, which the branches at 240 and 320 pass by.
constexpr const char* calls_in_a_loop = R"sass(
        /*0170*/ IMAD.U32 R14, RZ, RZ, UR8 ;
        /*0180*/ IMAD.U32 R15, RZ, RZ, UR9 ;
        /*0190*/ LDG.E.128.CONSTANT R12, desc[UR6][R14.64] ;
        /*01a0*/ BSSY B0, 0x2e0 ;
        /*01b0*/ FADD R7, -R8, R12 ;
        /*01c0*/ FADD R12, -R9, R13 ;
        /*01d0*/ FADD R13, -R10, R14 ;
        /*01e0*/ FFMA R17, R7, R7, UR5 ;
        /*01f0*/ FFMA R0, R12, R12, R17 ;
        /*0200*/ FFMA R17, R13, R13, R0 ;
        /*0210*/ VIADD R0, R17, 0xf3000000 ;
        /*0220*/ MUFU.RSQ R2, R17 ;
        /*0230*/ ISETP.GT.U32.AND P0, PT, R0, 0x727fffff, PT ;
        /*0240*/ @!P0 BRA 0x290 ;
        /*0250*/ MOV R21, 0x270 ;
        /*0260*/ CALL.REL.NOINC 0xa50 ;
        /*0270*/ MOV R0, R2 ;
        /*0280*/ BRA 0x2d0 ;
        /*0290*/ FMUL.FTZ R0, R17, R2 ;
        /*02a0*/ FMUL.FTZ R2, R2, 0.5 ;
        /*02b0*/ FFMA R17, -R0, R0, R17 ;
        /*02c0*/ FFMA R0, R17, R2, R0 ;
        /*02d0*/ BSYNC B0 ;
        /*02e0*/ VIADD R2, R0, 0x1800000 ;
        /*02f0*/ BSSY B0, 0x3c0 ;
        /*0300*/ LOP3.LUT R2, R2, 0x7f800000, RZ, 0xc0, !PT ;
        /*0310*/ ISETP.GT.U32.AND P0, PT, R2, 0x1ffffff, PT ;
        /*0320*/ @P0 BRA 0x370 ;
        /*0330*/ MOV R14, 0x350 ;
        /*0340*/ CALL.REL.NOINC 0x700 ;
        /*0350*/ IMAD.MOV.U32 R2, RZ, RZ, R17 ;
        /*0360*/ BRA 0x3b0 ;
        /*0370*/ MUFU.RCP R17, R0 ;
        /*0380*/ FFMA R2, R17, R0, -1 ;
        /*0390*/ FADD.FTZ R2, -R2, -RZ ;
        /*03a0*/ FFMA R2, R17, R2, R17 ;
        /*03b0*/ BSYNC B0 ;
        /*03c0*/ UIADD3 UR4, UR4, 0x1, URZ ;
        /*03d0*/ FMUL R15, R15, R2.reuse ;
        /*03e0*/ FMUL R2, R2, R2 ;
        /*03f0*/ UIADD3 UR8, UP0, UR8, 0x10, URZ ;
        /*0400*/ ISETP.LE.AND P0, PT, R20, UR4, PT ;
        /*0410*/ FMUL R2, R15, R2 ;
        /*0420*/ UIADD3.X UR9, URZ, UR9, URZ, UP0, !UPT ;
        /*0430*/ FFMA R4, R7, R2.reuse, R4 ;
        /*0440*/ FFMA R5, R12, R2.reuse, R5 ;
        /*0450*/ FFMA R6, R13, R2, R6 ;
        /*0460*/ @!P0 BRA 0x170 ;
        /*0470*/ EXIT ;
)sass";

TEST(InstructionCounts, CallsThatABranchPassesByAreNotCounted) {
  const InstructionCounts counts = counts_in_sass(calls_in_a_loop);
  EXPECT_EQ(counts.per_pair, 40.0) << "48 instructions, 4 of which are for each call";
  EXPECT_EQ(counts.mufu_per_pair, 2.0);
  EXPECT_FALSE(counts.double_precision);
}

TEST(InstructionCounts, WhatABranchPassesByWithoutACallCounts) {
  EXPECT_EQ(counts_in_sass("/*0010*/ MUFU.RSQ R1, R1 ;\n/*0020*/ @P0 BRA 0x40 ;\n/*0030*/ FADD R1, R1, R2 ;\n"
                           "/*0040*/ @P1 BRA 0x10 ;\n/*0050*/ EXIT ;\n")
                .per_pair,
            4.0);
}

TEST(InstructionCounts, TheInnerLoopWithMostReciprocalSquareRootsCounts) {
  const InstructionCounts counts = counts_in_sass(nested_loops);
  EXPECT_EQ(counts.per_pair, 9.0) << "18 instructions for two pairs";
  EXPECT_EQ(counts.mufu_per_pair, 1.0);
  EXPECT_EQ(counts.reason, "");
}

TEST(InstructionCounts, DoublePrecisionAndUniformBranchesCountToo) {
  const InstructionCounts counts = counts_in_sass(
      "/*0010*/ MUFU.RSQ64H R17, R9 ;\n/*0020*/ DFMA R8, R8, -R10, 1 ;\n"
      "/*0030*/ BRA.U UP0, 0x10 ;\n/*0040*/ EXIT ;\n");
  EXPECT_EQ(counts.per_pair, 3.0);
  EXPECT_TRUE(counts.double_precision);
}

TEST(InstructionCounts, EverySpecialFunctionCountsUnlessItIsOfDoublePrecision) {
  const auto mufu = [](const std::string& second) {
    return counts_in_sass("/*0010*/ MUFU.RSQ R17, R9 ;\n/*0020*/ " + second +
                          " R8, R8 ;\n/*0030*/ BRA.U UP0, 0x10 ;\n/*0040*/ EXIT ;\n")
        .mufu_per_pair;
  };
  EXPECT_EQ(mufu("FMUL"), 1.0);
  EXPECT_EQ(mufu("MUFU.RCP"), 2.0);
  EXPECT_FALSE(mufu("MUFU.RCP64H"));
}

TEST(InstructionCounts, CodeBehindTheEndThatBranchesBackIsNoLoop) {
  const InstructionCounts counts = counts_in_sass(
      "/*0010*/ FADD R1, R1, R2 ;\n/*0020*/ MUFU.RSQ R1, R1 ;\n/*0030*/ @P0 BRA 0x50 ;\n/*0040*/ EXIT ;\n"
      "/*0050*/ FMUL R1, R1, 2 ;\n/*0060*/ BRA 0x20 ;\n");
  EXPECT_FALSE(counts.per_pair);
  expect_holds(counts.reason, {"no loop"});
}

TEST(InstructionCounts, TextWithoutSuchALoopGivesAReason) {
  for (const char* text : {"", "\n", "cuobjdump info : no code\n", "/*", "/*zz*/ BRA 0x0 ;", "/*0010*/ ;",
                           "/*0010*/ FADD R1, R1, R2 ;\n/*0020*/ @P0 BRA 0x10 ;\n", "/*0010*/ MUFU.RSQ R1, R1 ;\n",
                           "/*0010*/ MUFU.RSQ R1, R1 ;\n/*0020*/ BRA `(.L_1) ;\n"}) {
    SCOPED_TRACE(text);
    EXPECT_FALSE(counts_in_sass(text).per_pair);
    EXPECT_NE(counts_in_sass(text).reason, "");
  }
}

TEST(InstructionCountsInThisProgram, AreAskedOfCuobjdumpForTheFunction) {
  const FakeProgram cuobjdump{"cuobjdump"};
  cuobjdump.does("echo \"Function : $5\"; [ \"$1 $2 $3 $4 $6\" = \"-sass -arch sm_90 -fun " +
                 std::filesystem::read_symlink("/proc/self/exe").string() +
                 "\" ] && printf '/*0010*/ MUFU.RSQ R1, R1 ;\\n/*0020*/ @P0 BRA 0x10 ;\\n'");
  EXPECT_EQ(counts_in_this_program("_Z1k", 90).per_pair, 2.0) << counts_in_this_program("_Z1k", 90).reason;
}

TEST(InstructionCountsInThisProgram, ACuobjdumpThatFailsOrFindsNothingGivesAReason) {
  const FakeProgram cuobjdump{"cuobjdump"};
  cuobjdump.does("exit 1");
  expect_holds(counts_in_this_program("_Z1k", 90).reason, {"failed"});
  cuobjdump.does("echo 'no such function'");
  expect_holds(counts_in_this_program("_Z1k", 86).reason, {"sm_86"});
  expect_holds(counts_in_this_program("", 90).reason, {"12.3"});
}

const MachinePeakRates known{.device = 0,
                             .peak_rates = PeakRates{.fma_per_s = 4e9, .rsqrt_per_s = 1e9, .clock_mhz = 1000}};

/// 1e8 interactions a second.
Measurement entry(const char* function, double clock_mhz) {
  const KernelPtr kernel = find_kernel("cpu-serial");  // every build has it; one pair is one interaction
  Measurement entry = planned({kernel, Settings{*kernel}}, 1000);
  entry.step_ms = {.median = 10};
  entry.interactions_per_s = 1e8;
  entry.card = KernelCard{.name = function, .registers = 77, .shared_bytes = 4096, .block = 64, .blocks = 16};
  entry.machine = std::make_shared<const MachineStates>(
      MachineStates{.before = {}, .during = {{"clock_mhz", clock_mhz}}, .after = {}});
  return entry;
}

InstructionCounts ten_and_two(const KernelCard&) {
  return {.per_pair = 10, .mufu_per_pair = 2};
}

TEST(KernelLimits, AreSharesAtTheClockInForce) {
  KernelLimits limits{known, ten_and_two};
  const Json full = limits.json(entry("f", 1000));
  EXPECT_EQ(full["instructions_per_interaction"], 10);
  EXPECT_EQ(full["mufu_per_interaction"], 2);
  EXPECT_DOUBLE_EQ(full["issue_share"], 0.25);
  EXPECT_DOUBLE_EQ(full["mufu_share"], 0.2);
  EXPECT_EQ(full["reason"], "");
  const Json half = limits.json(entry("f", 500));
  EXPECT_DOUBLE_EQ(half["issue_share"], 0.5);
  EXPECT_EQ(half["clock_mhz"], 500);
}

TEST(KernelLimits, SayWhyTheyAreNotKnown) {
  const auto expect_unknown = [](KernelLimits limits, const char* reason) {
    const Measurement of = entry("f", 1000);
    const Json json = limits.json(of);
    EXPECT_TRUE(json["issue_share"].is_null() && json["mufu_share"].is_null());
    EXPECT_EQ(json["reason"], reason);
    expect_holds(limits.text({&of, 1}), {std::string{"cpu-serial: "} + reason});
  };
  expect_unknown(KernelLimits{known, [](const KernelCard&) { return InstructionCounts{.reason = "no tool"}; }},
                 "no tool");
  expect_unknown(KernelLimits{{.reason = "no GPU"}, ten_and_two}, "peak rates not measured: no GPU");
  expect_unknown(
      KernelLimits{known,
                   [](const KernelCard&) { return InstructionCounts{.per_pair = 10, .double_precision = true}; }},
      "some instructions are in double precision, at another peak rate");
}

TEST(KernelLimits, CountEachFunctionOnce) {
  std::vector<std::string> counted;
  KernelLimits limits{known, [&](const KernelCard& card) {
                        counted.push_back(card.name);
                        return ten_and_two(card);
                      }};
  const std::vector<Measurement> entries{entry("f", 1000), entry("g", 1000), entry("f", 1000)};
  const std::string text = limits.text(entries);
  (void)limits.json(entries[0]);
  EXPECT_EQ(counted, (std::vector<std::string>{"f", "g"}));
  expect_holds(text, {"16 x 64", "25.0 %"});
}

TEST(KernelLimits, OfTheCpuAreNone) {
  KernelLimits limits{known, ten_and_two};
  Measurement of = entry("f", 1000);
  of.card.reset();
  EXPECT_TRUE(limits.json(of).is_null());
  expect_holds(limits.text({&of, 1}), {"nothing ran on a GPU"});
}

TEST(ShareOfPeak, HoldsAtThePresentClock) {
  EXPECT_DOUBLE_EQ(share_of_peak(1e12, 13, 26e12, 1500, 1500).value(), 0.5);
  EXPECT_DOUBLE_EQ(share_of_peak(1e12, 13, 26e12, 1500, 1200).value(), 0.625);
  EXPECT_DOUBLE_EQ(share_of_peak(1e12, 13, 26e12, 1500, 2000).value(), 0.375);
}

TEST(ShareOfPeak, IsThatOfTheMeasuredPeakIfAClockIsNotKnown) {
  EXPECT_DOUBLE_EQ(share_of_peak(1e12, 13, 26e12, 1500, std::nullopt).value(), 0.5);
  EXPECT_DOUBLE_EQ(share_of_peak(1e12, 13, 26e12, 0, 1200).value(), 0.5);
}

TEST(ShareOfPeak, IsNoneIfAValueIsNotKnown) {
  EXPECT_FALSE(share_of_peak(1e12, std::nullopt, 26e12, 1500, 1500));
  EXPECT_FALSE(share_of_peak(0, 13, 26e12, 1500, 1500));
  EXPECT_FALSE(share_of_peak(1e12, 13, 0, 1500, 1500));
  EXPECT_FALSE(share_of_peak(std::numeric_limits<double>::quiet_NaN(), 13, 26e12, 1500, 1500));
}

TEST(ShareOfPeak, IsNoneIfThePeakWasExceeded) {
  EXPECT_DOUBLE_EQ(share_of_peak(2e12, 13, 26e12, 1500, 1500).value(), 1);
  EXPECT_FALSE(share_of_peak(2.01e12, 13, 26e12, 1500, 1500)) << "then it is not the peak";
}

TEST(RooflineShares, AreThoseOfIssueAndOfTheSpecialFunctionUnits) {
  const PeakRates peak{.fma_per_s = 4e9, .rsqrt_per_s = 1e9, .clock_mhz = 1000};
  const RooflineShares full = roofline_shares(1e8, {.instructions = 10, .mufu = 2}, peak, 1000);
  EXPECT_DOUBLE_EQ(full.issue.value(), 0.25);
  EXPECT_DOUBLE_EQ(full.mufu.value(), 0.2);
  EXPECT_DOUBLE_EQ(roofline_shares(1e8, {.instructions = 10}, peak, 500).issue.value(), 0.5);
  const RooflineShares mixed =
      roofline_shares(1e8, {.instructions = 10, .mufu = 2, .double_precision = true}, peak, {});
  EXPECT_FALSE(mixed.issue) << "double precision issues at another rate";
  EXPECT_DOUBLE_EQ(mixed.mufu.value(), 0.2);
}

// The peak rates of the processor and of the GPU, as `orrery info` prints them.

TEST(MemoryRate, IsFiniteAndNoneWithoutArrays) {
  constexpr std::size_t bytes = std::size_t{4} << 20;
  for (const int threads : {1, 2}) {
    const double rate = measure_memory_rate(threads, bytes);
    EXPECT_TRUE(std::isfinite(rate));
    EXPECT_GT(rate, 1e8);
    EXPECT_LT(rate, 1e14);
  }
  EXPECT_EQ(measure_memory_rate(1, 0), 0);
}

TEST(MemoryRate, ArraysAreFarLargerThanACache) {
  const std::size_t bytes = uncached_array_bytes();
  EXPECT_TRUE(bytes == 0 || bytes >= std::size_t{64} << 20) << bytes;
  EXPECT_LE(bytes, std::size_t{256} << 20);
}

TEST(CpuPeakRates, AreMeasuredAndHaveText) {
  const CpuPeakRates rates = measure_cpu_peak_rates();
  EXPECT_GT(rates.threads, 0);
  EXPECT_TRUE(std::isfinite(rates.fma_per_s));
  EXPECT_GT(rates.fma_per_s, 0);
  expect_holds(rates.text(), {rates.instruction_set});
  EXPECT_EQ(rates.json()["fma_per_s"], rates.fma_per_s);
}

TEST(CpuPeakRates, NameWhatIsNotKnown) {
  CpuPeakRates rates{.threads = 1, .instruction_set = "AVX2", .fma_per_s = 96e9, .memory_bytes_per_s = 12e9};
  EXPECT_EQ(rates.text(), "1 thread: 96 G FMA/s in FP32 (AVX2), 12 GB/s of memory");
  rates.memory_bytes_per_s = 0;
  expect_holds(rates.text(), {"too little free memory"});
  EXPECT_TRUE(rates.json()["memory_bytes_per_s"].is_null());
}

TEST(MachinePeakRates, StateTheMemoryBesideItsLimit) {
  MachinePeakRates rates{.peak_rates = PeakRates{.fma_per_s = 3e13,
                                                 .rsqrt_per_s = 4e12,
                                                 .clock_mhz = 1980,
                                                 .dram_bytes_per_s = 3e12,
                                                 .dram_limit_bytes_per_s = 4e12}};
  expect_holds(rates.text(), {"3 TB/s of memory (75 % of what its clock allows)"});
  EXPECT_EQ(rates.json()["dram_bytes_per_s"], 3e12);
  rates.peak_rates->dram_limit_bytes_per_s = 0;
  expect_lacks(rates.text(), {"allows"});
  EXPECT_TRUE(rates.json()["dram_limit_bytes_per_s"].is_null());
  rates.peak_rates->dram_bytes_per_s = 0;
  expect_holds(rates.text(), {"too little free memory"});
  EXPECT_TRUE(rates.json()["dram_bytes_per_s"].is_null());
}

}  // namespace
}  // namespace orrery::test
