"""Where httpcore is found, and how a request looks to it. Both generations have the same public shape."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tokwire import HTTPRequest

__all__ = ["core_of", "core_request", "installed_core"]

NAMES = ("httpcore", "httpcore2")


def installed_core() -> Any:
    """The httpcore that is installed.

    Raises:
        ImportError: None is; the message says how to install one.
    """
    for name in NAMES:
        try:
            return import_module(name)
        except ImportError:
            continue
    raise ImportError("tokwire_httpcore needs httpcore: pip install 'tokwire[httpcore]'")


def core_of(pool: object) -> Any:
    """The package that a pool, or a class that a pool is derived from, belongs to.

    Raises:
        TypeError: It is no pool of httpcore or httpcore2.
    """
    for kind in type(pool).__mro__:
        package = kind.__module__.partition(".")[0]
        if package in NAMES:
            return import_module(package)
    raise TypeError(f"{type(pool).__name__} is no connection pool of {' or '.join(NAMES)}")


def core_request(core: Any, request: HTTPRequest, timeouts: dict[str, float | None]) -> Any:
    """The request for a pool. The URL is given in parts: of a whole one, httpcore would lose what follows a `;`."""
    host = f"[{request.host}]" if ":" in request.host else request.host
    is_usual = request.port == (443 if request.scheme == "https" else 80)
    headers = [] if request.header("host") else [("Host", host if is_usual else f"{host}:{request.port}")]
    headers += request.headers
    if request.header("accept-encoding") is None:
        headers.append(("Accept-Encoding", "identity"))
    if request.header("content-length") is None and (request.body or request.method in ("POST", "PUT", "PATCH")):
        headers.append(("Content-Length", str(len(request.body))))
    return core.Request(
        method=request.method.encode("ascii"),
        url=core.URL(
            scheme=request.scheme.encode("ascii"),
            host=request.host.encode("ascii"),
            port=None if is_usual else request.port,
            target=request.target.encode("ascii"),
        ),
        headers=[(name.encode("ascii"), value.encode("latin-1")) for name, value in headers],
        content=request.body,
        extensions={"timeout": timeouts},
    )
