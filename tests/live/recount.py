"""How many tokens has a conversation, by the model's own tokenizer? Runs where llama_cpp is installed.

Reads JSON from standard input: a list of conversations, each a list of messages. Prints a list of counts. The template
is written out here, so that neither the server's rendering nor its counting is taken on trust.
"""

from __future__ import annotations

import json
import sys

from llama_cpp import Llama


def main() -> None:
    """`recount.py MODEL_FILE < conversations.json`."""
    llama = Llama(sys.argv[1], vocab_only=True, verbose=False)
    print(json.dumps([_count(llama, messages) for messages in json.load(sys.stdin)]))


def _count(llama: Llama, messages: list[dict[str, str]]) -> int:
    told = "".join(f"<|im_start|>{one['role']}\n{one['content']}<|im_end|>\n" for one in messages)
    prompt = f"{told}<|im_start|>assistant\n"
    return len(llama.tokenize(prompt.encode(), add_bos=False, special=True))


if __name__ == "__main__":
    main()
