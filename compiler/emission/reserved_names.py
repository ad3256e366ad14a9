#!/usr/bin/env python3
"""Writes the names that the headers of the C library define, for generated headers to avoid:

  reserved_names.py -o reserved-names.txt

A model's header may be included after any of them, as C or C++. The list is committed, because a header must
not depend on the machine that writes it. Run this by hand if the list lacks a name; names of other systems
may stay in it.
"""

import argparse
import concurrent.futures
import os
import re
import subprocess
import textwrap

INCLUDE = "/usr/include"
FOLDERS = [INCLUDE, f"{INCLUDE}/x86_64-linux-gnu"]
# Parts of the C library, and of the compiler where it completes the library.
PARTS = ["", "arpa", "net", "netinet", "netinet6", "nfs", "protocols", "rpc", "rpcsvc", "scsi", "sys"]
FREESTANDING = ["float.h", "iso646.h", "limits.h", "stdalign.h", "stdarg.h", "stdatomic.h", "stdbool.h",
                "stddef.h", "stdint.h", "stdnoreturn.h", "tgmath.h"]
MODES = [["-xc", "-std=gnu17"], ["-xc", "-std=gnu2x"], ["-xc++", "-std=gnu++20"]]


def headers():
    """The headers of the package that has stdio.h."""
    listing = subprocess.run(["dpkg", "-L", "libc6-dev"], stdout=subprocess.PIPE, check=True, text=True).stdout
    found = set(FREESTANDING)
    for path in listing.split():
        for folder in FOLDERS:
            name = os.path.relpath(path, folder)
            if path.endswith(".h") and not name.startswith("..") and os.path.dirname(name) in PARTS:
                found.add(name)
    return sorted(found)


def run(header, mode, *flags):
    source = f"#define _GNU_SOURCE 1\n#include <stdio.h>\n#include <{header}>\n"
    return subprocess.run(["clang-22", *mode, "-w", *flags, "-"], input=source, capture_output=True, text=True).stdout


DECLARATION = re.compile(
    r"(?:\| )?[|`]-(?:Function|Typedef|Var|Record|CXXRecord|Enum|EnumConstant)Decl .*> \S+:\d+(?::\d+)? "
    r"(?:implicit |used |referenced |constexpr )*(?:(struct|class|union|enum) )?([A-Za-z_]\w*)(?: |$)")


def names(job):
    header, mode = job
    macros, declared = {}, set()
    for line in run(header, mode, "-E", "-dM").splitlines():
        match = re.match(r"#define (\w+)(\(?)", line)
        macros[match[1]] = bool(match[2])
    for line in run(header, mode, "-fsyntax-only", "-fno-color-diagnostics", "-Xclang", "-ast-dump").splitlines():
        match = DECLARATION.match(line)
        # A model's type may have the tag of a struct: that is another name than a function's.
        if match and match[1] not in ("struct", "class") and match[2] != "definition":
            declared.add(match[2])
    return macros, declared


def is_reserved_form(name):
    """Returns true for the names that ReservedNames.cpp recognises without a list."""
    return re.match(r"__|_[A-Z]", name)


def wrap(names):
    return textwrap.fill(" ".join(sorted(names)), width=110, break_long_words=False, break_on_hyphens=False)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-o", dest="output", required=True)
    args = parser.parse_args()
    macros, declared = {}, set()
    jobs = [(header, mode) for header in headers() for mode in MODES]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for found, names_declared in pool.map(names, jobs):
            for name, takes_arguments in found.items():
                macros[name] = takes_arguments and macros.get(name, True)
            declared |= names_declared
    known = {name for name in declared | set(macros) if not is_reserved_form(name)}
    # Macros without parameters, which replace a parameter's name too; ReservedNames.cpp escapes all names in
    # capitals there.
    objects = {name for name in known if macros.get(name) is False and not re.match(r"[A-Z][A-Z0-9_]", name)}
    with open(args.output, "w") as out:
        out.write(f"{wrap(objects)}\n\n{wrap(known - objects)}\n")


if __name__ == "__main__":
    main()
