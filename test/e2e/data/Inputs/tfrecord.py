"""Writes TFRecord files of tf.Examples, by the definitions of TensorFlow's record_writer.h and feature.proto."""

import struct

_TABLE = []
for _byte in range(256):
    _crc = _byte
    for _ in range(8):
        _crc = _crc >> 1 ^ (0x82F63B78 if _crc & 1 else 0)
    _TABLE.append(_crc)


def masked_crc(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc = crc >> 8 ^ _TABLE[(crc ^ byte) & 0xFF]
    crc ^= 0xFFFFFFFF
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def record(data):
    length = struct.pack("<Q", len(data))
    return length + struct.pack("<I", masked_crc(length)) + data + struct.pack("<I", masked_crc(data))


def varint(value):
    value &= 2**64 - 1
    out = bytearray()
    while value >= 0x80:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    out.append(value)
    return bytes(out)


def field(number, data):
    return varint(number << 3 | 2) + varint(len(data)) + data


def floats(values, packed=True):
    data = struct.pack(f"<{len(values)}f", *values)
    if packed:
        return field(2, field(1, data))
    return field(2, b"".join(varint(1 << 3 | 5) + struct.pack("<f", v) for v in values))


def integers(values, packed=True):
    if packed:
        return field(3, field(1, b"".join(varint(v) for v in values)))
    return field(3, b"".join(varint(1 << 3) + varint(v) for v in values))


def strings(values):
    return field(1, b"".join(field(1, v) for v in values))


def example(features):
    entries = (field(1, field(1, name.encode()) + field(2, feature)) for name, feature in features.items())
    return field(1, b"".join(entries))
