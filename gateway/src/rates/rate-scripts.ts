// What runs inside Redis. A key's requests of the last minute are a list of times in microseconds, in ascending order and
// all different: ten bytes a request, and never more than the largest limit of them. Times are Redis's own, so that all
// gateways count by one clock. Each script touches one key, so it runs on a cluster.

const NOW = `
local key = KEYS[1]
local clock = redis.call('TIME')
local now = tonumber(clock[1]) * 1e6 + tonumber(clock[2])
local horizon = now - 60 * 1e6
local function text(time) return string.format('%.0f', time) end
`;

/** KEYS: the times. ARGV: pairs of `take` or `peek`, and a limit. Answers five numbers to each. */
export const COUNT = `${NOW}
local size = redis.call('LLEN', key)
local newest = 0
local function at(index) return tonumber(redis.call('LINDEX', key, index)) end

-- The first index after low, where isPast is false, up to high, where it is true.
local function search(low, high, isPast)
  while high - low > 1 do
    local middle = math.floor((low + high) / 2)
    if isPast(at(middle)) then high = middle else low = middle end
  end
  return high
end

if size > 0 then
  newest = at(-1)
  if newest > now + 1e6 then
    -- The clock was set back. How old these requests are is not known, so they count as new.
    local first = search(-1, size - 1, function(time) return time > now end)
    if first == 0 then redis.call('DEL', key) else redis.call('LTRIM', key, 0, first - 1) end
    for _ = first, size - 1 do redis.call('RPUSH', key, text(now)) end
    newest = now
  end
  if newest <= horizon then
    redis.call('DEL', key)
    size = 0
    newest = 0
  elseif at(0) <= horizon then
    -- Few are old where requests come often, many after a pause.
    local low, high = 0, 1
    while high < size - 1 and at(high) <= horizon do
      low = high
      high = math.min(high * 2, size - 1)
    end
    local first = search(low, high, function(time) return time > horizon end)
    redis.call('LTRIM', key, first, -1)
    size = size - first
  end
end

local answers = {}
local isChanged = false
for index = 1, #ARGV, 2 do
  local limit = tonumber(ARGV[index + 1])
  local isAllowed = size < limit
  local counted = 0
  if isAllowed and ARGV[index] == 'take' then
    counted = math.max(now, newest + 1)
    redis.call('RPUSH', key, text(counted))
    newest = counted
    size = size + 1
    isChanged = true
  end
  -- The one whose leaving makes room: with more in the window than the limit, not the oldest.
  local blocking = size >= limit and limit > 0 and at(size - limit) or nil
  answers[#answers + 1] = isAllowed and 1 or 0
  answers[#answers + 1] = size
  answers[#answers + 1] = size > 0 and newest - horizon or 0
  answers[#answers + 1] = blocking and blocking - horizon or 0
  answers[#answers + 1] = counted
end
if isChanged then redis.call('PEXPIRE', key, math.ceil((newest - horizon) / 1e3)) end
return answers
`;

/**
 * KEYS: the times. ARGV: pairs of a time and an age in microseconds, of requests that a gateway has let pass. A time that is
 * there is the same request, unless it is negative: then no Redis has heard of it.
 */
export const REMEMBER = `${NOW}
local all, isThere = {}, {}
local function add(time)
  if time <= horizon or isThere[time] then return end
  isThere[time] = true
  all[#all + 1] = time
end
for _, time in ipairs(redis.call('LRANGE', key, 0, -1)) do add(tonumber(time)) end
for index = 1, #ARGV, 2 do
  local time, age = tonumber(ARGV[index]), tonumber(ARGV[index + 1])
  local isNew = time < 0
  time = math.abs(time)
  -- Another clock counted it.
  if math.abs(now - age - time) > 2e6 then time = now - age end
  while isNew and isThere[time] do time = time + 1 end
  add(time)
end
if #all == 0 then return 0 end
table.sort(all)
redis.call('DEL', key)
for first = 1, #all, 1000 do
  local some = {}
  for index = first, math.min(first + 999, #all) do some[#some + 1] = text(all[index]) end
  redis.call('RPUSH', key, (unpack or table.unpack)(some))
end
redis.call('PEXPIRE', key, math.ceil((all[#all] - horizon) / 1e3))
return #all
`;

/**
 * KEYS: the gateway processes. ARGV: the id of one that is here. Answers how many are, and the time. It adds before it
 * removes: a Redis whose memory is full refuses that only as the first change of a script, and one that cannot count must not
 * be taken for one that can.
 */
export const PRESENT = `${NOW}
local nowMs = math.floor(now / 1e3)
redis.call('ZADD', key, text(nowMs), ARGV[1])
redis.call('ZREMRANGEBYSCORE', key, '-inf', text(nowMs - 30000))
redis.call('ZREMRANGEBYSCORE', key, text(nowMs + 1000), '+inf')
redis.call('PEXPIRE', key, 60000)
return { redis.call('ZCARD', key), now }
`;
