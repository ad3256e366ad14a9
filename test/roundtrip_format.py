"""The tests that call tfc-opt, as a lit format. A module, since lit's workers must find the class."""

import re

import lit.formats


class UsesOpt(lit.formats.ShTest):
    def getTestsInDirectory(self, suite, path, *rest):
        for test in super().getTestsInDirectory(suite, path, *rest):
            with open(test.getSourcePath(), encoding="utf-8", errors="replace") as file:
                if re.search(r"RUN:.*\btfc-opt\b", file.read()):
                    yield test
