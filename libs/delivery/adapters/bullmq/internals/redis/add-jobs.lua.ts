/*
 * What BullMQ's `addStandardJob` and `addPrioritizedJob` do for one job, for many, without their events.
 *
 * KEYS: 1 waiting, 2 prioritized, 3 priority counter, 4 marker, 5 meta.
 * ARGV: 1 prefix of the keys of jobs; then of each job: id, name, data, options as BullMQ stores them, milliseconds since
 * 1970, priority. A job whose id exists stays as it is.
 */
export const ADD_JOBS = `
  local call = redis.call
  local waiting, prioritized, counter, marker, meta = unpack(KEYS)
  for i = 2, #ARGV, 6 do
    local id, name, data, opts, timestamp, priority = unpack(ARGV, i, i + 5)
    local key = ARGV[1] .. id
    if call('EXISTS', key) == 0 then
      call('HSET', key, 'name', name, 'data', data, 'opts', opts, 'timestamp', timestamp, 'delay', 0, 'priority', priority)
      if priority == '0' then
        call('LPUSH', waiting, id)
      else
        call('ZADD', prioritized, priority * 0x100000000 + call('INCR', counter) % 0x100000000, id)
      end
    end
  end
  if not call('HGET', meta, 'paused') then call('ZADD', marker, 0, '0') end`;
