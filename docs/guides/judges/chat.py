#!/usr/bin/env python3
"""chat.py: a judge that asks a language model over HTTP, in the common form of chat completions.

    JUDGE_URL    the endpoint, such as http://127.0.0.1:8000/v1/chat/completions
    JUDGE_MODEL  the model's name
    JUDGE_KEY    the key, if the endpoint needs one; it is sent in the header Authorization and written nowhere
    JUDGE_PRICE  cost of 1,000 tokens, for the budget; 0 if not set

Change `prompt` to what your labels mean. A failure of the endpoint is reported as an error, and the question is asked again."""

import json
import os
import re
import sys
import urllib.error
import urllib.request


def prompt(asked):
    """The question to the model; it ends with the form of the answer."""
    return (f"Query: {asked.get('query', asked['qid'])}\n"
            f"Title: {asked.get('title', '')}\nText: {asked.get('text', asked['docid'])[:4000]}\n\n"
            f"How relevant is the text to the query? Answer with one of {asked['labels']}, where {asked['labels'][0]} is not "
            f"relevant and {asked['labels'][-1]} is perfect, as JSON: {{\"label\": N, \"reason\": \"one sentence\"}}")


def answer(asked):
    body = {"model": os.environ["JUDGE_MODEL"], "temperature": 0, "messages": [{"role": "user", "content": prompt(asked)}]}
    headers = {"Content-Type": "application/json"}
    if os.environ.get("JUDGE_KEY"):
        headers["Authorization"] = "Bearer " + os.environ["JUDGE_KEY"]
    request = urllib.request.Request(os.environ["JUDGE_URL"], json.dumps(body).encode(), headers)
    with urllib.request.urlopen(request, timeout=50) as response:
        reply = json.load(response)
    text = reply["choices"][0]["message"]["content"]
    said = json.loads(re.search(r"\{.*\}", text, re.S)[0])
    tokens = reply.get("usage", {}).get("total_tokens", 0)
    return {"label": said["label"], "reason": str(said.get("reason", "")), "source": reply.get("model", body["model"]),
            "cost": tokens / 1000 * float(os.environ.get("JUDGE_PRICE", "0"))}


for line in sys.stdin:
    question = json.loads(line)
    try:
        said = answer(question)
    except urllib.error.HTTPError as error:
        said = {"error": f"the endpoint answered with status {error.code}"}
    except (OSError, ValueError, KeyError, TypeError) as error:
        said = {"error": f"no answer that can be used: {type(error).__name__}"}
    print(json.dumps({"id": question["id"], **said}), flush=True)
