"""What must be in the distributions is in them: python .ci/package_content.py FOLDER."""

import pathlib
import subprocess
import sys
import tarfile
import zipfile

folder = pathlib.Path(sys.argv[1])
(wheel,) = folder.glob("*.whl")
(source,) = folder.glob("*.tar.gz")

listed = subprocess.run(["git", "ls-files"], check=True, capture_output=True, encoding="utf-8")
tracked = {name for name in listed.stdout.splitlines() if name != ".gitignore"}
with tarfile.open(source) as archive:
    in_source = {name.partition("/")[2] for name in archive.getnames()}
with zipfile.ZipFile(wheel) as archive:
    in_wheel = set(archive.namelist())

package = {name for name in tracked if name.startswith("mistral_knowledge/")}
code = {name for name in in_wheel if ".dist-info/" not in name}
problems = {
    "not in the source distribution": tracked - in_source,
    "not in the wheel": package - in_wheel,
    "in the wheel, but not in the repository": code - package,
}
for problem, names in problems.items():
    for name in sorted(names):
        print(f"{problem}: {name}", file=sys.stderr)
sys.exit(any(problems.values()))
