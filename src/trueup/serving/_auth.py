"""Who may ask."""

from __future__ import annotations

import hashlib
import hmac
import os

from trueup.errors import ParameterError
from trueup.serving._options import MAX_TOKEN_LENGTH

__all__ = ["TokenCheck", "read_token"]

_SCHEME = b"bearer "


class TokenCheck:
    """Compares what a client sends with the token; without a token it lets everybody in.

    Hashes of equal length are compared, in constant time, so neither a common beginning nor the length shows.
    """

    def __init__(self, token: str | None) -> None:
        self._digest = None if token is None else hashlib.sha256(token.encode()).digest()

    def allows(self, headers: list[tuple[bytes, bytes]]) -> bool:
        """Whether the headers of a request carry the token."""
        if self._digest is None:
            return True
        given = b""
        for name, value in headers:
            if name == b"authorization" and value[: len(_SCHEME)].lower() == _SCHEME:
                given = value[len(_SCHEME) :].strip()
        return hmac.compare_digest(hashlib.sha256(given).digest(), self._digest)


def read_token(variable: str, file: str | None) -> str | None:
    """The token from a file or, without one, from an environment variable.

    Parameters
    ----------
    variable : str
        The name of the environment variable.
    file : str or None
        The file, whose content without white space around it is the token.

    Returns
    -------
    str or None
        The token; None if there is neither.

    Examples
    --------
    >>> from trueup.serving import read_token
    >>> read_token("A_VARIABLE_THAT_IS_NOT_SET", None) is None
    True
    """
    if file is None:
        token = os.environ.get(variable)
        if token is not None and not token.strip():
            raise ParameterError(f"The environment variable {variable} is empty. Set it to the token, or unset it.")
        return None if token is None else token.strip()
    with open(file, "rb") as opened:
        content = opened.read(MAX_TOKEN_LENGTH + 1)
    if len(content) > MAX_TOKEN_LENGTH:
        raise ParameterError(f"{file!r} is too large for a file that holds a token.")
    token = content.decode("utf-8", "replace").strip()
    if not token:
        raise ParameterError(f"{file!r} holds no token.")
    return token
