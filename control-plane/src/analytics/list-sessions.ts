import { analytics, badRequest, MAX_SESSION_OFFSET, pkrNumber, timestampWithZ } from '@gatehouse/contract';
import { withSession } from '../http/implement.ts';
import type { AnalyticsDependencies } from './dependencies.ts';
import { findKeysOfMember } from './keys-of-member.ts';
import { openQuerySession } from './query-session.ts';
import { findScopeIn } from './scope.ts';
import { findSessions, listSessionRows, type SessionRow } from './sessions/telemetry.ts';
import { windowFields, windowOf } from './window.ts';

export function listSessions(dependencies: AnalyticsDependencies) {
  const { databaseFor, nowMicros } = dependencies;
  return withSession(
    analytics.listSessions,
    async ({ query, requestId, gone }, { organizationId }) => {
      const { metadata, search, sort, limit, offset, model_alias } = query;
      if (offset > MAX_SESSION_OFFSET) {
        throw badRequest(
          `offset must be at most ${MAX_SESSION_OFFSET}. Sessions beyond it are found with search, or in a shorter window.`,
        );
      }
      const window = windowOf(query, nowMicros());
      const database = databaseFor(organizationId, gone);
      const owned = await findScopeIn(database, organizationId, query, model_alias, window);
      const keyIds = await findKeysOfMember(database, organizationId, query.member_id);
      const scope = { ...owned, keyIds };
      const session = openQuerySession(dependencies, { organizationId, requestId, gone });
      const found = await session.row(findSessions({ scope, metadata, search, sort, limit, offset }));
      const active = { ...scope, fromMicros: least(found.firsts), toMicros: greatest(found.lasts) };
      const rows =
        found.sessions.length === 0
          ? []
          : (await session.row(listSessionRows(active, metadata, found.sessions))).found;
      const byName = new Map(rows.map((row) => [row[0], row]));
      return {
        body: {
          ...windowFields(window),
          metadata,
          total: Number(found.matching),
          limit,
          offset,
          sessions: found.sessions.flatMap((name) => entryOf(byName.get(name)) ?? []),
        },
      };
    },
    { holdsPermit: false },
  );
}

function entryOf(row: SessionRow | undefined): analytics.Session | undefined {
  if (!row) return undefined;
  const [named, requests, errors, tokens, cost, first, last, took, models] = row;
  return {
    session: named,
    requests: Number(requests),
    errors: Number(errors),
    tokens: Number(tokens),
    cost_pkr: pkrNumber(BigInt(cost)),
    first_request_at: timestampWithZ(BigInt(first)),
    last_request_at: timestampWithZ(BigInt(last)),
    duration_ms: Number(took) / 1000,
    models: [...models],
  };
}

function least(micros: readonly string[]): bigint {
  return micros.map(BigInt).reduce((a, b) => (a < b ? a : b), BigInt(micros[0] ?? 0));
}

function greatest(micros: readonly string[]): bigint {
  return micros.map(BigInt).reduce((a, b) => (a > b ? a : b), 0n);
}
