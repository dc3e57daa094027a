"""Print pip constraints that pin each run-time dependency to its lower bound in setup.cfg."""

import configparser
import re

# requests allows both; the older family reads and fails in its own way.
ALSO = ["urllib3<2"]

config = configparser.ConfigParser()
config.read("setup.cfg", encoding="utf-8")
extras = config["options.extras_require"]
required = [*config["options"]["install_requires"].split("\n"), *extras["relay"].split("\n")]
print("\n".join(re.sub(r">=", "==", line.strip()) for line in required if line.strip()))
print("\n".join(ALSO))
