import { fragment, rawSql, type TelemetryQuery, telemetryQuery } from '@gatehouse/store';
import { conditions, READ_ROWS, type Scope } from '../telemetry.ts';

export interface KeyTraffic {
  readonly key: string;
  readonly requests_text: string;
  readonly throttled_text: string;
  readonly peak_text: string;
  readonly last_throttled_micros: string | null;
}

// What the gateway writes where a key's own limit rejected a request. A 429 of the provider has no refusal.
const IS_THROTTLED = rawSql("refusal = 'rate_limit_exceeded'");

// How often the most frequent minute of an hour occurs is the highest count of any element so far. Counting each minute of each
// key in a group of its own takes three times as long: they are nearly as many as requests. The few rows that stand for
// several requests are summed by minute and added.
const PEAK = rawSql(`greatest(
  arrayMax(arrayEnumerateUniq(single)),
  arrayMax(arrayMap((minute, many) -> many + countEqual(single, minute), counted.1, counted.2)))`);

/** The keys that made requests: the most throttled first, among equals the busiest, then by id. */
export function keyTraffic(scope: Scope): TelemetryQuery<KeyTraffic> {
  return telemetryQuery(
    fragment`SELECT toString(used_key) AS key,
                    toString(sum(many)) AS requests_text,
                    toString(sum(throttled)) AS throttled_text,
                    toString(max(peak)) AS peak_text,
                    if(sum(throttled) > 0, toString(toUnixTimestamp64Micro(max(throttled_at))), NULL)
                      AS last_throttled_micros
             FROM (
               SELECT assumeNotNull(key_id) AS used_key, toStartOfHour(timestamp) AS hour,
                      sum(request_count) AS many,
                      groupArrayIf(toMinute(timestamp), request_count = 1) AS single,
                      sumMapIf([toMinute(timestamp)], [toUInt64(request_count)], request_count != 1) AS counted,
                      ${PEAK} AS peak,
                      sumIf(request_count, ${IS_THROTTLED}) AS throttled,
                      maxIf(timestamp, ${IS_THROTTLED}) AS throttled_at
               FROM request_log
               WHERE ${conditions(scope)} AND isNotNull(key_id)
               GROUP BY used_key, hour
             )
             GROUP BY used_key
             ORDER BY sum(throttled) DESC, sum(many) DESC, key`,
    READ_ROWS,
  );
}
