//===- ParserTest.cpp - Reads PTX -----------------------------------------===//
//
// Parses modules as LLVM's backend and people write them, and checks what is refused.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/ptx/Module.h"

#include <gtest/gtest.h>

using namespace tfc::gpu::ptx;
using Kind = Operand::Kind;

static const std::string kHeader = ".version 8.0\n.target sm_80\n.address_size 64\n";

/// Parses a module of which `text` follows the header, from line 4 on.
static Module parsed(const std::string &text) {
  Error error;
  std::optional<Module> module = parse(kHeader + text, error);
  EXPECT_TRUE(module) << error.str();
  return module.value_or(Module());
}

static std::string refused(const std::string &text) {
  Error error;
  EXPECT_FALSE(parse(kHeader + text, error));
  return error.str();
}

/// Parses the body of a kernel, which begins on line 5.
static Function parsedBody(const std::string &body) {
  Module module = parsed(".entry k(.param .u64 k_0) {\n" + body + "\n}\n");
  return module.functions.empty() ? Function() : module.functions.front();
}

static std::string refusedBody(const std::string &body) {
  return refused(".entry k(.param .u64 k_0) {\n" + body + "\n}\n");
}

//===- Modules ------------------------------------------------------------===//

TEST(Parser, ReadsTheHeader) {
  Module module = parsed("");
  EXPECT_EQ(module.version, 80);
  EXPECT_EQ(module.target, "sm_80");
  Error error;
  EXPECT_TRUE(parse("// a comment\n.version 7.8\n.target sm_90a, debug\n.address_size 64", error));
  EXPECT_FALSE(parse(".version 8\n.target sm_80\n.address_size 64\n", error));
  EXPECT_EQ(error.str(), "line 2: expected a version, as in 8.0, but got 'target'");
  EXPECT_FALSE(parse(".version 8.0\n.target sm_80\n.address_size 32\n", error));
  EXPECT_EQ(error.message, "expected addresses of 64 bits, but got 32");
  EXPECT_FALSE(parse("", error));
  EXPECT_EQ(error.str(), "line 1: expected '.version', but got the end");
}

TEST(Parser, ReadsVariablesWithInitialisers) {
  Module module = parsed(R"(
.visible .global .align 16 .b8 table[6] = {1, 0x2, 0b11, 04, 255};
.extern .shared .align 128 .b8 pool[];
.const .f32 half = 0f3F000000;
.global .u64 addresses[] = {table, generic(table)+4, 7};
.global .s32 minus = -2;
)");
  ASSERT_EQ(module.variables.size(), 5u);
  const Variable &table = module.variables[0];
  EXPECT_TRUE(table.isVisible && table.isArray);
  EXPECT_EQ(table.align, 16);
  EXPECT_EQ(table.size(), 6);
  EXPECT_EQ(table.bytes, (std::vector<uint8_t>{1, 2, 3, 4, 255}));
  const Variable &pool = module.variables[1];
  EXPECT_TRUE(pool.isExternal && !pool.elements);
  EXPECT_EQ(pool.space, Space::Shared);
  EXPECT_EQ(module.variables[2].bytes, (std::vector<uint8_t>{0, 0, 0, 0x3f}));
  const Variable &addresses = module.variables[3];
  EXPECT_EQ(addresses.elements, 3);
  ASSERT_EQ(addresses.references.size(), 2u);
  EXPECT_TRUE(addresses.references[1].isGeneric);
  EXPECT_EQ(addresses.references[1].offset, 8);
  EXPECT_EQ(addresses.references[1].addend, 4);
  EXPECT_EQ(module.variables[4].bytes, (std::vector<uint8_t>{254, 255, 255, 255}));
}

TEST(Parser, ReadsFunctionsAndTheirLimits) {
  Module module = parsed(R"(
.extern .func (.param .b32 r) helper(.param .b64 a, .param .align 4 .b8 b[12]);
.visible .entry k(
	.param .u64 .ptr .global .align 16 k_0,
	.param .u32 k_1
)
.maxntid 256, 2
.reqntid 128
.minnctapersm 2
{
	ret;
}
)");
  ASSERT_EQ(module.functions.size(), 2u);
  const Function &helper = module.functions[0], &kernel = module.functions[1];
  EXPECT_TRUE(helper.isExternal && !helper.isKernel);
  EXPECT_EQ(helper.results.size(), 1u);
  EXPECT_EQ(helper.parameters[1].size(), 12);
  EXPECT_TRUE(kernel.isKernel && kernel.isVisible);
  EXPECT_EQ(kernel.parameters.size(), 2u);
  EXPECT_EQ(kernel.maxThreads[0] * kernel.maxThreads[1] * kernel.maxThreads[2], 512);
  EXPECT_EQ(kernel.requiredThreads[0], 128);
  EXPECT_EQ(kernel.requiredThreads[2], 1);
  ASSERT_EQ(kernel.instructions.size(), 1u);
  EXPECT_EQ(kernel.instructions[0].place.line, 14);
}

