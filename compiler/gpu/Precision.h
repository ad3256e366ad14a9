// How exact products on GPUs are.
#pragma once

namespace tfc::gpu {

/// The type to which products of f32 may round their factors; sums are in f32.
enum class Precision { F32, TF32, BF16 };

} // namespace tfc::gpu
