//===- MpiMessages.cpp - Messages of a cluster by MPI ---------------------===//
//
// The thread that speaks MPI posts and forgets sends, and takes and delivers messages.
//
//===----------------------------------------------------------------------===//

#include "runtime/mpi/MpiTransport.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <new>
#include <utility>

using namespace tfc::mpi;

/// Notes the first error of MPI.
bool MpiTransport::check(int code) {
  if (code == MPI_SUCCESS)
    return true;
  char text[MPI_MAX_ERROR_STRING + 1] = "";
  int length = 0;
  MPI_Error_string(code, text, &length);
  breakDown(text);
  return false;
}

/// Nothing can be sent or received any more.
void MpiTransport::breakDown(const char *text) {
  if (!std::exchange(isBroken, true))
    snprintf(reason, sizeof(reason), "%s", text);
}

void MpiTransport::reportBreakDown() {
  if (isBroken && !std::exchange(hasReported, true))
    receiver->lost(receiver->context, -1, reason);
}

bool MpiTransport::areComplete(std::vector<MPI_Request> &requests) {
  int isDone = 1;
  if (!requests.empty() && !check(MPI_Testall(static_cast<int>(requests.size()), requests.data(),
                                              &isDone, MPI_STATUSES_IGNORE)))
    return true;
  return isDone;
}

/// Calls `piece` for each part of data that is one message of MPI.
template <typename Function> static void forEachPiece(int64_t bytes, Function piece) {
  for (int64_t first = 0; first < bytes; first += kPieceBytes)
    piece(first, static_cast<int>(std::min(kPieceBytes, bytes - first)));
}

/// Posts the sends of a message.
void MpiTransport::post(Outgoing &outgoing) {
  int64_t pieces = outgoing.data ? (outgoing.bytes + kPieceBytes - 1) / kPieceBytes : 0;
  outgoing.requests.reserve(pieces + 1);
  int tag = 0;
  if (outgoing.data) {
    int &next = nextTag[outgoing.to];
    tag = kFirstDataTag + next;
    next = (next + 1) % kDataTags;
    memcpy(outgoing.message.data() + offsetof(Prefix, dataTag), &tag, sizeof(tag));
  }
  auto send = [&](const void *data, int bytes, int withTag) {
    MPI_Request request;
    if (!isBroken && check(MPI_Isend(data, bytes, MPI_BYTE, outgoing.to, withTag, comm, &request)))
      outgoing.requests.push_back(request);
  };
  send(outgoing.message.data(), static_cast<int>(outgoing.message.size()), kHeaderTag);
  if (outgoing.data)
    forEachPiece(outgoing.bytes,
                 [&](int64_t first, int bytes) { send(outgoing.data + first, bytes, tag); });
}

/// Posts all that is in the queue. Messages without requests, after an error, count as sent.
bool MpiTransport::postOutgoing() {
  std::list<Outgoing> all;
  {
    std::lock_guard lock(mutex);
    all.splice(all.end(), queue);
    if (hasFailed)
      breakDown(kNoMemory);
  }
  bool any = !all.empty();
  while (!all.empty()) {
    leaving.splice(leaving.end(), all, all.begin());
    try {
      if (!isBroken)
        post(leaving.back());
    } catch (const std::bad_alloc &) {
      breakDown(kNoMemory);
    }
  }
  return any;
}

/// Forgets messages that have left. Without `mayTell`, those stay whose end the receiver waits for.
bool MpiTransport::finishOutgoing(bool mayTell) {
  std::list<Outgoing> gone;
  for (auto it = leaving.begin(); it != leaving.end();) {
    auto message = it++;
    if ((message->data && !mayTell) || !areComplete(message->requests))
      continue;
    if (message->data)
      receiver->sent(receiver->context, message->token);
    message->requests.clear();
    gone.splice(gone.end(), leaving, message);
  }
  if (gone.empty())
    return false;
  std::lock_guard lock(mutex);
  spareOutgoing.splice(spareOutgoing.end(), gone);
  return true;
}

