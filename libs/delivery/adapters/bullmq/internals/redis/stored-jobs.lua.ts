/**
 * Whether a job has the data of its message. The id of a job is that of its message, for a retry followed by a dot and its
 * number. Data above 64 KiB, which contains a long text, is not worth the time for which the server does nothing else.
 */
const HAS_DATA = `
  local function has_data(key, id)
    local length = redis.pcall('HSTRLEN', key, 'data')
    if type(length) ~= 'number' or length > 65536 then return type(length) == 'number' end
    local data = redis.call('HGET', key, 'data') or ''
    return string.find(data, '"' .. string.match(id, '^[^.]*') .. '"', 1, true) and string.find(data, '^{.*}$')
  end`;

/**
 * Which of these jobs have the data of their messages, or need it no more: 1 or 0 for each. A worker of another program may
 * replace the data of a job that it runs; what has lost its data fails. KEYS: of the jobs. ARGV: their ids.
 */
export const HAVE_DATA = `${HAS_DATA}
  local function needs_none(key)
    local job = redis.pcall('HMGET', key, 'finishedOn', 'returnvalue', 'data')
    if job.err then return false end
    if not job[1] then return redis.call('EXISTS', key .. ':lock') == 1 end
    return job[2] or pcall(cjson.decode, job[3])
  end
  local found = {}
  for i, key in ipairs(KEYS) do found[i] = (has_data(key, ARGV[i]) or needs_none(key)) and 1 or 0 end
  return found`;

/**
 * The positions, from 1, of the jobs among these that wait or are delayed in a sorted set and that workers can read. A
 * job that is left out may be alive too, such as one that runs.
 * KEYS: prioritized, delayed. ARGV: prefix of the keys of jobs, then their ids.
 */
export const WAITING_JOBS = `${HAS_DATA}
  local function is_number(value) return not value or string.match(value, '^%d+$') end
  local function is_object(text)
    local is_json, value = pcall(cjson.decode, text)
    return is_json and type(value) == 'table'
  end
  local found = {}
  for i = 2, #ARGV do
    local key = ARGV[1] .. ARGV[i]
    local score = redis.pcall('ZSCORE', KEYS[1], ARGV[i]) or redis.pcall('ZSCORE', KEYS[2], ARGV[i])
    local job = redis.pcall('HMGET', key, 'timestamp', 'processedOn', 'atm', 'stc', 'ats', 'delay', 'priority',
      'opts', 'finishedOn')
    if type(score) == 'string' and not job.err and job[1] and not job[9] and is_object(job[8])
      and has_data(key, ARGV[i]) then
      local is_readable = true
      for field = 1, 7 do is_readable = is_readable and is_number(job[field]) end
      if is_readable then found[#found + 1] = i - 1 end
    end
  end
  return found`;
