import type { RedisShard } from './redis-shard.js';

/** The keys of a queue that have one type each. */
const TYPES: Readonly<Record<string, string>> = {
  wait: 'list',
  paused: 'list',
  active: 'list',
  prioritized: 'zset',
  delayed: 'zset',
  completed: 'zset',
  failed: 'zset',
  'waiting-children': 'zset',
  marker: 'zset',
  repeat: 'zset',
  stalled: 'set',
  meta: 'hash',
  pc: 'string',
  id: 'string',
  limiter: 'string',
  'stalled-check': 'string',
  'sluice-turns': 'string',
  events: 'stream',
  'sluice-events': 'stream',
};

const COUNTERS = ['pc', 'id'] as const;

/** Keys that stop the workers, or a part of their work, until they expire. */
const EXPIRING = ['limiter', 'stalled-check', 'sluice-turns'] as const;

const IS_COUNT = /^-?\d{1,15}$/;

/**
 * Removes what makes BullMQ's scripts fail or wait for ever: keys of a wrong type, counters that are no numbers, and keys
 * that should expire but do not. Wakes the workers when jobs wait but no marker tells them so.
 * @param lockMs after this long, a lock that would never expire does, unless its worker extends it
 */
export async function repairKeys(shard: RedisShard, lockMs: number): Promise<void> {
  const names = Object.keys(TYPES);
  const types = await shard.ask<string[]>((all) => names.reduce((some, name) => some.type(shard.key(name)), all));
  const wrong = names.filter((name, index) => types[index] !== 'none' && types[index] !== TYPES[name]);
  const counts = await shard.read<string>((all) => COUNTERS.reduce((some, name) => some.get(shard.key(name)), all));
  wrong.push(...COUNTERS.filter((_name, index) => !IS_COUNT.test(counts[index] ?? '0')));
  const lives = await shard.ask<number[]>((all) => EXPIRING.reduce((some, name) => some.pttl(shard.key(name)), all));
  wrong.push(...EXPIRING.filter((_name, index) => lives[index] === -1));
  if (wrong.length > 0) await shard.redis.del(wrong.map((name) => shard.key(name)));
  await repairLocks(shard, lockMs);
  await repairMarker(shard);
}

async function repairLocks(shard: RedisShard, lockMs: number): Promise<void> {
  const locks = (await shard.redis.lrange(shard.key('active'), 0, -1)).map((id) => `${shard.key(id)}:lock`);
  const lives = await shard.ask<number[]>((all) => locks.reduce((some, lock) => some.pttl(lock), all));
  const endless = locks.filter((_lock, index) => lives[index] === -1);
  await shard.ask((all) => endless.reduce((some, lock) => some.pexpire(lock, lockMs), all));
}

async function repairMarker(shard: RedisShard): Promise<void> {
  const [paused, waiting, prioritized, delayed] = await shard.ask<[number, number, number, string[]]>((pipeline) =>
    pipeline
      .hexists(shard.key('meta'), 'paused')
      .llen(shard.key('wait'))
      .zcard(shard.key('prioritized'))
      .zrange(shard.key('delayed'), 0, 0),
  );
  const hasJobs = waiting + prioritized + delayed.length > 0;
  if (paused === 0 && hasJobs) await shard.redis.zadd(shard.key('marker'), 0, '0');
}
