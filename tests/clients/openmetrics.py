"""A strict reader of `/metrics`, the parser of Prometheus' own library: `openmetrics.py URL PORT`.

It books a room at the RESP door at PORT, so that a request is timed, and prints `ok` at the end.
"""

import socket
import sys
import urllib.request

from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as classic_families

url, port = sys.argv[1], int(sys.argv[2])
with socket.create_connection(("127.0.0.1", port), timeout=10) as door:
    door.sendall(b"ROOMS.BOOK bench r1 2027-01-01 2027-01-02 ada 234123412346\r\n")
    if not door.recv(100).startswith(b"*4\r\n:1\r\n"):
        sys.exit("the booking was not done")


def fetch(form):
    request = urllib.request.Request(url + "/metrics", headers={"Accept": form})
    with urllib.request.urlopen(request, timeout=10) as answer:
        if not answer.headers["Content-Type"].startswith(form):
            sys.exit(f"{form} was asked for, not {answer.headers['Content-Type']}")
        return answer.read().decode()


open_families = list(text_string_to_metric_families(fetch("application/openmetrics-text")))
classic = {family.name: family for family in classic_families(fetch("text/plain"))}
if {family.name for family in open_families} != set(classic):
    sys.exit("the two formats show different metrics")
for family in open_families:
    if not family.samples:
        sys.exit(f"{family.name} has no sample")
    if family.type != classic[family.name].type:
        sys.exit(f"{family.name} has two types")
durations = classic["turnstile_request_duration_seconds"].samples
wanted = {"door": "resp", "service": "rooms", "operation": "book"}
counts = [one.value for one in durations if one.name.endswith("_count") and one.labels == wanted]
if counts != [1]:
    sys.exit(f"one booking was timed {counts} times")
print("ok")
