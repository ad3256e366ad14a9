"""header_names.py FOLDER: writes headers whose parameters, functions and types have the names of everything in C.

The names are keywords, and macros and functions of the C library's headers on this machine. Each header is compiled
after all of these, as C and C++, without a warning.
"""

import os
import re
import subprocess
import sys

HEADERS = """
aio.h alloca.h arpa/inet.h argp.h argz.h assert.h byteswap.h complex.h cpio.h ctype.h dirent.h dlfcn.h elf.h
endian.h envz.h err.h errno.h error.h execinfo.h fcntl.h features.h fenv.h float.h fmtmsg.h fnmatch.h fstab.h fts.h
ftw.h getopt.h glob.h gnu/libc-version.h grp.h iconv.h ifaddrs.h inttypes.h iso646.h langinfo.h libgen.h libintl.h
limits.h link.h locale.h malloc.h math.h mntent.h monetary.h mqueue.h net/if.h netdb.h netinet/in.h netinet/tcp.h
nl_types.h obstack.h poll.h printf.h pthread.h pty.h pwd.h regex.h resolv.h sched.h search.h semaphore.h setjmp.h
shadow.h signal.h spawn.h stdalign.h stdarg.h stdbool.h stddef.h stdint.h stdio.h stdlib.h stdnoreturn.h string.h
strings.h sys/auxv.h sys/epoll.h sys/eventfd.h sys/file.h sys/inotify.h sys/ioctl.h sys/ipc.h sys/mman.h sys/mount.h
sys/msg.h sys/param.h sys/personality.h sys/prctl.h sys/ptrace.h sys/quota.h sys/random.h sys/reboot.h
sys/resource.h sys/select.h sys/sem.h sys/sendfile.h sys/shm.h sys/signalfd.h sys/socket.h sys/stat.h sys/statfs.h
sys/statvfs.h sys/swap.h sys/syscall.h sys/sysinfo.h sys/sysmacros.h sys/time.h sys/timeb.h sys/timerfd.h
sys/times.h sys/timex.h sys/types.h sys/ucontext.h sys/uio.h sys/un.h sys/user.h sys/utsname.h sys/vfs.h sys/wait.h
sys/xattr.h syslog.h tar.h termios.h tgmath.h threads.h time.h uchar.h ucontext.h ulimit.h unistd.h utime.h utmp.h
utmpx.h values.h wait.h wchar.h wctype.h wordexp.h
""".split()

KEYWORDS = """
main alignas alignof and and_eq asm atomic_cancel atomic_commit atomic_noexcept auto bitand bitor bool break case
catch char char8_t char16_t char32_t class compl concept const consteval constexpr constinit const_cast continue
co_await co_return co_yield decltype default delete do double dynamic_cast else enum explicit export extern false
final float for friend goto if import inline int int64_t long module mutable namespace new noexcept not not_eq
nullptr operator or or_eq override private protected public register reinterpret_cast requires restrict return
short signed sizeof static static_assert static_cast struct switch template this thread_local throw true try
typedef typeid typename typeof typeof_unqual union unix linux unsigned using virtual void volatile wchar_t while
xor xor_eq _Bool __x _X x_ tfc_status TFC_OK TFC_ABI_VERSION class_ class__ errno_ EOF_ options out model
""".split()

MODES = [("cc", "-xc", "-std=c11"), ("cc", "-xc", "-std=gnu11"), ("cc", "-xc", "-std=gnu2x"),
         ("c++", "-xc++", "-std=c++20"), ("c++", "-xc++", "-std=gnu++20"), ("c++", "-xc++", "-std=gnu++2b")]
# Prefixes whose types, or whose functions for instances, are taken.
PREFIXES = ["main", "errno", "EOF", "I", "int", "class", "printf", "time", "select", "index", "signal", "pthread",
            "timer", "mtx", "fts", "stdin", "FILE", "size_t", "unix", "true", "tfcx", "Tfcx", "__x", "_X", "x-y", "3d", "stat"]

INCLUDES = "#define _GNU_SOURCE 1\n" + "".join(
    f"#if __has_include(<{name}>)\n#include <{name}>\n#endif\n" for name in HEADERS)


def run(*command, text=None):
    result = subprocess.run(command, input=text, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{' '.join(command)}\n{result.stderr[:4000]}")
    return result.stdout


def library_names():
    """The macros, and names that look like declared functions."""
    macros = set()
    for compiler, *mode in MODES:
        macros |= set(re.findall(r"^#define (\w+)", run(compiler, *mode, "-dM", "-E", "-", text=INCLUDES), re.M))
    declarations = run("cc", "-xc", "-std=gnu11", "-E", "-P", "-", text=INCLUDES)
    return macros, set(re.findall(r"\b([A-Za-z]\w*) *\(", declarations))


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def chunks(names, size):
    return [names[i : i + size] for i in range(0, len(names), size)]


def parameter_graph(names):
    """Every name as a feed, a fetch and a size."""
    lines = ["graph model"]
    for i, part in enumerate(chunks(names, 12)):
        feeds = ", ".join(f"`{name}`: f32" for name in part)
        lines.append(f"entry feeds{i}({feeds}) -> (y: f32) {{ return 1.0 }}")
        lines.append(f"entry fetches{i}() -> ({feeds}) {{ return {', '.join(['1.0'] * len(part))} }}")
        sizes = ", ".join(f"x{k}: f32[`{name}`]" for k, name in enumerate(part))
        lines.append(f"entry sizes{i}({sizes}) -> (y: f32) {{ return 1.0 }}")
    return "\n".join(lines) + "\n"


def entry_graph(names, prefix):
    lines = [f"graph `{prefix}`"]
    lines += [f"entry `{name}`(x: f32) -> (y: f32) {{ return x }}" for name in names]
    return "\n".join(lines) + "\n"


def main():
    folder = sys.argv[1]
    os.makedirs(folder, exist_ok=True)
    macros, functions = library_names()
    parameters = sorted(macros | set(KEYWORDS))
    names = sorted(macros | functions)
    print(len(parameters), "parameters")
    graphs = {"model": parameter_graph(parameters)}
    # `pthread_self` is the function of an entry `self` of a model `pthread`.
    purposes = {"create", "destroy", "fork", "message", "save", "load", "get", "set", "library"}
    for prefix in PREFIXES:
        entries = [name[len(prefix) + 1 :] for name in names if name.startswith(prefix + "_")]
        entries = [name for name in entries if name][:30] + ["create", "main", "create_"]
        graphs[prefix] = entry_graph(sorted(set(entries)), prefix)
    source = INCLUDES
    for prefix, graph in graphs.items():
        write(f"{folder}/{prefix}.graph", graph)
        run("tfc", "compile", f"{folder}/{prefix}.graph", "-o", f"{folder}/model_{prefix}.h")
        source += f'#include "model_{prefix}.h"\n'
    write(f"{folder}/all.c", source)
    for compiler, *mode in MODES:
        run(compiler, *mode, "-Wall", "-Wextra", "-pedantic", "-Werror", "-fsyntax-only", f"{folder}/all.c")
    text = open(f"{folder}/model_model.h").read()
    for declaration in re.findall(r"^tfc_status model_\w+\(([^;]*)\);", text, re.M):
        parameters = [re.findall(r"\w+", parameter)[-1] for parameter in declaration.split(",")[1:]]
        if len(set(parameters)) != len(parameters):
            sys.exit(f"two parameters have one name: {declaration}")


if __name__ == "__main__":
    main()
