import { fragment, rawSql, type TelemetryQuery, telemetryQuery } from '@gatehouse/store';
import { conditions, type Scope } from '../telemetry.ts';

export interface KeyTraffic {
  readonly key: string;
  readonly requests_text: string;
  readonly throttled_text: string;
  readonly peak_text: string;
  readonly last_throttled_micros: string | null;
}

// What the gateway writes where a key's own limit rejected a request. A 429 of the provider has no refusal.
const IS_THROTTLED = rawSql("refusal = 'rate_limit_exceeded'");

/** The keys that made requests: the most throttled first, among equals the busiest, then by id. */
export function keyTraffic(scope: Scope): TelemetryQuery<KeyTraffic> {
  return telemetryQuery(
    fragment`SELECT toString(used_key) AS key,
                    toString(sum(of_minute)) AS requests_text,
                    toString(sum(throttled)) AS throttled_text,
                    toString(max(of_minute)) AS peak_text,
                    if(sum(throttled) > 0, toString(toUnixTimestamp64Micro(max(throttled_at))), NULL)
                      AS last_throttled_micros
             FROM (
               SELECT assumeNotNull(key_id) AS used_key, toStartOfMinute(timestamp) AS minute,
                      sum(request_count) AS of_minute,
                      sumIf(request_count, ${IS_THROTTLED}) AS throttled,
                      maxIf(timestamp, ${IS_THROTTLED}) AS throttled_at
               FROM request_log
               WHERE ${conditions(scope)} AND isNotNull(key_id)
               GROUP BY used_key, minute
             )
             GROUP BY used_key
             ORDER BY sum(throttled) DESC, sum(of_minute) DESC, key`,
  );
}
