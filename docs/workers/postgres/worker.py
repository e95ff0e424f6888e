"""A worker without Sluice, in Python: BullMQ on PostgreSQL. Settings: DATABASE_URL and QUEUE_NAME."""

import asyncio
import json
import os
import signal

from bullmq import Worker


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
    }
    worker = Worker(os.environ.get("QUEUE_NAME", "messages"), deliver, options)
    worker.on("error", lambda error, *_: print(error, flush=True))
    print("consuming", flush=True)
    await stopping.wait()
    await worker.close()


asyncio.run(main())
