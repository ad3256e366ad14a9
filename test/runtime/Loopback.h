//===- Loopback.h - A cluster whose processes are threads -----------------===//

#pragma once

#include "runtime/tfc.h"

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

/// Transports between instances of one process. Each delivers on a thread of its own, in order, and
/// the data are copied when they are delivered.
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

private:
  struct Item {
    enum Kind { Message, Sent, Lost } kind;
    int32_t from;
    std::vector<char> header;
    const void *data;
    int64_t bytes;
    void *token;
  };

  struct End {
    End(Loopback &owner, int32_t task, int32_t count) : owner(owner) {
      transport = {sizeof(tfc_transport), task, count, 0, this, attach, send, detach};
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
      auto first = static_cast<const char *>(header);
      end.owner.ends[task]->push({Item::Message, end.transport.task,
                                  std::vector<char>(first, first + headerBytes), data, bytes,
                                  token});
    }
    static void detach(void *self) {
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
                         [&] { return isStopping || !items.empty(); });
        if (isStopping && items.empty())
          return;
        std::deque<Item> taken;
        taken.swap(items);
        lock.unlock();
        for (Item &item : taken)
          handle(item);
        receiver->tick(receiver->context);
        lock.lock();
      }
    }

    void handle(Item &item) {
      if (item.kind == Item::Sent)
        return receiver->sent(receiver->context, item.token);
      if (item.kind == Item::Lost)
        return receiver->lost(receiver->context, item.from, "the cable is cut");
      void *data = item.bytes ? receiver->place(receiver->context, item.bytes) : nullptr;
      if (data)
        memcpy(data, item.data, item.bytes);
      receiver->arrived(receiver->context, item.from, item.header.data(),
                        static_cast<int32_t>(item.header.size()), data, item.bytes);
      if (item.bytes)
        owner.ends[item.from]->push({Item::Sent, 0, {}, nullptr, 0, item.token});
    }

    Loopback &owner;
    tfc_transport transport;
    const tfc_receiver *receiver = nullptr;
    std::thread thread;
    std::mutex mutex;
    std::condition_variable hasItem;
    std::deque<Item> items;
    bool isStopping = false;
  };

  std::vector<std::unique_ptr<End>> ends;
};
