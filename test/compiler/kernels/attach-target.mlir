// The module describes the target of its kernels, replacing any previous description.
// RUN: tfc-opt --tfc-attach-target=mcpu=x86-64-v3 %s | FileCheck %s
// RUN: tfc-opt --tfc-attach-target='mcpu=x86-64-v3 products=false' %s | FileCheck %s --check-prefix=PLAIN
// RUN: tfc-opt --tfc-attach-target=target=aarch64-linux-gnu %s | FileCheck %s --check-prefix=ARM
// RUN: not tfc-opt --tfc-attach-target=mcpu=z80 %s 2>&1 | FileCheck %s --check-prefix=ERROR
// RUN: not tfc-opt --tfc-attach-target=target=vax-dec-vms %s 2>&1 | FileCheck %s --check-prefix=TRIPLE

// CHECK: module attributes {kernel.targets = {cpu = #kernel.target<triple = "{{.+}}", processor = "x86-64-v3",
// CHECK-SAME: features = "{{.*}}+avx2,{{.*}}", layout = "e-{{.*}}", l1 = 32768, l2 = 524288>, other = #kernel.target<
// PLAIN: l2 = 524288, withoutProducts = unit>
// ARM: cpu = #kernel.target<triple = "aarch64-unknown-linux-gnu", processor = "generic", features = "{{.*}}+neon
// TRIPLE: error: there is no code generator for 'vax-dec-vms'
// ERROR: error: 'z80' is not a 64-bit processor that LLVM supports
module attributes {kernel.targets = {
    cpu = #kernel.target<triple = "x86_64", processor = "x86-64", features = "", layout = "e", l1 = 4096, l2 = 4096>,
    other = #kernel.target<triple = "x86_64", processor = "x86-64", features = "", layout = "e", l1 = 4096, l2 = 4096>}} {
}
