"""slugs.py ROOT: checks that docs/errors.md explains each word of an error in the sources, and no
other."""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
SLUG = r"[a-z]+(?:-[a-z]+)*"
# fail(place, "slug", and error(place, "slug", in the frontend; "text [slug]" everywhere.
CALL = re.compile(rf'(?:fail|error|warning)\([^;"]*?"({SLUG})"\s*,')
SUFFIX = re.compile(rf' \[(?!slug\])({SLUG})\]"')
# Not all words occur in such a call: some are passed on.
WORD = re.compile(rf'"({SLUG})"|\[({SLUG})\]"')

sections = re.findall(r"^## (.*)$", (root / "docs/errors.md").read_text(), re.MULTILINE)
used, words = {}, set()
for folder in ("frontend", "dialects", "compiler", "tools"):
    for path in sorted((root / folder).rglob("*.cpp")):
        text = path.read_text()
        patterns = [CALL, SUFFIX] if folder == "frontend" else [SUFFIX]
        for pattern in patterns:
            used.update((slug, path.name) for slug in pattern.findall(text))
        words.update(a or b for a, b in WORD.findall(text))
problems = [f"no section '## {slug}', which {used[slug]} uses"
            for slug in sorted(used.keys() - set(sections))]
problems += [f"no error ends in [{slug}], which has a section"
             for slug in sorted(set(sections) - words)]
if sections != sorted(set(sections)):
    problems.append("the sections are not in alphabetical order")
for problem in problems:
    print("docs/errors.md: " + problem)
sys.exit(1 if problems else 0)
