"""Serves one model over HTTP on a loopback port of the system's choice, until standard input ends.

The one line on standard output is JSON, {"address": "http://127.0.0.1:PORT"}. By then the model is loaded.
"""

import argparse
import json
import os
import sys

import xllamacpp


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("weights")
    parser.add_argument("--name", required=True, help="what answers call the model")
    parser.add_argument("--context", type=int, required=True, help="tokens of a request with its answer")
    parser.add_argument("--requests", type=int, default=2, help="requests answered at a time")
    parser.add_argument("--threads", type=int, default=1, help="threads that compute")
    parser.add_argument("--template", help="a file with a chat template to use instead of that of the weights")
    arguments = parser.parse_args()

    params = xllamacpp.CommonParams()
    params.model.path = arguments.weights
    params.model_alias = arguments.name
    params.hostname = "127.0.0.1"
    params.port = 0
    # The context is shared out among the requests that are answered at a time.
    params.n_parallel = arguments.requests
    params.n_ctx = arguments.context * arguments.requests
    params.endpoint_metrics = True
    params.webui = False
    params.use_jinja = True
    if arguments.template:
        with open(arguments.template, encoding="utf-8") as template:
            params.chat_template = template.read()
    # As soon as anything else runs on the machine, two threads wait for each other more than they compute.
    params.cpuparams.n_threads = arguments.threads

    server = xllamacpp.Server(params)
    print(json.dumps({"address": server.listening_address}), flush=True)
    # Whoever started this holds the other end, and lets go of it in whatever way it ends.
    sys.stdin.buffer.read()
    # Requests that still run are not waited for.
    os._exit(0)


main()
