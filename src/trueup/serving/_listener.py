"""The socket that connections come from, and how it is closed without losing one."""

from __future__ import annotations

import ctypes
import socket
import struct
import sys

__all__ = ["BACKLOG", "listen", "refuse_new_connections"]

BACKLOG = 1024

# Of the Linux kernel: a socket option, and a program for its packet filter, which sees a segment from its TCP header
# on. Its 14th byte holds the flags; a segment that opens a connection, with SYN set, is dropped, others are let in.
_SO_ATTACH_FILTER = 26
_LOAD_BYTE, _JUMP_IF_BIT, _RETURN = 0x30, 0x45, 0x06
_FLAGS_OFFSET, _SYN, _ALL = 13, 0x02, 0xFFFFFFFF
_PROGRAM = ((_LOAD_BYTE, 0, 0, _FLAGS_OFFSET), (_JUMP_IF_BIT, 0, 1, _SYN), (_RETURN, 0, 0, 0), (_RETURN, 0, 0, _ALL))


def listen(host: str, port: int, answer_seconds: float) -> socket.socket:
    """A socket that listens; port 0 is any that is free.

    Where the system can (Linux), its connections end if a client does not take its answer for some seconds: no HTTP
    server sees that, since the kernel holds the bytes.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family, socket.SOCK_STREAM)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if hasattr(socket, "TCP_USER_TIMEOUT"):
            listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, max(1, round(1000 * answer_seconds)))
        listener.bind((host, port))
    except OSError as error:
        listener.close()
        raise OSError(error.errno, f"Can't listen on {host} port {port}: {error.strerror or error}") from error
    listener.listen(BACKLOG)
    listener.setblocking(False)
    return listener


def refuse_new_connections(listener: socket.socket) -> bool:
    """Let no more connections begin, in all processes that share the socket; those in its queue can still be taken.

    A socket that is closed resets the connections that nobody has accepted yet, and between the last `accept` and
    `close` there is always room for one more. With the filter there is not: who knocks now is not answered, tries again
    a second later, and is refused then, as by any server that has ended.

    Parameters
    ----------
    listener : socket
        A socket that listens.

    Returns
    -------
    bool
        Whether the system can do it: Linux can.
    """
    if not sys.platform.startswith("linux"):
        return False
    program = b"".join(struct.pack("HBBI", *instruction) for instruction in _PROGRAM)
    memory = ctypes.create_string_buffer(program)
    try:
        listener.setsockopt(
            socket.SOL_SOCKET, _SO_ATTACH_FILTER, struct.pack("HP", len(_PROGRAM), ctypes.addressof(memory))
        )
    except OSError:
        return False
    return True
