"""Live traffic: a model that can be replaced while it answers, and the HTTP service around it (extra ``serve``)."""

from trueup._runtime import pin_to
from trueup.serving._serve import ServerOptions, asgi_app, read_token, serve
from trueup.serving._slot import LoadedModel, ModelSlot

__all__ = ["LoadedModel", "ModelSlot", "ServerOptions", "asgi_app", "read_token", "serve"]

pin_to(__name__, __all__, globals())
