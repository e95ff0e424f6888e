/**
 * The positions, from 1, of the jobs among these that wait or are delayed in a sorted set and that workers can read. A
 * job that is left out may be alive too, such as one that runs.
 * KEYS: prioritized, delayed. ARGV: prefix of the keys of jobs, least bytes of their data, then their ids.
 */
export const WAITING_JOBS = `
  local function is_number(value) return not value or string.match(value, '^%d+$') end
  local function is_object(text)
    local is_json, value = pcall(cjson.decode, text)
    return is_json and type(value) == 'table'
  end
  local found = {}
  for i = 3, #ARGV do
    local key = ARGV[1] .. ARGV[i]
    local score = redis.pcall('ZSCORE', KEYS[1], ARGV[i]) or redis.pcall('ZSCORE', KEYS[2], ARGV[i])
    local job = redis.pcall('HMGET', key, 'timestamp', 'processedOn', 'atm', 'stc', 'ats', 'delay', 'priority',
      'opts', 'finishedOn')
    if type(score) == 'string' and not job.err and job[1] and not job[9] and is_object(job[8])
      and redis.call('HSTRLEN', key, 'data') >= tonumber(ARGV[2]) then
      local is_readable = true
      for field = 1, 7 do is_readable = is_readable and is_number(job[field]) end
      if is_readable then found[#found + 1] = i - 2 end
    end
  end
  return found`;
