#!/usr/bin/env python3
"""./kata mcp, with a client of the reference library. Skipped (77) without it."""

from __future__ import annotations

import asyncio
import importlib
import json
import signal
import subprocess
import sys
import time
import unittest
from collections.abc import Awaitable, Callable
from typing import Any

import paths  # noqa: F401  it makes the modules below importable

import schema
import serve
from checkout import FIRST, Checkout

SKIPPED = 77
TOOLS = ["check", "explain", "hint", "lesson", "next", "solution", "test"]
BROKEN = "FAILED: chapters.grids.01_vector_add.cpu.so.p/a.cpp.o \\nc++ -c a.cpp\\n../{}:7:3: error: no x\\n"
Call = Callable[..., Awaitable[Any]]


class Serving(Checkout):
    def session(self, script: Callable[[Call, Any], Awaitable[None]], ninja: str = "exit 0") -> None:
        """Runs a script with a client; any output outside the protocol fails it."""
        from mcp.client.client import Client
        from mcp.client.stdio import StdioServerParameters, stdio_client

        async def heard(message: object) -> None:
            if isinstance(message, Exception):
                raise message

        async def run() -> None:
            program = [str(self.root / "common/front/kata.py"), "mcp"]
            server = StdioServerParameters(command=sys.executable, args=program, env=self.fake_build(ninja))
            async with Client(stdio_client(server, errlog=errors), message_handler=heard) as client:

                async def call(name: str, *names: str, wrong: bool = False, **more: object) -> Any:
                    found = await client.call_tool(name, {**dict(zip(("chapter", "step"), names)), **more})
                    self.assertEqual(found.is_error, wrong, found.content)
                    text = found.content[0].text
                    self.assertNotIn("// kata: begin", text if wrong else "")
                    return (
                        text
                        if wrong
                        else (found.structured_content.get("result") or found.structured_content)
                    )

                await script(call, client)

        with open(self.root / "errors", "w", encoding="utf-8") as errors:
            asyncio.run(asyncio.wait_for(run(), 100))

    def test_a_step_from_its_lesson_to_its_solution(self) -> None:
        step = ("grids", "1")

        async def script(call: Call, client: Any) -> None:
            listed = await client.list_tools()
            self.assertEqual(sorted(tool.name for tool in listed.tools), TOOLS)
            self.assertTrue((await call("next")).startswith(f"{FIRST}:"))
            self.assertIn("### 01 Vector add", await call("lesson", *step))
            self.assertNotIn("### 02", await call("lesson", *step))
            self.assertIn("### 02", await call("lesson", "grids"))
            self.assertIn("Hint 3 of 3", await call("hint", *step, level=3))
            self.assertIn("no level 0", await call("hint", *step, level=0, wrong=True))
            self.assertIn("still to be written", await call("explain", *step, wrong=True))
            self.assertIn("is not a chapter", await call("test", "fourier", "1", wrong=True))
            for verdict in ("SKIP", "FAIL", "SLOW", "OK"):
                if verdict != "SKIP":
                    (self.root / FIRST).write_text(f"// verdict: {verdict}\n")
                self.assertIn("says OK to the step", await call("solution", *step, wrong=True))
                said = await call("test", *step)
                self.assertEqual(schema.complaint(said), "")
                self.assertEqual(said["tests"][0]["verdict"], verdict)
                self.assertIn(f"{verdict:4}  {FIRST}\n", said["text"])
            solution = (self.root / FIRST.replace("chapters/", "solutions/")).read_text()
            self.assertEqual(await call("solution", *step), solution)
            (self.root / FIRST).write_text("// verdict: OK, but not tested\n")
            await call("solution", *step, wrong=True)

        self.session(script)

    def test_what_the_compiler_says_reaches_the_client(self) -> None:
        async def script(call: Call, _: Any) -> None:
            (self.root / FIRST).write_text("broken")
            said = await call("test", "grids", "1")
            self.assertIn(f"{FIRST}:7:3: error: no x", said["text"])
            self.assertEqual(
                (said["tests"][0]["verdict"], said["tests"][0]["why"]), ("FAIL", "does not compile")
            )
            self.assertIn("error: no x", await call("explain", "grids", "1", wrong=True))
            self.assertIn("there is no file", await call("check", file="nowhere.cu", wrong=True))

        self.session(script, f"printf '{BROKEN.format(FIRST)}'; exit 1")

    def test_a_signal_ends_what_a_call_has_started(self) -> None:
        server = subprocess.Popen(
            [sys.executable, self.root / "common/front/kata.py", "mcp"],
            env=self.fake_build("trap 'touch ended; exit 1' TERM; touch begun; sleep 100 & wait"),
            cwd=self.root,
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        (self.root / FIRST).write_text("// verdict: OK\n")
        client = {
            "protocolVersion": "2025-06-18",
            "capabilities": {},
            "clientInfo": {"name": "a", "version": "1"},
        }
        call = {"name": "test", "arguments": {"chapter": "grids", "step": "1"}}
        assert server.stdin and server.stdout
        for number, method, given in ((1, "initialize", client), (2, "tools/call", call)):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": given}
            server.stdin.write(f"{json.dumps(message)}\n")
            server.stdin.flush()
            if method == "initialize":
                self.assertIn("serverInfo", server.stdout.readline())
        while not (self.root / "begun").exists():
            self.assertIsNone(server.poll())
            time.sleep(0.1)
        server.terminate()
        said, _ = server.communicate(timeout=20)
        self.assertTrue((self.root / "ended").exists())
        self.assertEqual((server.returncode, said), (128 + signal.SIGTERM, ""))


if __name__ == "__main__":
    try:
        importlib.import_module("mcp.client.client")
    except ImportError:
        print(f"Skipped: the reference library is not installed (pip install {serve.NEEDS})")
        sys.exit(SKIPPED)
    unittest.main()