void MpiTransport::postReceive(size_t number) {
  buffers[number].resize(kMessageBytes);
  check(MPI_Irecv(buffers[number].data(), kMessageBytes, MPI_BYTE, MPI_ANY_SOURCE, kHeaderTag, comm,
                  &posted[number]));
}

/// Begins to take a message, for which its header has come.
void MpiTransport::take(int from, const char *message) {
  Prefix prefix;
  memcpy(&prefix, message, sizeof(prefix));
  if (spareIncoming.empty())
    spareIncoming.emplace_back();
  arriving[from].splice(arriving[from].end(), spareIncoming, spareIncoming.begin());
  Incoming &incoming = arriving[from].back();
  const char *header = message + sizeof(prefix);
  incoming.header.assign(header, header + prefix.headerBytes);
  incoming.bytes = prefix.bytes;
  incoming.data = nullptr;
  incoming.left = 0;
  if (!prefix.bytes)
    return;
  incoming.data = receiver->place(receiver->context, header, prefix.headerBytes, prefix.bytes);
  char *to = static_cast<char *>(incoming.data);
  if (!prefix.dataTag) {
    if (to)
      memcpy(to, header + prefix.headerBytes, prefix.bytes);
    return;
  }
  incoming.from = from;
  incoming.tag = prefix.dataTag;
  if (!to) {
    incoming.dropped.resize(std::min(prefix.bytes, kPieceBytes));
    incoming.left = prefix.bytes;
    return dropNext(incoming);
  }
  forEachPiece(prefix.bytes, [&](int64_t first, int bytes) {
    MPI_Request request;
    if (check(MPI_Irecv(to + first, bytes, MPI_BYTE, from, prefix.dataTag, comm, &request)))
      incoming.requests.push_back(request);
  });
}

/// Receives the next piece of data for which there is no memory.
void MpiTransport::dropNext(Incoming &incoming) {
  incoming.requests.clear();
  auto bytes = static_cast<int>(std::min(incoming.left, kPieceBytes));
  incoming.left -= bytes;
  MPI_Request request;
  if (check(MPI_Irecv(incoming.dropped.data(), bytes, MPI_BYTE, incoming.from, incoming.tag, comm,
                      &request)))
    incoming.requests.push_back(request);
}

bool MpiTransport::receiveHeaders() {
  bool any = false;
  for (;;) {
    int isDone = 0;
    MPI_Status status;
    if (!check(MPI_Test(&posted[oldest], &isDone, &status)) || !isDone)
      return any;
    take(status.MPI_SOURCE, buffers[oldest].data());
    postReceive(oldest);
    oldest = (oldest + 1) % kPosted;
    any = true;
  }
}

/// Delivers what has come whole, up to the first message of each task that has not.
bool MpiTransport::deliver() {
  bool any = false;
  for (size_t task = 0; task < arriving.size(); ++task)
    while (!arriving[task].empty() && areComplete(arriving[task].front().requests)) {
      Incoming &incoming = arriving[task].front();
      if (incoming.left > 0 && !isBroken) {
        dropNext(incoming);
        continue;
      }
      receiver->arrived(receiver->context, static_cast<int32_t>(task), incoming.header.data(),
                        static_cast<int32_t>(incoming.header.size()), incoming.data,
                        incoming.bytes);
      incoming.requests.clear();
      incoming.dropped = {};
      spareIncoming.splice(spareIncoming.begin(), arriving[task], arriving[task].begin());
      any = true;
    }
  return any;
}

bool MpiTransport::progress() {
  bool any = postOutgoing();
  if (!isBroken)
    any |= receiveHeaders();
  if (!isBroken && deliver()) {
    any = true;
    postOutgoing(); // answers
  }
  any |= finishOutgoing(/*mayTell=*/true);
  reportBreakDown();
  return any;
}