//===- Bodies -------------------------------------------------------------===//

TEST(Parser, ReadsOperands) {
  Function kernel = parsedBody(R"(
	.reg .pred %p<3>;
	.reg .b32 %r<4>, %x;
	.reg .b64 %rd<2>;
	.shared .align 4 .b8 tile[64];
	ld.param.u64 %rd1, [k_0];
	@!%p1 ld.global.v2.u32 {%r1, _}, [%rd1+-8];
	mov.u32 %x, %tid.x;
	mov.u32 %r3, tile;
	setp.eq.and.s32 %p1|%p2, %r1, -7, !%p2;
	fma.rn.f32 %r1, %r2, 0fBF800000, 0d3FF0000000000000;
	st.shared.u32 [tile+12], %r3;
	st.shared.u32 [16], %r3;
)");
  ASSERT_EQ(kernel.instructions.size(), 8u);
  auto operand = [&](size_t i, size_t j) { return kernel.instructions[i].operands[j]; };
  EXPECT_EQ(kernel.registers.size(), 10u);
  EXPECT_EQ(kernel.registers[operand(0, 0).number].name, "%rd1");
  EXPECT_EQ(operand(0, 1).elements[0].kind, Kind::Variable);
  EXPECT_EQ(operand(0, 1).elements[0].number, 0u); // the parameter
  EXPECT_EQ(kernel.instructions[1].str(), "ld.global.v2.u32");
  EXPECT_TRUE(kernel.instructions[1].guard->isNegated);
  EXPECT_EQ(operand(1, 0).kind, Kind::Vector);
  EXPECT_EQ(operand(1, 0).elements[1].kind, Kind::Sink);
  EXPECT_EQ(operand(1, 1).value, -8);
  EXPECT_EQ(operand(2, 1).kind, Kind::Special);
  EXPECT_EQ(operand(2, 1).name, "%tid.x");
  EXPECT_EQ(kernel.variables[operand(3, 1).number].name, "tile");
  EXPECT_EQ(operand(4, 0).kind, Kind::Pair);
  EXPECT_EQ(operand(4, 2).value, -7);
  EXPECT_TRUE(operand(4, 3).isNegated);
  EXPECT_EQ(operand(5, 2).value, 0xBF800000);
  EXPECT_FALSE(operand(5, 2).isDouble);
  EXPECT_EQ(operand(5, 3).value, 0x3FF0000000000000);
  EXPECT_TRUE(operand(5, 3).isDouble);
  EXPECT_EQ(operand(6, 0).value, 12);
  EXPECT_TRUE(operand(7, 0).elements.empty());
}

TEST(Parser, ResolvesLabelsOfTheWholeFunction) {
  Function kernel = parsedBody(R"(
	.reg .pred %p1;
	bra $end;
$loop: // two labels of one place
$again:
	@%p1 bra $loop;
	bra.uni $again;
$end:
	ret;
)");
  ASSERT_EQ(kernel.instructions.size(), 4u);
  auto target = [&](size_t i) { return kernel.instructions[i].operands[0].number; };
  EXPECT_EQ(target(0), 3u);
  EXPECT_EQ(target(1), 1u);
  EXPECT_EQ(target(2), 1u);
}

TEST(Parser, GivesBlocksScopesOfTheirOwn) {
  Function kernel = parsedBody(R"(
	.reg .b32 %r1;
	mov.u32 %r1, 1;
	{
	.reg .b64 %r1;
	.param .b32 arg;
	st.param.b32 [arg], %r1;
	}
	mov.u32 %r1, 2;
)");
  ASSERT_EQ(kernel.instructions.size(), 3u);
  EXPECT_EQ(kernel.instructions[0].operands[0].number, 0u);
  EXPECT_EQ(kernel.instructions[1].operands[1].number, 1u);
  EXPECT_EQ(kernel.instructions[2].operands[0].number, 0u);
}

