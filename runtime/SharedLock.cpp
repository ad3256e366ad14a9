//===- SharedLock.cpp - A lock of many readers or one writer --------------===//
//
// Implements the lock of a state by a mutex and a condition. Calls hold it for as long as they run,
// so that the cost of either does not matter.
//
//===----------------------------------------------------------------------===//

#include "runtime/SharedLock.h"

using namespace tfc::runtime;

SharedLock::SharedLock() {
  pthread_mutex_init(&mutex, nullptr);
  pthread_cond_init(&changed, nullptr);
}

SharedLock::~SharedLock() {
  pthread_cond_destroy(&changed);
  pthread_mutex_destroy(&mutex);
}

void SharedLock::acquire(bool exclusive) {
  pthread_mutex_lock(&mutex);
  if (exclusive) {
    ++waitingWriters;
    while (hasWriter || readers)
      pthread_cond_wait(&changed, &mutex);
    --waitingWriters;
    hasWriter = true;
  } else {
    while (hasWriter || waitingWriters)
      pthread_cond_wait(&changed, &mutex);
    ++readers;
  }
  pthread_mutex_unlock(&mutex);
}

void SharedLock::release(bool exclusive) {
  pthread_mutex_lock(&mutex);
  if (exclusive)
    hasWriter = false;
  else
    --readers;
  if (exclusive || readers == 0)
    pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
}
