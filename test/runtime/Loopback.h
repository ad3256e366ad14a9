//===- Loopback.h - A cluster whose processes are threads -----------------===//

#pragma once

#include "runtime/tfc.h"

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

/// Transports between instances of one process. Each delivers in order, on a thread of its own. The
/// data are copied when they are delivered. Those of tasks with odd numbers deliver on threads that
/// poll, too, and copy short data at once.
class Loopback {
public:
  explicit Loopback(int32_t count) {
    for (int32_t i = 0; i < count; ++i)
      ends.push_back(std::make_unique<End>(*this, i, count));
  }

  const tfc_transport *operator[](int32_t task) const { return &ends[task]->transport; }

  /// Lets a task lose the others.
  void lose(int32_t task, int32_t other) {
    ends[task]->push({Item::Lost, other, {}, nullptr, 0, nullptr});
  }

  /// Lets a task take no data, nor anything after these, until `hangs` is false again.
  void hang(int32_t task, bool hangs) {
    {
      std::lock_guard lock(ends[task]->mutex);
      ends[task]->hangs = hangs;
    }
    ends[task]->hasItem.notify_one();
  }

  /// Lets a task do nothing, as a process that is stopped, until `isStopped` is false again.
  void stop(int32_t task, bool isStopped) {
    std::lock_guard lock(ends[task]->mutex);
    ends[task]->isStopped = isStopped;
  }

private:
  struct Item {
    enum Kind { Message, Sent, Lost } kind;
    int32_t from;
    std::vector<char> header;
    const void *data;
    int64_t bytes;
    void *token;
    std::vector<char> copy = {}; // of the data, if there is one
  };

  struct End {
    End(Loopback &owner, int32_t task, int32_t count) : owner(owner) {
      transport = {sizeof(tfc_transport),
                   task,
                   count,
                   TFC_TRANSPORT_VERSION,
                   0,
                   this,
                   attach,
                   send,
                   detach,
                   nullptr,
                   0};
      if (task % 2) {
        transport.poll = poll;
        transport.copied_bytes = 64;
      }
    }

    static tfc_status attach(void *self, const tfc_receiver *receiver) {
      auto &end = *static_cast<End *>(self);
      end.receiver = receiver;
      end.thread = std::thread([&end] { end.run(); });
      return TFC_OK;
    }
    static void send(void *self, int32_t task, const void *header, int32_t headerBytes,
                     const void *data, int64_t bytes, void *token) {
      auto &end = *static_cast<End *>(self);
      auto first = static_cast<const char *>(header), values = static_cast<const char *>(data);
      Item item = {Item::Message, end.transport.task, {first, first + headerBytes}, data, bytes,
                   token};
      if (bytes > 0 && bytes <= end.transport.copied_bytes)
        item.copy.assign(values, values + bytes);
      end.owner.ends[task]->push(std::move(item));
    }
    static void poll(void *self, int32_t) {
      auto &end = *static_cast<End *>(self);
      if (!end.handling.try_lock())
        return;
      end.handleNext();
      end.handling.unlock();
    }
    static void detach(void *self, int64_t) {
      auto &end = *static_cast<End *>(self);
      {
        std::lock_guard lock(end.mutex);
        end.isStopping = true;
      }
      end.hasItem.notify_one();
      end.thread.join();
    }

    void push(Item item) {
      std::lock_guard lock(mutex);
      items.push_back(std::move(item));
      hasItem.notify_one();
    }

    void run() {
      std::unique_lock lock(mutex);
      for (;;) {
        hasItem.wait_for(lock, std::chrono::milliseconds(5),
                         [&] { return isStopping || (!items.empty() && !hangs); });
        if (isStopping && (items.empty() || hangs))
          return;
        lock.unlock();
        {
          std::lock_guard turn(handling);
          while (handleNext()) {
          }
          if (!isStopped)
            receiver->tick(receiver->context);
        }
        lock.lock();
      }
    }

    /// Under `handling`. Returns false if there is nothing.
    bool handleNext() {
      std::unique_lock lock(mutex);
      if (isStopped || items.empty() || (hangs && items.front().bytes > 0))
        return false;
      Item item = std::move(items.front());
      items.pop_front();
      lock.unlock();
      handle(item);
      return true;
    }

    void handle(Item &item) {
      if (item.kind == Item::Sent)
        return receiver->sent(receiver->context, item.token);
      if (item.kind == Item::Lost)
        return receiver->lost(receiver->context, item.from, "the cable is cut");
      auto headerBytes = static_cast<int32_t>(item.header.size());
      void *data = item.bytes ? receiver->place(receiver->context, item.header.data(), headerBytes,
                                                item.bytes)
                              : nullptr;
      if (data)
        memcpy(data, item.copy.empty() ? item.data : item.copy.data(), item.bytes);
      receiver->arrived(receiver->context, item.from, item.header.data(), headerBytes, data,
                        item.bytes);
      if (item.bytes && item.copy.empty())
        owner.ends[item.from]->push({Item::Sent, 0, {}, nullptr, 0, item.token});
    }

    Loopback &owner;
    tfc_transport transport;
    const tfc_receiver *receiver = nullptr;
    std::thread thread;
    std::mutex handling; // of who calls the receiver; before the mutex of items
    std::mutex mutex;
    std::condition_variable hasItem;
    std::deque<Item> items;
    bool isStopping = false, hangs = false;
    std::atomic<bool> isStopped = false;
  };

  std::vector<std::unique_ptr<End>> ends;
};
