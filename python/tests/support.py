"""What the tests share."""

import importlib.util
import os
import signal
import subprocess
import sys
import unittest

# Tests that are started in the background inherit an ignored SIGINT, and Python leaves it so: no interrupt would ever be heard.
signal.signal(signal.SIGINT, signal.default_int_handler)

BALL = dict(
    coordinates=["y"],
    parameters={"m": 2.0, "g": 9.8},
    kinetic="m/2*y'^2",
    potential="m*g*y",
    walls={"floor": "y"},
    start={"y": 1.0},
    until=2.0,
)


def needs(*modules):
    """A test that takes more than NumPy; without these modules it says so."""
    missing = [m for m in modules if importlib.util.find_spec(m) is None]
    # Where more than NumPy is to be tested, what is missing is a mistake.
    if missing and os.environ.get("CAROM_TESTS") == "more":
        raise ImportError(f"CAROM_TESTS=more, and not installed: {', '.join(missing)}")

    def marked(test):
        test.needs_more = True
        return unittest.skipIf(missing, f"not installed: {', '.join(missing)}")(test)

    return marked


class Case(unittest.TestCase):
    """CAROM_TESTS=more leaves out what has been tested with nothing but NumPy."""

    def setUp(self):
        if os.environ.get("CAROM_TESTS") == "more" and not getattr(getattr(self, self._testMethodName), "needs_more", False):
            self.skipTest("tested with nothing but NumPy")


def kill(pid):
    """Kills a process; was there one?"""
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        return False
    return True


def command(*words, **more):
    return subprocess.run([sys.executable, "-m", "carom", *words], check=True, capture_output=True, text=True, **more)
