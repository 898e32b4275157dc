import { sql, statement } from '@gatehouse/store';

/** Writes the states of upstreams that this gateway process knows, for operators to read. `forMs` is null where one works again. */
export const writeUpstreamStates = statement<{
  instance: string;
  providers: readonly string[];
  upstreamModels: readonly string[];
  credentials: readonly string[];
  forMs: readonly (number | null)[];
  reasons: readonly (string | null)[];
}>(
  'gateway-write-upstream-states',
  sql`
    INSERT INTO upstream_states (instance, provider, upstream_model, credential, state, until, reason)
    SELECT ${'instance'}, s.provider, s.upstream_model, s.credential,
           CASE WHEN s.for_ms IS NULL THEN 'closed' ELSE 'open' END,
           clock_timestamp() + s.for_ms * interval '1 millisecond', s.reason
    FROM unnest(${'providers'}::text[], ${'upstreamModels'}::text[], ${'credentials'}::text[], ${'forMs'}::bigint[],
                ${'reasons'}::text[]) AS s (provider, upstream_model, credential, for_ms, reason)
    ON CONFLICT (instance, provider, upstream_model, credential) DO UPDATE
      SET state = excluded.state, until = excluded.until, reason = excluded.reason, updated_at = clock_timestamp()`,
);
