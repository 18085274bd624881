"""Which sockets wait is read from the kernel's own tables."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import Any

import pytest

from evalkit.sandbox import Environment
from evalkit.sandbox.protocol import Listening
from evalkit.sandbox.sockets import TABLES, listening, tables

TCP = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1FBB 00000000:0000 0A 00000000:00000000 00:00000000 00000000 65533        0 101 1 0000000000000000 100 0
   1: 0100007F:1FBB 0100007F:D431 01 00000000:00000000 00:00000000 00000000 65533        0 102 1 0000000000000000 20 4
   2: 00000000:0050 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 103 1 0000000000000000 100 0
   3: 0100007F:D431 0100007F:1FBB 06 00000000:00000000 03:00001770 00000000     0        0 0 3 0000000000000000
"""
TCP6 = """\
   0: 00000000000000000000000001000000:0016 00000000000000000000000000000000:0000 0A 0:0 00:0 0     0        0 104 1 0
"""
UDP = """\
  114: 00000000:14E9 00000000:0000 07 00000000:00000000 00:00000000 00000000   105        0 105 2 0000000000000000 0
  115: 0100007F:A001 0100007F:0035 01 00000000:00000000 00:00000000 00000000   105        0 106 2 0000000000000000 0
"""
UNIX = """\
Num       RefCount Protocol Flags    Type St Inode Path
0000000000000000: 00000002 00000000 00010000 0001 01 201 /tmp/a socket
0000000000000000: 00000003 00000000 00000000 0001 03 202 /tmp/connected
0000000000000000: 00000002 00000000 00010000 0001 01 203 @hidden
0000000000000000: 00000002 00000000 00010000 0001 01 204
0000000000000000: 00000002 00000000 00000000 0002 01 205 /tmp/datagrams
0000000000000000: 00000002 00000000 00010000 0001 01 206 /tmp/two
lines
"""
ALL = {"tcp": TCP, "tcp6": TCP6, "udp": UDP, "unix": UNIX}


def test_what_waits_is_told_and_what_is_connected_is_not() -> None:
    assert listening(ALL, byteorder="little") == (
        Listening("tcp", "::1", 22),
        Listening("tcp", "0.0.0.0", 80),
        Listening("tcp", "127.0.0.1", 8123),
        Listening("udp", "0.0.0.0", 5353),
        Listening("unix", "/tmp/a socket", None),
        Listening("unix", "/tmp/two\nlines", None),
        Listening("unix", "@hidden", None),
    )


def test_of_a_shared_network_only_the_sandboxs_own_sockets_are_told() -> None:
    assert listening(ALL, only={103, 203}, byteorder="little") == (
        Listening("tcp", "0.0.0.0", 80),
        Listening("unix", "@hidden", None),
    )


def test_what_was_read_inside_says_so() -> None:
    assert [one.inside for one in listening({"tcp": TCP}, inside=True)] == [True, True]


@pytest.mark.parametrize("text", ["", "\n", "nonsense\n", "   0: 0100007F:1FBB\n", "\udcff\udcff: \n"])
def test_what_is_no_row_is_left_out(text: str) -> None:
    assert listening(dict.fromkeys(TABLES, text)) == ()


def test_a_network_without_all_tables_is_read(tmp_path: Path) -> None:
    (tmp_path / "tcp").write_text(TCP)
    assert tables(tmp_path) == {"tcp": TCP}
    with pytest.raises(OSError, match="gone"):
        tables(tmp_path / "gone")


@pytest.mark.anyio
@pytest.mark.local
async def test_with_the_machines_network_the_machines_own_sockets_are_not_told(open_local: Any) -> None:
    with socket.create_server(("127.0.0.1", 0)):
        sandbox = await open_local(Environment(network=True))
        assert await sandbox.listeners() == ()
        program = (
            "import socket, time; s = socket.create_server(('127.0.0.1', 0)); "
            "open('port', 'w').write(str(s.getsockname()[1])); time.sleep(600)"
        )
        done = await sandbox.exec(
            f'python3 -c "{program}" >/dev/null 2>&1 & while ! [ -s port ]; do sleep 0.05; done; cat port',
            timeout_s=60,
        )
        assert await sandbox.listeners() == (Listening("tcp", "127.0.0.1", int(done.stdout.text)),)
