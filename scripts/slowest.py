"""The ten files that took longest to compile in the last build, from Ninja's log."""

import sys

rows = {}
for line in open(sys.argv[1]):
    parts = line.rstrip("\n").split("\t")
    if len(parts) == 5 and parts[3].endswith(".o"):
        rows[parts[3]] = (int(parts[1]) - int(parts[0])) / 1000
print("slowest files:")
for name, seconds in sorted(rows.items(), key=lambda row: -row[1])[:10]:
    print(f"  {seconds:6.1f} s  {name}")
