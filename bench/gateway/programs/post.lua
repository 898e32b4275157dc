-- Sends the bytes of the file that REQUEST_FILE names, and prints one line of JSON when wrk has ended. Times are in microseconds.

local file = assert(io.open(os.getenv('REQUEST_FILE'), 'rb'))
local bytes = file:read('*a')
file:close()

request = function()
  return bytes
end

done = function(summary, latency)
  local errors = summary.errors
  print(string.format(
    '{"answers":%d,"failed":%d,"cut":%d,"seconds":%.4f,"p50":%d,"p99":%d}',
    summary.requests, errors.status, errors.connect + errors.read + errors.write + errors.timeout,
    summary.duration / 1e6, latency:percentile(50), latency:percentile(99)
  ))
end
