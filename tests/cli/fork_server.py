"""Runs commands of a program that loads once and forks for each of them (fork_server.cpp), which saves a few milliseconds for each command.

Every command is a fresh process with the program's own main. The program loads anew from time to time, at other addresses.
"""

import array
import os
import pathlib
import select
import signal
import socket
import subprocess

FITS = 1 << 16  # bytes of a pipe's buffer
COMMANDS = 250  # of a program, before it loads again


class ForkServer:
    def __init__(self, program, library, hangs):
        self.program, self.library, self.hangs = program, library, hangs
        self.process, self.socket, self.left = None, None, 0

    def load(self):
        """Loads the program; whether it serves."""
        self.close()
        self.socket, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            variables = {**os.environ, "LD_PRELOAD": str(self.library), "RULERANK_FORK_SERVER": str(theirs.fileno()),
                         "OMP_WAIT_POLICY": "passive"}  # many programs share the machine's processors
            self.process = subprocess.Popen([self.program], pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL, start_new_session=True,
                                            stderr=subprocess.DEVNULL, env=variables)
        self.left = COMMANDS
        return len(self.socket.recv(4)) == 4

    def close(self):
        if self.process is not None:
            self.socket.close()
            self.process.wait()
            self.process = None

    def read(self, pipe):
        """The bytes of a pipe until all its writers have closed it."""
        parts = []
        while True:
            if not select.select([pipe], [], [], self.hangs)[0]:
                os.killpg(self.process.pid, signal.SIGKILL)
                raise subprocess.TimeoutExpired(self.program, self.hangs)
            part = os.read(pipe, FITS)
            if not part:
                return b"".join(parts)
            parts.append(part)

    def run(self, words, stream, folder):
        """Runs a command with these bytes of standard input in a folder, as subprocess.run does."""
        line = b"".join(os.fsencode(word) + b"\0" for word in words)
        if len(stream) > FITS or len(line) > FITS:
            return subprocess.run([self.program, *words], input=stream, capture_output=True, cwd=folder, check=False, timeout=self.hangs)
        if self.left == 0 and not self.load():
            raise RuntimeError(f"{self.program} does not load")
        self.left -= 1
        home, (input_end, feed), (out, output_end) = os.open(folder, os.O_RDONLY | os.O_DIRECTORY), os.pipe(), os.pipe()
        errors = os.memfd_create("errors")
        try:
            if stream:
                os.write(feed, stream)
            os.close(feed)
            self.socket.sendmsg([line], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, array.array("i", [home, input_end, output_end, errors]))])
            os.close(output_end)
            found = self.read(out)
            code = os.waitstatus_to_exitcode(int.from_bytes(self.socket.recv(4), "little"))
            return subprocess.CompletedProcess(words, code, found, os.pread(errors, os.fstat(errors).st_size, 0))
        finally:
            for descriptor in (home, input_end, out, errors):
                os.close(descriptor)


def serving(program, hangs):
    """A server of the program; None where there is no library for it, or the program does not load with it (sanitizers)."""
    library = pathlib.Path(program).resolve().parent / "fork_server.so"
    server = ForkServer(program, library, hangs)
    if library.exists() and server.load():
        return server
    server.close()
    return None
