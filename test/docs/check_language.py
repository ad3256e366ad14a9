"""check_language.py PAGE [--parser=TOOL] FILE...: checks the grammar and the examples of the language's page.

The ```ebnf block must be LL(1) without a conflict, so that the hand-written parser can follow it. Every
```graph block of the page, and every FILE, must parse with it, and with the parser if one is given.
"""

import os
import re
import subprocess
import sys
import tempfile

DTYPES = "f32 f64 f16 bf16 i8 i16 i32 i64 u8 u16 u32 u64 bool string".split()
EMPTY = "<empty>"
TOKEN = re.compile(
    r"""(?P<blank>[ \t\r]+|\#[^\n]*)|(?P<newline>\n)
    |(?P<number>0[xX][0-9a-fA-F_]+|\d[\d_]*(\.\d[\d_]*)?([eE][-+]?[\d_]+)?)
    |(?P<name>[A-Za-z_]\w*|`[^`\n]+`)|(?P<string>"(\\.|[^"\\\n])*")
    |(?P<sign>\.\.|->|==|!=|<=|>=|\*\*|//|[-+*/%<>=:,.;@(){}\[\]])""",
    re.X | re.A,
)


class Grammar:
    """The rules as plain alternatives; optional and repeated parts become rules of their own."""

    def __init__(self, text):
        self.tokens = re.findall(r'"[^"]+"|[A-Za-z_]+|[=|;\[\]{}()]', text)
        self.at, self.rules, self.problems = 0, {}, []
        self.start = self.tokens[0]
        while self.at < len(self.tokens):
            name = self.next()
            assert self.next() == "=", f"expected '=' after {name}"
            self.rules[name] = self.alternatives(name)
            assert self.next() == ";", f"expected ';' at the end of {name}"
        self.keywords = {t[1:-1] for t in self.tokens if re.match(r'"[a-z]', t)}
        for name, alternatives in self.rules.items():
            for symbol in [s for a in alternatives for s in a]:
                if symbol not in self.rules and symbol[0] != '"' and not symbol.isupper():
                    self.problems.append(f"{symbol} in {name} is not defined")
        self.make_table()

    def next(self):
        self.at += 1
        return self.tokens[self.at - 1]

    def alternatives(self, name):
        found = [self.sequence(name)]
        while self.tokens[self.at] == "|":
            self.at += 1
            found.append(self.sequence(name))
        return found

    def sequence(self, name):
        symbols = []
        while self.tokens[self.at] not in ("|", ";", ")", "]", "}"):
            token = self.next()
            if token not in ("(", "[", "{"):
                symbols.append(token)
                continue
            inner = f"{name}'{len(self.rules)}"
            self.rules[inner] = None  # reserves the name
            parts = self.alternatives(name)
            self.next()
            if token == "{":
                parts = [p + [inner] for p in parts]
            self.rules[inner] = parts + ([] if token == "(" else [[]])
            symbols.append(inner)
        return symbols

    def first_of(self, symbols):
        result = set()
        for symbol in symbols:
            first = self.first.get(symbol, {symbol})
            result |= first - {EMPTY}
            if EMPTY not in first:
                return result
        return result | {EMPTY}

    def make_table(self):
        self.first = {name: set() for name in self.rules}
        follow = {name: set() for name in self.rules}
        follow[self.start].add("END")
        grew = True
        while grew:
            before = [len(s) for s in [*self.first.values(), *follow.values()]]
            for name, alternatives in self.rules.items():
                for alternative in alternatives:
                    self.first[name] |= self.first_of(alternative)
                    for i, symbol in enumerate(alternative):
                        if symbol in self.rules:
                            rest = self.first_of(alternative[i + 1 :])
                            follow[symbol] |= rest - {EMPTY}
                            follow[symbol] |= follow[name] if EMPTY in rest else set()
            grew = before != [len(s) for s in [*self.first.values(), *follow.values()]]
        self.table = {}
        for name, alternatives in self.rules.items():
            for alternative in alternatives:
                first = self.first_of(alternative)
                ahead = (first - {EMPTY}) | (follow[name] if EMPTY in first else set())
                for token in ahead:
                    if (name, token) in self.table:
                        self.problems.append(f"{name} has two alternatives that start with {token}")
                    self.table[name, token] = alternative

    def lex(self, text):
        """The tokens with their lines; line breaks as the page's section on them says."""
        raw, line, at = [], 1, 0
        while at < len(text):
            match = TOKEN.match(text, at)
            if not match:
                raise SyntaxError(f"line {line}: no token: {text[at:at + 20]!r}")
            at = match.end()
            kind = match.lastgroup
            if match.group("newline"):
                raw.append(("NEWLINE", "\n", line))
                line += 1
            elif not match.group("blank"):
                raw.append((self.classify(match), match.group(0), line))
        raw.append(("NEWLINE", "\n", line))
        return self.end_statements(raw) + [("END", "", line)]

    def classify(self, match):
        text = match.group(0)
        if match.group("name"):
            return f'"{text}"' if text in self.keywords else "DTYPE" if text in DTYPES else "NAME"
        if match.group("number"):
            return "FLOAT" if re.search(r"[.eE]", text) and text[:2].lower() != "0x" else "INT"
        return "STRING" if match.group("string") else f'"{text}"'

    @staticmethod
    def end_statements(raw):
        ending = ["NAME", "DTYPE", "INT", "FLOAT", "STRING"]
        ending += [f'"{t}"' for t in ") ] } .. return yield true false inf nan list dim".split()]
        result, brackets = [], []
        for i, (kind, text, line) in enumerate(raw):
            ends = result and result[-1][0] in ending
            if kind == "NEWLINE":
                ahead = next((t for t in raw[i + 1 :] if t[0] != "NEWLINE"), ("END", "", line))
                continues = ahead[1] in ("->", "where", "with", "else")
                if ends and not continues and not (brackets and brackets[-1] in "(["):
                    result.append((kind, text, line))
                continue
            if text == "}" and ends:
                result.append(("NEWLINE", "\n", line))
            if kind[0] == '"' and text in "([{":
                brackets.append(text)
            if kind[0] == '"' and text in ")]}" and brackets:
                brackets.pop()
            result.append((kind, text, line))
        return result

    def error(self, text):
        """Returns the reason why the text does not parse, or None."""
        try:
            tokens = self.lex(text)
        except SyntaxError as problem:
            return str(problem)
        stack, at = ["END", self.start], 0
        while stack:
            symbol = stack.pop()
            kind, spelled, line = tokens[at]
            if symbol in self.rules:
                if (symbol, kind) not in self.table:
                    return f"line {line}: {kind} {spelled!r} cannot stand here ({symbol})"
                stack.extend(reversed(self.table[symbol, kind]))
            elif symbol == kind:
                at += 1
            else:
                return f"line {line}: expected {symbol}, but got {kind} {spelled!r}"
        return None


def main():
    page = open(sys.argv[1]).read()
    parser = next((a.split("=", 1)[1] for a in sys.argv[2:] if a.startswith("--parser=")), None)
    files = [a for a in sys.argv[2:] if not a.startswith("--")]
    grammar = Grammar(re.search(r"```ebnf\n(.*?)```", page, re.S).group(1))
    wrong = list(grammar.problems)
    blocks = [(f"block {i + 1}", b) for i, b in enumerate(re.findall(r"```graph\n(.*?)```", page, re.S))]
    for name, text in blocks + [(f, open(f).read()) for f in files]:
        problem = grammar.error(text)
        if problem:
            wrong.append(f"{name}: {problem}")
        if parser:
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "block.graph")
                open(path, "w").write(text)
                for mode in [[], ["--verify-format"]]:
                    done = subprocess.run([parser, *mode, path], capture_output=True, text=True)
                    if done.returncode:
                        wrong.append(f"{name}: {done.stderr}")
    print("\n".join(wrong) or f"{len(blocks)} blocks and {len(files)} files parse")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
