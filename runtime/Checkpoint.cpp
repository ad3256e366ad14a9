//===- Checkpoint.cpp - Saving and loading all variables ------------------===//
//
// Checks and errors that saving (Save.cpp) and loading (Load.cpp) share.
//
//===----------------------------------------------------------------------===//

#include "runtime/Checkpoint.h"

using namespace tfc::runtime;

tfc_status tfc::runtime::failWithErrno(tfc_instance &instance, const char *what, const char *path) {
  return instance.fail(errno == ENOENT ? TFC_NOT_FOUND : TFC_IO_ERROR, "cannot %s '%s': %m", what,
                       path);
}

tfc_status tfc::runtime::checkPath(tfc_instance *instance, const char *path) {
  if (!instance)
    return TFC_INVALID_ARGUMENT;
  instance->message.clear();
  if (!path || !*path)
    return instance->fail(TFC_INVALID_ARGUMENT, "the path of the checkpoint is %s",
                          path ? "empty" : "null");
  if (instance->state->tasks.areAlone() && strlen(path) >= kMostText)
    return instance->fail(TFC_INVALID_ARGUMENT, "the path of the checkpoint is too long");
  return TFC_OK;
}

bool tfc::runtime::beginsTogether(tfc_instance *instance, Tasks::Operation operation,
                                  const char *path, tfc_status status) {
  if (!instance || !instance->state->tasks.areUsed())
    return false;
  Tasks &tasks = instance->state->tasks;
  if (status != TFC_OK && tasks.areAlone() && instance->tasks.leader == tasks.self())
    return false;
  tasks.beginOperation(*instance, operation, path);
  return true;
}

/// Returns the lock, held, if a process has begun the operation alone.
static SharedLock *holdFiles(tfc_instance &instance) {
  State &state = *instance.state;
  if (!state.tasks.areAlone())
    return nullptr;
  state.files.acquire(/*exclusive=*/true);
  return &state.files;
}

OperationLock::OperationLock(tfc_instance &instance, StateLock::Hold hold)
    : turn(instance.state->tasks.awaitTurnOfOperation(instance)), files(holdFiles(instance)),
      lock(*instance.state, hold) {
  instance.state->tasks.passTurn(instance);
}

OperationLock::~OperationLock() {
  if (files)
    files->release(/*exclusive=*/true);
}

tfc_status tfc::runtime::failTogether(tfc_instance &instance, tfc_status status) {
  Message message = instance.message;
  instance.state->tasks.awaitTurnOfOperation(instance);
  instance.state->tasks.passTurn(instance);
  instance.message = message;
  return instance.state->tasks.exchange(instance, 1, status, instance.message.c_str());
}
