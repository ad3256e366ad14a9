// Names of outputs.

#include "frontend/tensorflow/OutputNames.h"
#include "frontend/tensorflow/graph.pb.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace llvm;

namespace tfc::tensorflow {

std::optional<std::pair<StringRef, unsigned>> splitTensorName(StringRef text) {
  size_t colon = text.rfind(':');
  if (colon == StringRef::npos)
    return std::pair(text, 0u);
  unsigned output;
  if (text.substr(colon + 1).getAsInteger(10, output) || output > 100000)
    return std::nullopt;
  return std::pair(text.take_front(colon), output);
}

namespace {
/// An operation with outputs of several names, in order; "name*N" is as many as the attribute N
/// says.
struct Outputs {
  StringLiteral op, names;
};
} // namespace

// From the operation definitions of TensorFlow (tensorflow/core/ops).
static constexpr Outputs kOutputs[] = {
    {"ApproxTopK", "values indices"},
    {"BatchNormWithGlobalNormalizationGrad", "dx dm dv db dg"},
    {"BlockLSTM", "i cs f o ci co h"},
    {"BlockLSTMV2", "i cs f o ci co h"},
    {"BroadcastGradientArgs", "r0 r1"},
    {"CTCBeamSearchDecoder",
     "decoded_indices*top_paths decoded_values*top_paths decoded_shape*top_paths log_probability"},
    {"CTCGreedyDecoder", "decoded_indices decoded_values decoded_shape log_probability"},
    {"CTCLoss", "loss gradient"},
    {"CTCLossV2", "loss gradient"},
    {"CombinedNonMaxSuppression", "nmsed_boxes nmsed_scores nmsed_classes valid_detections"},
    {"ComputeAccidentalHits", "indices ids weights"},
    {"CudnnRNN", "output output_h output_c reserve_space"},
    {"CudnnRNNV2", "output output_h output_c reserve_space host_reserved"},
    {"CudnnRNNV3", "output output_h output_c reserve_space host_reserved"},
    {"DenseToDenseSetOperation", "result_indices result_values result_shape"},
    {"DenseToSparseSetOperation", "result_indices result_values result_shape"},
    {"Eig", "e v"},
    {"FakeQuantWithMinMaxVarsGradient", "backprops_wrt_input backprop_wrt_min backprop_wrt_max"},
    {"FakeQuantWithMinMaxVarsPerChannelGradient",
     "backprops_wrt_input backprop_wrt_min backprop_wrt_max"},
    {"FusedBatchNorm", "y batch_mean batch_variance reserve_space_1 reserve_space_2"},
    {"FusedBatchNormGrad",
     "x_backprop scale_backprop offset_backprop reserve_space_3 reserve_space_4"},
    {"FusedBatchNormGradV2",
     "x_backprop scale_backprop offset_backprop reserve_space_3 reserve_space_4"},
    {"FusedBatchNormGradV3",
     "x_backprop scale_backprop offset_backprop reserve_space_4 reserve_space_5"},
    {"FusedBatchNormV2", "y batch_mean batch_variance reserve_space_1 reserve_space_2"},
    {"FusedBatchNormV3",
     "y batch_mean batch_variance reserve_space_1 reserve_space_2 reserve_space_3"},
    {"GRUBlockCell", "r u c h"},
    {"GenerateBoundingBoxProposals", "rois roi_probabilities"},
    {"LSTMBlockCell", "i cs f o ci co h"},
    {"LearnedUnigramCandidateSampler",
     "sampled_candidates true_expected_count sampled_expected_count"},
    {"ListDiff", "out idx"},
    {"LogMatrixDeterminant", "sign log_abs_determinant"},
    {"LogUniformCandidateSampler", "sampled_candidates true_expected_count sampled_expected_count"},
    {"Lu", "lu p"},
    {"MaxPoolWithArgmax", "output argmax"},
    {"Merge", "output value_index"},
    {"NonMaxSuppressionV4", "selected_indices valid_outputs"},
    {"NonMaxSuppressionV5", "selected_indices selected_scores valid_outputs"},
    {"Qr", "q r"},
    {"QuantizeAndDequantizeV4Grad", "input_backprop input_min_backprop input_max_backprop"},
    {"QuantizeDownAndShrinkRange", "output output_min output_max"},
    {"QuantizeV2", "output output_min output_max"},
    {"QuantizedAvgPool", "output min_output max_output"},
    {"QuantizedBiasAdd", "output min_out max_out"},
    {"QuantizedConcat", "output output_min output_max"},
    {"QuantizedConv2D", "output min_output max_output"},
    {"QuantizedMatMul", "out min_out max_out"},
    {"QuantizedMaxPool", "output min_output max_output"},
    {"QuantizedMul", "z min_z max_z"},
    {"QuantizedRelu", "activations min_activations max_activations"},
    {"QuantizedRelu6", "activations min_activations max_activations"},
    {"QuantizedReshape", "output output_min output_max"},
    {"RaggedGather", "output_nested_splits*OUTPUT_RAGGED_RANK output_dense_values"},
    {"RaggedRange", "rt_nested_splits rt_dense_values"},
    {"RaggedTensorFromVariant", "output_nested_splits*output_ragged_rank output_dense_values"},
    {"RaggedTensorToSparse", "sparse_indices sparse_values sparse_dense_shape"},
    {"RefMerge", "output value_index"},
    {"RefSwitch", "output_false output_true"},
    {"RequantizationRange", "output_min output_max"},
    {"Requantize", "output output_min output_max"},
    {"SelfAdjointEigV2", "e v"},
    {"SoftmaxCrossEntropyWithLogits", "loss backprop"},
    {"SparseAdd", "sum_indices sum_values sum_shape"},
    {"SparseAddGrad", "a_val_grad b_val_grad"},
    {"SparseConcat", "output_indices output_values output_shape"},
    {"SparseFillEmptyRows", "output_indices output_values empty_row_indicator reverse_index_map"},
    {"SparseFillEmptyRowsGrad", "d_values d_default_value"},
    {"SparseReduceMaxSparse", "output_indices output_values output_shape"},
    {"SparseReduceSumSparse", "output_indices output_values output_shape"},
    {"SparseReorder", "output_indices output_values"},
    {"SparseReshape", "output_indices output_shape"},
    {"SparseSegmentMeanGradV2", "output sorted_unique_indices"},
    {"SparseSegmentSqrtNGradV2", "output sorted_unique_indices"},
    {"SparseSegmentSumGradV2", "output sorted_unique_indices"},
    {"SparseSlice", "output_indices output_values output_shape"},
    {"SparseSoftmaxCrossEntropyWithLogits", "loss backprop"},
    {"SparseSparseMaximum", "output_indices output_values"},
    {"SparseSparseMinimum", "output_indices output_values"},
    {"SparseSplit", "output_indices*num_split output_values*num_split output_shape*num_split"},
    {"SparseToSparseSetOperation", "result_indices result_values result_shape"},
    {"StatelessRandomGetKeyCounter", "key counter"},
    {"StatelessRandomGetKeyCounterAlg", "key counter alg"},
    {"Svd", "s u v"},
    {"Switch", "output_false output_true"},
    {"TensorArrayConcatV3", "value lengths"},
    {"TensorArrayGradV3", "grad_handle flow_out"},
    {"TensorArrayV3", "handle flow"},
    {"TensorListConcat", "tensor lengths"},
    {"TensorListConcatV2", "tensor lengths"},
    {"TensorListPopBack", "output_handle tensor"},
    {"TopK", "values indices"},
    {"TopKV2", "values indices"},
    {"UniformCandidateSampler", "sampled_candidates true_expected_count sampled_expected_count"},
    {"Unique", "y idx"},
    {"UniqueV2", "y idx"},
    {"UniqueWithCounts", "y idx count"},
    {"UniqueWithCountsV2", "y idx count"},
};

unsigned outputNamed(const wire::Node &node, StringRef name) {
  const Outputs *known =
      find_if(kOutputs, [&](const Outputs &outputs) { return outputs.op == node.op(); });
  if (known == std::end(kOutputs))
    return 0;
  SmallVector<StringRef> names;
  known->names.split(names, ' ');
  int64_t number = 0;
  for (StringRef each : names) {
    auto [own, count] = each.split('*');
    if (own == name)
      return unsigned(number);
    auto attr = node.attr().find(count.str());
    number += attr == node.attr().end() ? 1 : std::clamp<int64_t>(attr->second.i(), 0, 1000);
  }
  return 0;
}

} // namespace tfc::tensorflow
