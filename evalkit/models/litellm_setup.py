"""How is litellm loaded, so that it stays quiet, offline and honest?"""

from __future__ import annotations

import importlib
import logging
import os
import sys
import warnings
from functools import cache
from typing import Any

_QUIET_LOGGERS = ("LiteLLM", "LiteLLM Router", "LiteLLM Proxy")


@cache
def load() -> Any:
    """litellm, imported at the first call only: it takes seconds.

    It must not fetch its price table when it is imported (prices are those of the installed version, whose number is
    stored), print advice, try again by itself, or leave out parameters that an endpoint does not take.
    """
    warnings.filterwarnings("ignore", message=r"Items? .* using the `ReadOnly` qualifier")
    warnings.filterwarnings("ignore", message="Pydantic serializer warnings")
    os.environ.setdefault("LITELLM_LOCAL_MODEL_COST_MAP", "True")
    os.environ.setdefault(
        "LITELLM_MODE", "PRODUCTION"
    )  # otherwise it reads any .env file above the working folder
    litellm: Any = importlib.import_module("litellm")
    for name in _QUIET_LOGGERS:
        logging.getLogger(name).setLevel(logging.CRITICAL)
    litellm.suppress_debug_info = True
    litellm.telemetry = False
    litellm.drop_params = False
    litellm.modify_params = False
    litellm.num_retries = 0
    litellm.disable_hf_tokenizer_download = True
    importlib.import_module("evalkit.models.litellm_clients").install()
    return litellm


def has_open_clients() -> bool:
    """Whether litellm has been loaded at all; asking does not load it."""
    return "evalkit.models.litellm_clients" in sys.modules


async def close_clients() -> None:
    """Close the connections of the running event loop."""
    if has_open_clients():
        await load().in_memory_llm_clients_cache.aclose()
