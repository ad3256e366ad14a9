// Reads the elements of constants, and checks where they are.
#include "frontend/flatbuffer/Constants.h"

#include "frontend/AllowedFolders.h"

using namespace mlir;
using namespace llvm;

namespace tfc::flatbuffer {

Constants::Constants(FileContext &file, Tables &tables)
    : file(file), tables(tables), folders(file.getFile().options.allowedPaths) {
  allowFolderOf(file.getFile().path, folders);
}

LogicalResult Constants::findSection(uint64_t bytes) {
  StringRef content = file.getFile().buffer->getBuffer();
  if (bytes > content.size())
    return emitError(file.locate()) << "the file has " << content.size() << " bytes, but its data "
                                    << bytes << " [graph-file]";
  if (bytes && (content.size() - bytes) % kDataAlignment)
    return emitError(file.locate())
           << "expected data that begin at a multiple of " << kDataAlignment
           << " bytes, but they begin at " << content.size() - bytes << " [graph-file]";
  section = content.take_back(bytes);
  return success();
}

/// Reports a number of bytes that does not match the type.
static ElementsAttr failBytes(Location location, uint64_t bytes, Type type) {
  emitError(location) << "expected the elements of " << dfg::toText(type) << ", but got " << bytes
                      << (bytes == 1 ? " byte [graph-file]" : " bytes [graph-file]");
  return {};
}

ElementsAttr Constants::readInline(const tfg::Constant &constant, RankedTensorType type,
                                   Location location) {
  ArrayRef<uint8_t> data = file.numbers(constant.data());
  StringRef bytes(reinterpret_cast<const char *>(data.data()), data.size());
  if (ElementsAttr value = makeDenseTensor(type, bytes, constant.splat()))
    return value;
  return failBytes(location, bytes.size(), type);
}

ElementsAttr Constants::readSection(const tfg::Constant &constant, RankedTensorType type,
                                    Location location) {
  uint64_t offset = constant.offset(), bytes = constant.bytes();
  if (offset > section.size() || bytes > section.size() - offset) {
    emitError(location) << "the data at " << offset << " have " << bytes
                        << " bytes, but the section ends at " << section.size() << " [graph-file]";
    return {};
  }
  if (offset % kDataAlignment) {
    emitError(location) << "expected data at a multiple of " << kDataAlignment
                        << " bytes, but they are at " << offset << " [graph-file]";
    return {};
  }
  StringRef name = file.text(constant.name());
  if (ElementsAttr value = mapTensor(type, section.substr(offset, bytes), file.getFile().buffer,
                                     name.empty() ? "constant" : name))
    return value;
  return failBytes(location, bytes, type);
}

ElementsAttr Constants::readFile(const tfg::Constant &constant, RankedTensorType type,
                                 Location location) {
  StringRef path = file.text(constant.file());
  std::optional<std::string> full = findAllowedFile(path, file.getFile().path, folders);
  if (!full) {
    InFlightDiagnostic error = emitError(location);
    error << "'" << path << "' is outside of the folder of the graph [outside-folder]";
    error.attachNote() << "help: --allow-path DIR lets graphs read the files below another folder";
    return {};
  }
  std::string reason;
  file.getFile().addInput(*full);
  ElementsAttr value = files.load(file.getContext(), *full, file.text(constant.key()), reason);
  if (!value)
    emitError(location) << "cannot load '" << path << "': " << reason << " [unknown-file]";
  else if (value.getShapedType() != type)
    emitError(location) << "expected " << dfg::toText(type) << ", but '" << path << "' has "
                        << dfg::toText(value.getShapedType()) << " [type-mismatch]";
  else
    return value;
  return {};
}

ElementsAttr Constants::read(const tfg::Constant &constant, Location location) {
  RankedTensorType type = tables.tensor(constant.type(), location);
  if (!type)
    return {};
  if (!type.hasStaticShape()) {
    emitError(location) << "expected a constant of static sizes, but got " << dfg::toText(type)
                        << " [graph-file]";
    return {};
  }
  if (constant.data())
    return readInline(constant, type, location);
  return constant.file() ? readFile(constant, type, location)
                         : readSection(constant, type, location);
}

} // namespace tfc::flatbuffer
