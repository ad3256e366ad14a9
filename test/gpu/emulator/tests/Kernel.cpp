//===- Kernel.cpp - Runs short kernels for tests --------------------------===//
//
// The frame of a kernel: its header, parameters and registers.
//
//===----------------------------------------------------------------------===//

#include "test/gpu/emulator/tests/Kernel.h"
#include <cstring>

namespace tfc::gpu::test {

Device::Device() { shape.kernel = "k"; }

void Device::load(const std::string &text) {
  program = Program::load(".version 7.0\n.target sm_80\n.address_size 64\n" + text, memory, error);
}

void Device::loadBody(const std::string &body, const std::string &before) {
  load(before +
       ".visible .entry k(.param .u64 k_0, .param .u64 k_1)\n{\n"
       "\t.reg .pred %p<8>;\n\t.reg .b16 %h<32>;\n\t.reg .b32 %r<64>;\n"
       "\t.reg .b64 %rd<32>;\n\t.reg .f32 %f<32>;\n\t.reg .f64 %fd<16>;\n"
       "\tld.param.u64 %rd0, [k_0];\n\tcvta.to.global.u64 %rd0, %rd0;\n"
       "\tld.param.u64 %rd1, [k_1];\n\tcvta.to.global.u64 %rd1, %rd1;\n"
       "\tmov.u32 %r0, %tid.x;\n\t// The address of the thread's result.\n"
       "\tmul.wide.u32 %rd2, %r0, 4;\n\tadd.s64 %rd2, %rd0, %rd2;" +
       body + "\n\tret;\n}\n");
}

uint64_t Device::upload(const void *data, size_t bytes, bool isWritten) {
  uint64_t address = memory.allocate(bytes ? bytes : 4);
  if (isWritten)
    memory.write(address, bytes, data, false);
  return address;
}

void Device::launchWith(uint64_t out, uint64_t in) {
  shape.parameters.resize(16);
  memcpy(shape.parameters.data(), &out, 8);
  memcpy(shape.parameters.data() + 8, &in, 8);
  error = launch(*program, shape, memory, counters);
}

/// The register of an operand, from 1 on; 0 is the result.
static std::string registerOf(int bits, int operand) {
  return (bits == 16 ? "%h" : bits == 32 ? "%r" : "%rd") + std::to_string(8 + operand);
}

/// Replaces $d, $a, $b and $c.
static std::string withRegisters(std::string code, int resultBits, int bits) {
  for (size_t at; (at = code.find('$')) != std::string::npos;) {
    int operand = code[at + 1] == 'd' ? 0 : code[at + 1] - 'a' + 1;
    code.replace(at, 2, registerOf(operand == 0 ? resultBits : bits, operand));
  }
  return code;
}

Numbers apply(const std::string &code, int resultBits, int bits,
              const std::vector<Numbers> &operands) {
  size_t count = operands.front().size();
  std::string body = "\n\tmov.u32 %r2, %ctaid.x;\n\tmad.lo.u32 %r2, %r2, 256, %r0;\n"
                     "\tsetp.ge.u32 %p0, %r2, " +
                     std::to_string(count) +
                     ";\n\t@%p0 exit;\n"
                     "\tmul.wide.u32 %rd2, %r2, 8;\n\tadd.u64 %rd3, %rd1, %rd2;\n"
                     "\tadd.u64 %rd2, %rd0, %rd2;\n";
  Numbers in;
  for (size_t i = 0; i < operands.size(); ++i) {
    std::string size = std::to_string(bits);
    body += "\tld.global.b" + size + " " + registerOf(bits, static_cast<int>(i) + 1) + ", [%rd3+" +
            std::to_string(8 * count * i) + "];\n";
    in.insert(in.end(), operands[i].begin(), operands[i].end());
  }
  body += "\tst.global.u64 [%rd2], 0;\n" + withRegisters(code, resultBits, bits) +
          "\n\tst.global.b" + std::to_string(resultBits) + " [%rd2], " + registerOf(resultBits, 0) +
          ";";
  Device device;
  device.loadBody(body);
  EXPECT_EQ(device.error, "") << body;
  Numbers out(count);
  device.shape.block.x = 256;
  device.shape.grid.x = static_cast<uint32_t>((count + 255) / 256);
  if (device.error.empty()) {
    EXPECT_EQ(device.run(out, in), "") << body;
  }
  return out;
}

std::string failureOf(const std::string &body, unsigned threads, const std::string &before) {
  Device device;
  device.loadBody(body, before);
  if (!device.error.empty())
    return device.error;
  device.shape.block.x = threads;
  std::vector<uint32_t> out(1024), in(64, 1);
  // Results that nobody wrote are no error of the kernel.
  device.launchWith(device.upload(nullptr, 4096, false), device.upload(in.data(), 256, true));
  return device.error;
}

std::string refusalOf(const std::string &body) {
  Device device;
  device.loadBody(body);
  return device.error;
}

} // namespace tfc::gpu::test
