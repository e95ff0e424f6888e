"""A worker without Sluice, in Python: BullMQ on Redis. Settings: REDIS_URL, REDIS_TOPOLOGY, and QUEUE_NAME, one or
several names separated by commas."""

import asyncio
import json
import os
import signal

from bullmq import Worker
from redis.asyncio import Redis, RedisCluster


async def deliver(job, token):
    if job.data["v"] != 1:
        raise ValueError(f"Unknown job version {job.data['v']}.")
    # Your work, at least once per id. Fields that were not sent are missing.
    sent = {name: job.data[name] for name in ("type", "metadata", "orderingKey") if name in job.data}
    print(job.data["id"], job.data["message"], json.dumps(sent, separators=(",", ":")), flush=True)


def connect():
    url = os.environ.get("REDIS_URL", "redis://127.0.0.1:6379").split(",")[0]
    kind = RedisCluster if os.environ.get("REDIS_TOPOLOGY") == "cluster" else Redis
    return kind.from_url(url, decode_responses=True)


async def main():
    stopping = asyncio.Event()
    for name in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(name, stopping.set)
    workers = []
    for name in os.environ.get("QUEUE_NAME", "messages").split(","):
        options = {"connection": connect(), "concurrency": 10, "maxStalledCount": 1_000_000}
        worker = Worker(name, deliver, options)
        worker.on("error", lambda error, *_: print(error, flush=True))
        workers.append(worker)
    print("consuming", flush=True)
    await stopping.wait()
    for worker in workers:
        await worker.close()


asyncio.run(main())
