//===- Variables.cpp - Reading and writing single variables ---------------===//
//
// Reads and writes single variables by name. Checkpoint.cpp does so for all of them at once.
//
//===----------------------------------------------------------------------===//

#include "runtime/Instance.h"

using namespace tfc::runtime;

/// The variable's number if `tensor` has its type; otherwise -1, with the message and `status` set.
static int32_t findVariable(tfc_instance &instance, const char *name, const tfc_tensor *tensor,
                            tfc_status &status) {
  const tfc_model &model = *instance.state->model;
  int32_t index = 0;
  while (index < model.variable_count && (!name || strcmp(model.variables[index].name, name) != 0))
    ++index;
  if (index == model.variable_count) {
    status =
        instance.fail(TFC_NOT_FOUND, "%s has no variable '%s'", model.name, name ? name : "(null)");
    return -1;
  }
  const tfc_variable_info &variable = model.variables[index];
  if (!tensor || (!tensor->data && variable.bytes) || (!tensor->dims && tensor->rank > 0)) {
    status = instance.fail(TFC_INVALID_ARGUMENT, "the tensor for variable '%s' is null", name);
    return -1;
  }
  if (tensor->dtype == variable.dtype && tensor->rank == variable.rank &&
      (variable.rank == 0 ||
       memcmp(tensor->dims, variable.dims, variable.rank * sizeof(int64_t)) == 0))
    return index;
  instance.message.add("variable '%s' is %s", name, dtypeName(variable.dtype));
  instance.message.addShape(variable.dims, variable.rank);
  instance.message.add(", but got %s", dtypeName(tensor->dtype));
  instance.message.addShape(tensor->dims, tensor->rank);
  status = TFC_INVALID_ARGUMENT;
  return -1;
}

tfc_status tfc::runtime::readVariable(State &state, int32_t number, void *to, Message &message) {
  const tfc_variable_info &variable = state.model->variables[number];
  if (tfc_status status = checkVariable(state, number, message))
    return status;
  if (Gpu *gpu = gpuOf(state, variable))
    return gpu->download(to, state.variables[number], variable.bytes, message);
  if (variable.bytes)
    memcpy(to, state.variables[number], variable.bytes);
  return TFC_OK;
}

tfc_status tfc::runtime::writeVariable(State &state, int32_t number, const void *from,
                                       Message &message) {
  const tfc_variable_info &variable = state.model->variables[number];
  if (tfc_status status = checkVariable(state, number, message))
    return status;
  if (Gpu *gpu = gpuOf(state, variable))
    return gpu->upload(state.variables[number], from, variable.bytes, message);
  if (variable.bytes)
    memcpy(state.variables[number], from, variable.bytes);
  return TFC_OK;
}

extern "C" tfc_status tfc_instance_get(tfc_instance *instance, const char *name,
                                       const tfc_tensor *out) {
  if (!instance)
    return TFC_INVALID_ARGUMENT;
  instance->message.clear();
  tfc_status status = TFC_OK;
  int32_t index = findVariable(*instance, name, out, status);
  if (index < 0)
    return status;
  StateLock lock(*instance->state, StateLock::Hold::Shared);
  Message message;
  status = readVariable(*instance->state, index, out->data, message);
  return status ? instance->fail(status, "variable '%s': %s", name, message.c_str()) : TFC_OK;
}

extern "C" tfc_status tfc_instance_set(tfc_instance *instance, const char *name,
                                       const tfc_tensor *in) {
  if (!instance)
    return TFC_INVALID_ARGUMENT;
  instance->message.clear();
  tfc_status status = TFC_OK;
  int32_t index = findVariable(*instance, name, in, status);
  if (index < 0)
    return status;
  uint64_t bytes = instance->state->model->variables[index].bytes;
  if (in->dtype == TFC_BOOL && !isValidBool(in->data, bytes))
    return instance->fail(TFC_INVALID_ARGUMENT,
                          "variable '%s' is bool, but a byte is neither 0 nor 1", name);
  StateLock lock(*instance->state, StateLock::Hold::Exclusive);
  Message message;
  status = writeVariable(*instance->state, index, in->data, message);
  return status ? instance->fail(status, "variable '%s': %s", name, message.c_str()) : TFC_OK;
}
