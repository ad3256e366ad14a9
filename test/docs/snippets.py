"""snippets.py ROOT FOLDER: checks every fenced block of the pages, and the code in the text of some.

Each block says what it is. Graphs compile, or parse if they are only a part of a file; C compiles against the
header of the graph that the page quotes, or is in that header; commands have options that the programs know; C++
and TableGen are in the sources; JSON and Python parse. Blocks after `<!-- PATH -->` are in that file, which
quotes.py checks. In the text, graph source that docs/errors.md recommends parses, and names in pages about the code
are in the sources.
"""

import functools
import glob
import json
import os
import re
import shlex
import subprocess
import sys
import textwrap

PAGES = ["README.md", "CONTRIBUTING.md", "docs/*.md", "docs/examples/*/README.md", "test/*/README.md"]
FENCE = re.compile(r"^(?:<!-- (?P<quoted>\S+) -->\n)?(?P<indent> *)```(?P<tag>\w*)\n(?P<text>.*?)^(?P=indent)```$", re.M | re.S)
# Output, and what other tests check: the grammar, and the diagrams of what includes what.
OTHERS = ["text", "mermaid", "ebnf", "elaborate", "importer", "onnx", "tensorflow", "flatbuffer", "host"]
PROGRAMS = ["c++", "cat", "cc", "cp", "flatc", "python3", "cmake", "ninja", "lit-22", "env", "paste", "mpicc", "mpirun", "srun",
            "aarch64-linux-gnu-gcc", "qemu-aarch64"]
# Pages whose text names functions, classes and definitions of the sources.
CODE_PAGES = ("architecture.md", "adding-an-op.md", "adding-a-reader.md", "adding-a-target.md")
# The variables that C fragments use without declaring them.
C_CONTEXT = "float *x, int32_t *label, float loss, int32_t *class_"


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


class Checker:
    def __init__(self, root, folder):
        self.root, self.folder = root, folder
        self.wrong = self.count = 0
        self.page = self.line = self.header = None

    def complain(self, problem):
        self.wrong += 1
        print(f"{self.page}:{self.line}: error: {problem}")

    def file(self, suffix, text):
        path = os.path.join(self.folder, f"{self.count}{suffix}")
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def check_page(self, page):
        self.page, self.header = os.path.relpath(page, self.root), None
        with open(page, encoding="utf-8") as file:
            text = file.read()
        for match in FENCE.finditer(text):
            self.count += 1
            self.line = text.count("\n", 0, match.start("text"))
            self.check_block(match["tag"], match["quoted"], textwrap.dedent(match["text"]))
        return text

    def check_block(self, tag, quoted, text):
        if quoted and tag == "graph":
            self.note_graph(os.path.join(self.root, os.path.dirname(self.page), quoted))
        if quoted or tag in OTHERS:
            return
        check = getattr(self, f"check_{tag}", None)
        if not check:
            self.complain(f"no test knows blocks of '{tag}'")
            return
        if problem := check(text):
            self.complain(problem)

    def note_graph(self, path):
        """Keeps the header of the first graph that a page quotes, which its C code uses."""
        if self.header or not re.search(r"^entry ", open(path, encoding="utf-8").read(), re.M):
            return
        self.header = os.path.join(self.folder, os.path.basename(path).replace(".graph", ".h"))
        run("tfc", "compile", path, "-o", self.header)

    def check_graph(self, text):
        path = self.file(".graph", text)
        if not re.search(r"^entry ", text, re.M):
            done = run("tfc-parse", path)
        else:
            done = run("tfc", "compile", path, "--emit=graph", "-o", "-")
        return done.stderr if done.returncode and "[not-yet]" not in done.stderr else None

    def check_c(self, text):
        header = open(self.header, encoding="utf-8").read()
        if text.strip() in header:
            return None
        source = f'#include "{os.path.basename(self.header)}"\nvoid snippet({C_CONTEXT}) {{\n{text}\n}}\n'
        done = run("cc", "-std=c11", "-fsyntax-only", "-Wall", f"-I{self.folder}", self.file(".c", source))
        return done.stderr if done.returncode else None

    def check_cpp(self, text):
        sources = "".join(read_sources(self.root))
        for part in text.strip("\n").split("\n\n"):
            if part not in sources:
                return f"no source has {part!r}"
        return None

    def check_json(self, text):
        for value in [text] if text.startswith("{\n") else text.splitlines():
            try:
                json.loads(value)
            except ValueError as problem:
                return str(problem)
        return None

    def check_python(self, text):
        try:
            compile(text, "block", "exec")
        except SyntaxError as problem:
            return str(problem)
        return None

    def check_sh(self, text):
        for command in text.replace("\\\n", " ").splitlines():
            for part in re.split(r"\s*&&\s*", command):
                words = shlex.split(part, comments=True)
                while words and re.match(r"[A-Z_]+=", words[0]):
                    words = words[1:]
                if words and (problem := self.check_command(words)):
                    return problem
        return None

    def check_command(self, words):
        program, arguments = words[0], words[1:]
        if program in PROGRAMS:
            return None
        if program == "tfc":
            if not arguments:
                return None
            known = options_of("tfc", arguments[0])
        elif program.startswith("build"):
            known = options_of(os.path.basename(program))
        elif program.startswith("./") and not os.path.exists(os.path.join(self.root, program)):
            return None  # a program that the commands before it have built
        else:
            path = os.path.join(self.root, program)
            if not os.path.exists(path):
                return f"there is no {program}"
            known = open(path, encoding="utf-8").read()
        for argument in arguments:
            option = re.match(r"--?[a-zA-Z][\w-]*", argument)
            if option and not re.search(rf"(?<![\w-]){option[0]}\b", known) and not is_level(option[0]):
                return f"'{program}' has no option {option[0]}"
        return None

    def inline_code(self, text):
        """Yields the code in a page's text, and sets the line of each."""
        for match in re.finditer(r"(?<!`)`([^`]+)`(?!`)", text):
            self.line = text.count("\n", 0, match.start()) + 1
            yield " ".join(match[1].split())

    def check_names(self, text):
        """Names in a page about the code are in the sources; FAMILY and NAME stand for any name."""
        text = FENCE.sub(lambda block: "\n" * block[0].count("\n"), text)
        for code in self.inline_code(text):
            if not re.fullmatch(r"\w+(::\w+)*", code):
                continue
            for name in re.findall(r"\w*(?:[a-z][A-Z]|_)\w*", code):
                pattern = re.compile(re.sub("FAMILY|NAME", r"\\w+", name))
                if name not in read_words(self.root) and not any(map(pattern.fullmatch, read_words(self.root))):
                    self.complain(f"no source has the name '{name}'")

    def check_errors(self, text):
        """Checks that the graph source in the text of the page on errors parses."""
        for code in self.inline_code(text):
            if is_word(code):
                continue
            self.count += 1
            if not any(self.parses(form.replace("@", code)) for form in FORMS):
                self.complain(f"'{code}' is no graph source")

    def parses(self, text):
        return run("tfc-parse", self.file("-inline.graph", text)).returncode == 0


