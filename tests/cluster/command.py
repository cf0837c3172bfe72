"""The `instar` command as a person runs it: a process, its exit code and both outputs."""

import asyncio
import dataclasses
import os
import sys


@dataclasses.dataclass(frozen=True)
class Ended:
    code: int
    out: str
    err: str

    @property
    def error(self) -> str:
        """The one line that a failed command says; a failure of the test if there is more or less."""
        lines = self.err.splitlines()
        assert len(lines) == 1, self.err
        assert lines[0].startswith("error: ")
        return lines[0].removeprefix("error: ")


async def instar(*words: object, environment: dict[str, str] | None = None) -> Ended:
    """Run it to its end, with no kubeconfig but the one in `words` or `environment`."""
    inherited = {name: value for name, value in os.environ.items() if name != "KUBECONFIG"}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "instar.cli.main"),
        *(str(word) for word in words),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
        env=inherited | (environment or {}),
    )
    async with asyncio.timeout(60):
        out, err = await process.communicate()
    return Ended(process.returncode or 0, out.decode(), err.decode())
