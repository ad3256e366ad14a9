"""size.py FILE LIMIT: fails unless the file has fewer bytes."""

import os
import sys

size = os.path.getsize(sys.argv[1])
print(f"{size} bytes")
sys.exit(size >= int(sys.argv[2]))