# The positions in a file that code of the text may have.
FORMS = [
    "@\n",
    "let x = @\n",
    "entry f() -> (y: f32) {\n  @\n  return 1.0\n}\n",
    "entry f() -> (y: f32) {\n  y = @\n  return y\n}\n",
    "entry f(x: @) -> (y: f32) {\n  return 1.0\n}\n",
    "entry f(@) -> (y: f32) {\n  return 1.0\n}\n",
    "entry f(x: f32[@]) -> (y: f32) {\n  return 1.0\n}\n",
    "entry f() -> (y: f32) {\n  for i in @ {\n  }\n  return 1.0\n}\n",
    "entry f() -> (y: f32) {\n  y = for i in 0..8 @ {\n    yield y\n  }\n  return y\n}\n",
    "entry f() -> (y: f32) {\n  @ {\n  }\n  return 1.0\n}\n",
    "entry f() -> (y: f32) {\n  return g(@)\n}\n",
    "@ var x: f32 = 0\n",
    "@ {\n}\n",
]


def is_word(code):
    """Words, signs, the beginnings of declarations, names of files, options and messages."""
    return bool(
        re.fullmatch(r"[\w-]+|[^\w\s]+|static for|entry name\(|<\w+>|use \"|\.?[\w-]+\.?(md|mlir)", code)
        or re.match(r"--|tfc |TFC_", code)
    )


def is_level(option):
    return re.fullmatch(r"-O[0-3]", option)


@functools.cache
def options_of(program, command=None):
    done = run(program, *([command] if command else []), "--help")
    return done.stdout + done.stderr


@functools.cache
def read_sources(root):
    folders = ["compiler", "dialects", "frontend", "runtime", "test/frontend/importer"]
    files = [p for f in folders for s in ("h", "cpp", "td") for p in glob.glob(f"{root}/{f}/**/*.{s}", recursive=True)]
    return [open(path, encoding="utf-8").read() for path in files]


@functools.cache
def read_words(root):
    folders = ["compiler", "dialects", "frontend", "runtime", "tools", "test/frontend/importer", "test/random"]
    suffixes = ("h", "cpp", "td", "inc", "py", "graph", "txt")
    files = [p for f in folders for s in suffixes for p in glob.glob(f"{root}/{f}/**/*.{s}", recursive=True)]
    return {word for path in files for word in re.findall(r"\w+", open(path, encoding="utf-8").read())}


def main():
    root, folder = sys.argv[1:]
    checker = Checker(root, folder)
    for pattern in PAGES:
        for page in sorted(glob.glob(os.path.join(root, pattern))):
            text = checker.check_page(page)
            if page.endswith("docs/errors.md"):
                checker.check_errors(text)
            if page.endswith(CODE_PAGES):
                checker.check_names(text)
    print(f"{checker.count} snippets, {checker.wrong} wrong")
    return 1 if checker.wrong else 0


sys.exit(main())
