"""What the test asks of the Python client: JSON on standard input, and on standard output what it did."""

import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import MappingProxyType

from sluice import ConnectionFailed, Sluice, SluiceError, WebhookVerificationError, verify_webhook

task = json.load(sys.stdin)


def client(url, **options):
    return Sluice(os.environ["KEY"], url, **options)


def code_of(call):
    try:
        call()
        return None
    except SluiceError as error:
        return error.code


def send_one(case):
    try:
        sent = client(case["url"], timeout=case.get("timeout", 30), max_tries=case.get("tries", 6)).send(case["text"], **({"idempotency_key": case["key"]} if case.get("key") else {}))
        return {"id": sent["id"], "error": None}
    except SluiceError as error:
        return {"id": None, "error": error.code}
    except ValueError as error:
        return {"id": None, "error": f"ValueError: {error}"}


def send():
    with ThreadPoolExecutor(32) as pool:
        return list(pool.map(send_one, task["cases"]))


def use():
    sluice = client(task["url"])
    batch = sluice.send_batch([{"message": "one", "type": "order.paid"}, {"message": "two", "metadata": MappingProxyType({"region": "eu"})}])
    leased = sluice.lease(10, 30)
    sluice.extend(leased[0]["id"], leased[0]["leaseToken"], 60)
    sluice.ack(leased[0]["id"], leased[0]["leaseToken"])
    sluice.nack(leased[1]["id"], leased[1]["leaseToken"], delay_seconds=0, reason="Not now")
    again = sluice.lease(10, 30, wait=20)
    results = sluice.ack_batch(again)
    late = code_of(lambda: sluice.ack(leased[1]["id"], leased[1]["leaseToken"]))
    waiting = sluice.send("three", deliver_at="2099-01-01T00:00:00Z") if task.get("far") else sluice.send("three")
    return {
        "sent": [one["status"] for one in batch],
        "leased": [[one["message"], one.get("type"), one.get("metadata")] for one in leased],
        "results": [one["result"] for one in results],
        "late": late,
        "cancelled": sluice.cancel(waiting["id"])["status"],
        "listed": [one["message"] for one in sluice.list(page_size=2)],
        "delivered": [one["message"] for one in sluice.list(status="delivered", type="order.*")],
        "attempts": [one["outcome"] for one in sluice.attempts(batch[1]["id"])],
        "got": sluice.get(batch[0]["id"])["status"],
        "remaining": sluice.rate_limit.remaining > 0,
        "unknown": code_of(lambda: sluice.get("msg_unknown")),
        "key": code_of(lambda: Sluice("slc_unknown", task["url"]).get("msg_1")),
    }


def list_all():
    return code_of(lambda: [*client(task["url"]).list()])


def cancel():
    return code_of(lambda: client(task["url"]).cancel(task["id"]))


def reject():
    sluice = client(task["url"])
    leased = sluice.lease(len(task["reasons"]), 30)
    return [
        code_of(lambda: sluice.nack(one["id"], one["leaseToken"], delay_seconds=60, reason=reason))
        for one, reason in zip(leased, task["reasons"])
    ]


def consume():
    handled = []
    stop = threading.Event()
    sluice = client(task["url"], timeout=25)
    away = None
    tried = sluice._transport._try

    def unless_away(call, *args):
        if away is not None and away in call.full_url:
            raise ConnectionFailed("away", "connection_failed")
        return tried(call, *args)

    sluice._transport._try = unless_away
    for message in sluice.consume(lease_seconds=task["lease"], stop=stop):
        handled.append([message.message, message.attempt])
        is_first = message.attempt == 1
        away = message.id if is_first and message.message in task.get("away", []) else None
        if message.message in task["slow"]:
            time.sleep(task["lease"] * 2)
        if message.message in task["failing"] and is_first:
            message.nack(delay_seconds=0, reason="Not now")
        elif not (message.message in task["forgotten"] and is_first):
            try:
                message.ack()
                if message.message in task.get("late", []):
                    raise RuntimeError("Too late")
            except Exception as error:
                message.nack(reason=str(error))
        if len(handled) == task["count"]:
            stop.set()
    return handled


def verify():
    results = []
    for case in task["cases"]:
        try:
            results.append(verify_webhook(case["headers"], case["body"].encode(), case["secret"])["data"]["message"])
        except (WebhookVerificationError, ValueError) as error:
            results.append(type(error).__name__)
    return results


def missing():
    names = {}
    for key, url in task["made"]:
        try:
            Sluice(key, url)
        except ValueError as error:
            names[f"{key} {url}"] = str(error)
    return names


print(json.dumps({"send": send, "use": use, "list": list_all, "cancel": cancel, "reject": reject, "consume": consume, "verify": verify, "missing": missing}[task["do"]]()))
