// Protocol buffers of which the bytes of large tensors stay in the file.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <string>

namespace google::protobuf {
class MessageLite;
} // namespace google::protobuf

namespace tfc::importer {

/// A field that holds a message. Messages are known by numbers of the caller's choice; the
/// outermost one is 0.
struct MessageField {
  unsigned owner, number, held;
};

/// Where a file has tensors.
struct TensorFields {
  /// The fields by which tensors are reached.
  llvm::ArrayRef<MessageField> fields;
  /// The message of a tensor.
  unsigned tensor;
  /// Its field of bytes.
  unsigned bytes;
  /// Its fields for the offset and the number of bytes in the file. They are not in files.
  unsigned offset, size;
};

/// Parses a file, but replaces the bytes of large tensors with their offset and number, so that
/// parsing does not copy them. These may exceed the file if it is damaged. Returns false for what
/// is not such a message.
bool parseWithMappedTensors(llvm::StringRef file, const TensorFields &fields,
                            google::protobuf::MessageLite &message);

} // namespace tfc::importer
