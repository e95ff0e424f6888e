/** The account of a job: `DeliveryJobData` begins with it, before anything that a caller has written. */
const ACCOUNT_OF = `
  local function account_of(key)
    local data = redis.call('HGET', key, 'data')
    return data and string.match(data, '^{"v":1,"id":"[%w_.]+","accountId":"([%w_]+)"')
  end`;

/** Whether a job of the express turn waits. KEYS: waiting, prioritized. ARGV: the first score of other turns. */
export const HAS_EXPRESS = `
  if redis.call('LLEN', KEYS[1]) > 0 then return 1 end
  return redis.call('ZCOUNT', KEYS[2], '-inf', '(' .. ARGV[1])`;

/**
 * The account of each of at most 2,000 places that were taken before some time.
 * KEYS: active. ARGV: prefix of the keys of jobs, milliseconds since 1970.
 */
export const HELD_PLACES = `${ACCOUNT_OF}
  local accounts = {}
  for _, id in ipairs(redis.call('LRANGE', KEYS[1], -2000, -1)) do
    local key = ARGV[1] .. id
    local since = tonumber(redis.call('HGET', key, 'processedOn'))
    local account = since and since <= tonumber(ARGV[2]) and account_of(key)
    if account then accounts[#accounts + 1] = account end
  end
  return accounts`;

/**
 * The first jobs of the express turn that belong to some accounts, each followed by its account.
 * KEYS: waiting, prioritized. ARGV: prefix of the keys of jobs, the first score of other turns, how many jobs to look at,
 * then the accounts.
 */
export const AHEAD = `${ACCOUNT_OF}
  local wanted, found = {}, {}
  for i = 4, #ARGV do wanted[ARGV[i]] = true end
  local function look(id)
    local account = account_of(ARGV[1] .. id)
    if account and wanted[account] then
      found[#found + 1] = id
      found[#found + 1] = account
    end
  end
  local count = tonumber(ARGV[3])
  local first = redis.call('LRANGE', KEYS[1], -count, -1)
  for i = #first, 1, -1 do look(first[i]) end
  for _, id in ipairs(redis.call('ZRANGEBYSCORE', KEYS[2], '-inf', '(' .. ARGV[2], 'LIMIT', 0, count)) do look(id) end
  return found`;
