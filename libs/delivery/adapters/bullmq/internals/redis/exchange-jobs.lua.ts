/*
 * What BullMQ's `moveToFinished` does for one job, for many: removes jobs that were completed and starts a job in each
 * free slot, after it has moved delayed jobs that are due to the waiting ones. A paused queue and its limits are left to
 * BullMQ's script. It publishes no events: Sluice does not follow its own workers.
 *
 * KEYS: 1 waiting, 2 active, 3 prioritized, 4 delayed, 5 stalled, 6 meta, 7 priority counter, 8 marker.
 * ARGV: 1 prefix of the keys of jobs; 2 milliseconds since 1970; 3 milliseconds until a lock expires; 4 name of the
 * worker; 5 the last priority of the jobs that are taken; then of each slot: the id of the job that it completed or '',
 * its lock token, '1' if it takes a job.
 * Returns for each slot whether its job has ended (1 or 0), and its next job as BullMQ's scripts do, or 0 when only
 * BullMQ can decide it.
 */
export const EXCHANGE_JOBS = `
  local call = redis.call
  local waiting, active, prioritized, delayed, stalled, meta, counter, marker = unpack(KEYS)
  local prefix, now, lock_ms, worker, last = unpack(ARGV, 1, 5)
  local ended, removed, free = {}, {}, 0

  for i = 6, #ARGV, 3 do
    local id, token = ARGV[i], ARGV[i + 1]
    local key = prefix .. id
    ended[i] = 1
    if id ~= '' then
      ended[i] = 0
      if call('GET', key .. ':lock') == token
        and call('EXISTS', key .. ':dependencies', key .. ':unsuccessful') == 0
        and call('LREM', active, -1, id) == 1
      then
        call('DEL', key, key .. ':lock', key .. ':logs', key .. ':processed', key .. ':failed')
        removed[#removed + 1] = id
        ended[i] = 1
      end
    end
    if ended[i] == 1 and ARGV[i + 2] == '1' then free = free + 1 end
  end
  if #removed > 0 then call('SREM', stalled, unpack(removed)) end

  local settings = call('HMGET', meta, 'paused', 'concurrency', 'max')
  local plain = not (settings[1] or settings[2] or settings[3])
  local due = plain and call('ZRANGEBYSCORE', delayed, 0, (now + 1) * 0x1000 - 1, 'LIMIT', 0, 1000) or {}
  for _, id in ipairs(due) do
    local priority = tonumber(call('HGET', prefix .. id, 'priority')) or 0
    call('ZREM', delayed, id)
    call('HSET', prefix .. id, 'delay', 0)
    if priority == 0 then
      call('LPUSH', waiting, id)
    else
      call('ZADD', prioritized, priority * 0x100000000 + call('INCR', counter) % 0x100000000, id)
    end
  end
  if due[1] then call('ZADD', marker, 0, '0') end

  local ids = {}
  if plain and free > 0 then
    ids = call('RPOP', waiting, free) or {}
    local rest, below = free - #ids, '(' .. (last + 1) * 0x100000000
    local first = rest > 0 and call('ZRANGEBYSCORE', prioritized, '-inf', below, 'LIMIT', 0, rest) or {}
    for _, id in ipairs(first) do ids[#ids + 1] = id end
    if #first > 0 then call('ZREM', prioritized, unpack(first)) end
    if #ids < free and call('EXISTS', prioritized) == 0 then call('DEL', counter) end
    if #ids > 0 then
      call('LPUSH', active, unpack(ids))
      call('ZADD', marker, 0, '0')
    end
  end

  local none = 0
  if plain then
    local first = call('ZRANGE', delayed, 0, 0, 'WITHSCORES')
    none = {0, 0, 0, first[2] and first[2] / 0x1000 or 0}
  end

  local slots, taken = {}, 0
  for i = 6, #ARGV, 3 do
    local next = none
    if ended[i] == 1 and ARGV[i + 2] == '1' and taken < #ids then
      taken = taken + 1
      local id = ids[taken]
      local key = prefix .. id
      call('SET', key .. ':lock', ARGV[i + 1], 'PX', lock_ms)
      call('HSET', key, 'processedOn', now, 'pb', worker)
      call('HINCRBY', key, 'ats', 1)
      next = {call('HGETALL', key), id, 0, 0}
    end
    slots[#slots + 1] = {ended[i], next}
  end
  return slots`;
