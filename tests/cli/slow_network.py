"""A network of hosts on one machine, with delay, loss and links that can be cut.

Each host is a network namespace with one TUN device. A thread of this process carries the packets between
the devices, later by the delay, and drops those that chance or a cut link takes. So the network is as slow
where the kernel has no `tc netem`. Needs to be root, or have CAP_NET_ADMIN and CAP_SYS_ADMIN.

    with Network(hosts=3, delay=0.005, loss=0.01) as network:
        subprocess.run([*network.on(0), "mpirun", *network.mpirun_options(), ...])
        network.cut(2)
"""

import ctypes
import fcntl
import heapq
import os
import pathlib
import random
import select
import shutil
import socket
import struct
import subprocess
import tempfile
import threading
import time

CLONE_NEWNET = 0x40000000
TUNSETIFF = 0x400454ca
IFF_TUN_NO_PI = 0x1001
DEVICE = "rr0"
SUBNET = "10.213.77"
RETRIES = 5  # of what was sent and not acknowledged: some 13 s, where the kernel's would be 15 minutes
KERNEL_RETRIES = 15


def call(*line):
    subprocess.run(line, check=True, capture_output=True)


def why_not():
    """The reason for which this process cannot make such a network, or nothing."""
    if shutil.which("ip") is None or shutil.which("unshare") is None:
        return "needs ip of iproute2 and unshare of util-linux"
    if not pathlib.Path("/dev/net/tun").exists():
        return "needs /dev/net/tun"
    try:
        with Network(hosts=1):
            return ""
    except (OSError, subprocess.CalledProcessError) as error:
        said = getattr(error, "stderr", None) or str(error).encode()
        return f"needs network namespaces: {said.decode().strip()}"


class Network:
    def __init__(self, hosts, delay=0.0, loss=0.0, seed=1, retries=RETRIES):
        self.delay, self.loss, self.draw, self.retries = delay, loss, random.Random(seed), retries
        self.names = [f"rulerank-{os.getpid()}-{host}" for host in range(hosts)]
        self.devices, self.cuts = [], set()
        self.carried = self.dropped = self.bytes = 0
        self.stop, self.wake = os.pipe()
        self.folder = tempfile.TemporaryDirectory(prefix="rulerank-network-")
        self.thread = None

    def __enter__(self):
        try:
            for host, name in enumerate(self.names):
                call("ip", "netns", "add", name)
                self.devices.append(self._open_device(name))
                call("ip", "-n", name, "address", "add", f"{self.address(host)}/24", "dev", DEVICE)
                call("ip", "-n", name, "link", "set", DEVICE, "up")
                call("ip", "-n", name, "link", "set", "lo", "up")
                call("ip", "netns", "exec", name, "sh", "-c", f"echo {self.retries} > /proc/sys/net/ipv4/tcp_retries2")
        except BaseException:
            self._remove()
            raise
        self.thread = threading.Thread(target=self._carry, daemon=True)
        self.thread.start()
        return self

    def __exit__(self, *_):
        os.write(self.wake, b"x")
        self.thread.join()
        self._remove()

    def address(self, host):
        return f"{SUBNET}.{host + 1}"

    def on(self, host):
        """The arguments before a command line that run it on this host, under the host's own name."""
        return ["ip", "netns", "exec", self.names[host], "unshare", "--uts", "sh", "-c",
                f'hostname host{host} && exec "$0" "$@"']

    def mpirun_options(self):
        """For mpirun on host 0: a rank on each host, and TCP over the network between them."""
        agent = pathlib.Path(self.folder.name, "agent")
        cases = "\n".join(f"  {self.address(host)}) exec {' '.join(self.on(host)[:-1])} "
                          f"'hostname host{host} && eval \"$0\"' \"$*\" ;;" for host in range(len(self.names)))
        agent.write_text(f'#!/bin/sh\nhost=$1\nshift\ncase $host in\n{cases}\nesac\n')
        agent.chmod(0o755)
        network = f"{SUBNET}.0/24"
        return ["--host", ",".join(self.address(host) for host in range(len(self.names))),
                "--mca", "plm_rsh_agent", str(agent), "--mca", "btl", "self,tcp",
                "--mca", "btl_tcp_if_include", network, "--mca", "oob_tcp_if_include", network]

    def cut(self, host):
        """No packet to or from the host any more."""
        self.cuts.add(self.address(host))

    def _open_device(self, name):
        """The device, which stays in its namespace, though this process is in another."""
        opened, failed = [], []

        def enter_and_open():
            try:
                libc = ctypes.CDLL(None, use_errno=True)
                with open(f"/run/netns/{name}", "rb") as namespace:
                    if libc.setns(namespace.fileno(), CLONE_NEWNET) != 0:
                        raise OSError(ctypes.get_errno(), "setns: " + os.strerror(ctypes.get_errno()))
                device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
                opened.append(device)
                fcntl.ioctl(device, TUNSETIFF, struct.pack("16sH", DEVICE.encode(), IFF_TUN_NO_PI))
            except OSError as error:
                failed.append(error)

        thread = threading.Thread(target=enter_and_open)  # the namespace of a thread is its own
        thread.start()
        thread.join()
        if failed:
            raise failed[0]
        return opened[0]

    def _carry(self):
        device_of = {self.address(host): device for host, device in enumerate(self.devices)}
        under_way, number = [], 0
        while True:
            wait = max(0.0, under_way[0][0] - time.monotonic()) if under_way else None
            ready = select.select([self.stop, *self.devices], [], [], wait)[0]
            if self.stop in ready:
                return
            for device in ready:
                packet = os.read(device, 65536)
                if packet[0] >> 4 != 4:  # only IPv4
                    continue
                ends = {socket.inet_ntoa(packet[at:at + 4]) for at in (12, 16)}
                if ends & self.cuts or self.draw.random() < self.loss:
                    self.dropped += 1
                    continue
                number += 1
                due = time.monotonic() + self.delay
                heapq.heappush(under_way, (due, number, socket.inet_ntoa(packet[16:20]), packet))
            while under_way and under_way[0][0] <= time.monotonic():
                _, _, to, packet = heapq.heappop(under_way)
                if to in device_of:
                    os.write(device_of[to], packet)
                    self.carried += 1
                    self.bytes += len(packet)

    def _remove(self):
        for device in self.devices:
            os.close(device)
        for name in self.names:
            subprocess.run(["ip", "netns", "delete", name], check=False, capture_output=True)
        self.folder.cleanup()
        os.close(self.stop)
        os.close(self.wake)