TEST(Parser, ReadsCalls) {
  Module module = parsed(R"(
.func (.param .b32 r) twice(.param .b32 a);
.entry k() {
	.param .b32 in;
	.param .b32 out;
	call.uni (out), twice, (in);
}
)");
  const Instruction &call = module.functions[1].instructions[0];
  ASSERT_EQ(call.operands.size(), 3u);
  EXPECT_EQ(call.operands[0].kind, Kind::List);
  EXPECT_EQ(call.operands[0].elements[0].kind, Kind::Variable);
  EXPECT_EQ(call.operands[1].kind, Kind::Symbol);
  EXPECT_EQ(call.operands[1].name, "twice");
}

TEST(Parser, IgnoresPragmasAndLines) {
  EXPECT_EQ(parsedBody("\t.pragma \"nounroll\";\n\t.loc 1 2 3\n\tret;").instructions.size(), 1u);
  const char *inlined = "\t.loc 2 84 3, function_name $L__info_string0, inlined_at 1 6 30\n\tret;";
  EXPECT_EQ(parsedBody(inlined).instructions.size(), 1u);
  parsed(".file 1 \"model.graph\"\n");
}

TEST(Parser, ReadsRegistersWithoutAPercentSign) {
  Function kernel =
      parsedBody("\t.reg .b32 temporary;\n\tmov.b32 temporary, -9223372036854775808;");
  EXPECT_EQ(kernel.instructions[0].operands[0].kind, Kind::Register);
  EXPECT_EQ(kernel.instructions[0].operands[1].value, INT64_MIN);
  EXPECT_EQ(refusedBody("\t@k_0 ret;"), "line 5: expected a predicate that is declared");
}

//===- Errors -------------------------------------------------------------===//

TEST(Parser, RefusesWhatItDoesNotKnow) {
  EXPECT_EQ(refused(".section .debug_info {}"),
            "line 4: expected a variable or function, but got 'section'");
  EXPECT_EQ(refused(".global .v4 .f32 x;"),
            "line 4: expected the type of a variable, but got 'v4'");
  EXPECT_EQ(refused(".global .pred x;"), "line 4: expected the type of a variable, but got 'pred'");
  EXPECT_EQ(refusedBody("\t.reg .b7 %x;"), "line 5: expected the type of a register, but got 'b7'");
  EXPECT_EQ(refusedBody("\t.global .u32 x;"),
            "line 5: expected a declaration or an instruction, but got 'global'");
  EXPECT_EQ(refused(".entry k() .maxclusterrank 4 { ret; }"),
            "line 4: expected a directive of a function, but got 'maxclusterrank'");
}

TEST(Parser, RefusesBadOperands) {
  EXPECT_EQ(refusedBody("\tmov.u32 %tid.x, 3.5;"), "line 5: expected an operand, but got '3'");
  EXPECT_EQ(refusedBody("\tmov.u32 %tid.x, 0f3F8;"),
            "line 5: expected an operand, but got '0f3F8'");
  EXPECT_EQ(refusedBody("\tmov.u32 %tid.x, 09;"), "line 5: expected an operand, but got '09'");
  EXPECT_EQ(refusedBody("\tmov.u32 %tid.x, 99999999999999999999;"),
            "line 5: expected an operand, but got '99999999999999999999'");
  EXPECT_EQ(refusedBody("\tmov.u32 %tid.x, $nowhere;"), "line 5: '$nowhere' is not declared");
  EXPECT_EQ(refusedBody("\tld.u32 %tid.x, [%tid.x];"), "line 5: expected an address");
  EXPECT_EQ(refusedBody("\tbra k;"), "line 5: expected a label of the function");
  EXPECT_EQ(refusedBody("\t@%p1 ret;"), "line 5: expected a predicate that is declared");
  EXPECT_EQ(refusedBody("$a:\n$a:\n\tret;"), "line 6: label '$a' is set twice");
}

TEST(Parser, RefusesWhatEndsEarly) {
  EXPECT_EQ(refusedBody("\tadd.u32 %tid.x, 1"), "line 6: expected ',' or ';', but got '}'");
  EXPECT_EQ(refused(".entry k() {\n\tret;\n"), "line 6: expected an instruction, but got the end");
  EXPECT_EQ(refused(".global .b8 x[2] = {1, 2, 3};"),
            "line 4: expected at most 2 elements for 'x'");
  EXPECT_EQ(refused(".global .b8 x[4000000000][4000000000];"),
            "line 4: expected a size of at most 2^40 bytes");
  EXPECT_EQ(refused("/* no end"), "line 4: expected a variable or function, but got '/'");
}
