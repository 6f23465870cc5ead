"""Zips that are more, or less, than they look."""

import io
import zipfile
from collections.abc import Callable, Iterator

from hostile_file import Entries, HostileFile, zip_of


def patched(content: bytes, signature: bytes, offset: int, value: bytes, nth: int) -> bytes:
    """The zip with some bytes of the nth header of a kind overwritten."""
    place = -1
    for _ in range(nth + 1):
        place = content.index(signature, place + 1)
    place += offset
    return content[:place] + value + content[place + len(value) :]


LOCAL, CENTRAL, END = b"PK\x03\x04", b"PK\x01\x02", b"PK\x05\x06"
HEADER_FIELDS = {
    LOCAL: {"version": (4, 2), "flags": (6, 2), "method": (8, 2), "crc": (14, 4), "compressed size": (18, 4),
            "size": (22, 4), "name length": (26, 2), "extra length": (28, 2)},
    CENTRAL: {"version": (6, 2), "flags": (8, 2), "method": (10, 2), "crc": (16, 4),
              "compressed size": (20, 4), "size": (24, 4), "name length": (28, 2), "extra length": (30, 2),
              "comment length": (32, 2), "disk": (34, 2), "offset": (42, 4)},
    END: {"disk": (4, 2), "parts": (8, 2), "all parts": (10, 2), "list size": (12, 4), "list offset": (16, 4),
          "comment length": (20, 2)},
}  # fmt: skip


def wrong_headers(good: bytes) -> Iterator[HostileFile]:
    """Every field of every header of the zip, with wrong values."""
    for signature, fields in HEADER_FIELDS.items():
        for nth in (0,) if signature == END else (0, 1, 5, 10):
            for field, (offset, width) in fields.items():
                for value in (0, 1, 99, 0x7FFFFFFF, 0xFFFFFFFF):
                    content = patched(
                        good, signature, offset, (value % 2 ** (8 * width)).to_bytes(width, "little"), nth
                    )
                    yield HostileFile(f"{field} of {signature!r} {nth} is {value}", content)


def zip_tricks(entries: Entries) -> Iterator[HostileFile]:
    """Archives that are more, or less, than they look."""

    def method(number: int) -> Callable[[zipfile.ZipInfo], None]:
        return lambda info: setattr(info, "compress_type", number)

    for number in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2):
        yield HostileFile(f"compressed by method {number}", zip_of(entries, method(number)))
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name in entries:
            with archive.open(name, "w") as part:
                for _ in range(250 if name == "manifest.json" else 1):
                    part.write(bytes(2**20))
    yield HostileFile("a bomb", buffer.getvalue())
    for name in entries:
        rest = {other: content for other, content in entries.items() if other != name}
        yield HostileFile(f"without {name}", zip_of(rest))
        yield HostileFile(f"{name} is empty", zip_of({**entries, name: b""}))
        for other in (
            name.upper(),
            f"./{name}",
            f"../{name}",
            f"/{name}",
            f"{name}/",
            f"{name}\x00",
            f"{name}é",
            "",
        ):
            yield HostileFile(f"{name} is called {other!r}", zip_of({**rest, other: entries[name]}))
        yield HostileFile(f"{name} and more", zip_of({**entries, f"{name}.bak": entries[name]}))
        doubled = zip_of({**entries, name[:-1] + "_": b"{}"}).replace(name[:-1].encode() + b"_", name.encode())
        yield HostileFile(f"{name} is there twice", doubled)
    yield HostileFile("extra fields", zip_of(entries, lambda info: setattr(info, "extra", b"\x99\x99\x04\x00abcd")))
    yield HostileFile("half an extra field", zip_of(entries, lambda info: setattr(info, "extra", b"\x01\x00\x10\x00a")))
    yield HostileFile("comments", zip_of(entries, lambda info: setattr(info, "comment", b"hello")))
    many = zip_of({**entries, **{f"part {i}": b"" for i in range(10_000)}})
    yield HostileFile("ten thousand parts", many)
    commented = bytearray(zip_of(entries))
    commented[-2:] = (5).to_bytes(2, "little")
    yield HostileFile("a comment at the end", bytes(commented) + b"hello")
    yield from zip64_tricks(zip_of(entries))


def zip64_tricks(good: bytes) -> Iterator[HostileFile]:
    """A second end of the zip, which says where the list of parts really is."""
    size, offset = (int.from_bytes(good[-10 + i : -6 + i], "little") for i in (0, 4))
    for parts, list_size, list_offset in (
        (11, size, offset),
        (2**63, size, offset),
        (11, 2**63, 0),
        (11, 2**40, 5),
    ):
        end = b"PK\x06\x06" + (44).to_bytes(8, "little") + bytes(12)
        end += b"".join(number.to_bytes(8, "little") for number in (parts, parts, list_size, list_offset))
        locator = b"PK\x06\x07" + bytes(4) + (len(good) - 22).to_bytes(8, "little") + (1).to_bytes(4, "little")
        yield HostileFile("zip64", good[:-22] + end + locator + good[-22:])
        stretched = (size + len(end) + len(locator)).to_bytes(4, "little")
        last = good[-22:-10] + stretched + good[-6:]
        yield HostileFile("zip64 inside the list of parts", good[:-22] + end + locator + last)
