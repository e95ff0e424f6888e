"""A worker without Sluice, in Python: BullMQ on PostgreSQL. Settings: DATABASE_URL and QUEUE_NAME."""

import asyncio
import json
import os
import re
import signal
import sys
import traceback

from bullmq import UnrecoverableError, Worker


UNSTORABLE = re.compile("[\0\ud800-\udfff]")


# BullMQ never ends an attempt with an error whose text cannot be stored or made, and stops taking jobs after one that is no
# Exception, such as CancelledError. For the same reason, nothing is returned.
async def attempt(job, token):
    try:
        await deliver(job, token)
    except (SystemExit, KeyboardInterrupt):
        raise
    except BaseException as error:
        try:
            text = str(error)
        except Exception:
            text = None
        if isinstance(error, Exception) and text is not None and not UNSTORABLE.search(traceback.format_exc()):
            raise
        kind = UnrecoverableError if isinstance(error, UnrecoverableError) else RuntimeError
        raise kind(UNSTORABLE.sub("", text or "") or type(error).__name__) from None


async def deliver(job, token):
    if job.data["v"] != 1:
        raise ValueError(f"Unknown job version {job.data['v']}.")
    # Your work, at least once per id. Fields that were not sent are missing.
    sent = {name: job.data[name] for name in ("type", "metadata", "orderingKey") if name in job.data}
    print(job.data["id"], job.data["message"], json.dumps(sent, separators=(",", ":")), flush=True)


async def main():
    stopping = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stopping.set)
    options = {
        "backend": "postgres",
        "connection": os.environ["DATABASE_URL"],
        "concurrency": 10,
        "lockDuration": 10_000,
        "stalledInterval": 5_000,
        "maxStalledCount": 2_147_483_647,
        "runRetryDelay": 1_000,
        "autorun": False,
    }
    worker = Worker(os.environ.get("QUEUE_NAME", "messages"), attempt, options)
    worker.on("error", lambda error, *_: print(error, flush=True))
    running = asyncio.ensure_future(worker.run())
    print("consuming", flush=True)
    await asyncio.wait([running, asyncio.ensure_future(stopping.wait())], return_when=asyncio.FIRST_COMPLETED)
    await worker.close()
    if not stopping.is_set():
        sys.exit(f"The worker has ended by itself: {running!r}")


asyncio.run(main())
