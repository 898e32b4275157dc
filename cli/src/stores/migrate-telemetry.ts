import { createBackoff, systemClock } from '@gatehouse/concurrency';
import {
  createTelemetryClient,
  MigrationError,
  migrateTelemetry,
  queryRows,
  rawSql,
  startDeadline,
  type TelemetryTarget,
  telemetryQuery,
} from '@gatehouse/store';
import type { Logger } from 'pino';
import type { ClickHouseServer } from './clickhouse.ts';
import { clickhouseFailure, namedServer } from './clickhouse-failure.ts';

/** A migration of the telemetry store that waits for the store to answer. Disposing stops the attempts. */
export interface TelemetryMigrationTask extends AsyncDisposable {
  /** Resolves once the store is migrated; rejects, at any time, when its schema cannot be used. */
  readonly migrated: Promise<void>;
  /** Why the last attempt failed, in a few words; undefined before it. */
  failure(): string | undefined;
}

const CHECK_TIMEOUT_MS = 10_000;
const RETRIES = { firstMs: 100, maxMs: 2_000 };

/** Migrates as soon as the store can be reached, and retries until then. */
export function migrateTelemetryInBackground(
  server: Pick<ClickHouseServer, 'target' | 'ownerTarget' | 'isEmbedded'>,
  log: Logger,
): TelemetryMigrationTask {
  const stopping = new AbortController();
  let failure: string | undefined;
  const onFailure = (reason: string) => {
    failure = reason;
  };
  const migrated = migrateWithRetries(server, log, stopping.signal, onFailure);
  // A failure before anything awaits it is not an unhandled rejection.
  migrated.catch(() => undefined);
  return {
    migrated,
    failure: () => failure,
    async [Symbol.asyncDispose]() {
      stopping.abort();
    },
  };
}

async function migrateWithRetries(
  server: Pick<ClickHouseServer, 'target' | 'ownerTarget' | 'isEmbedded'>,
  log: Logger,
  signal: AbortSignal,
  onFailure: (reason: string) => void,
): Promise<void> {
  const { target, ownerTarget, isEmbedded } = server;
  const backoff = createBackoff(RETRIES);
  while (!signal.aborted) {
    let login: 'owner' | 'service' = 'owner';
    try {
      const steps = await migrateTelemetry(ownerTarget, {
        onNewerSchema: (version) =>
          log.info(
            { event: 'clickhouse.schema_newer', version },
            'a newer version has migrated ClickHouse; it is used as it is',
          ),
      });
      if (steps.length > 0) log.info({ event: 'clickhouse.migrated', steps }, 'ClickHouse schema migrated');
      login = 'service';
      if (!isEmbedded) await requireQueries(target);
      return;
    } catch (error) {
      if (error instanceof MigrationError) throw error;
      const reason = `${namedServer(server, login)}${clickhouseFailure(error)}`;
      onFailure(reason);
      if (backoff.failures === 0) {
        log.warn({ event: 'clickhouse.unavailable', reason, err: error }, 'ClickHouse unavailable; retrying');
      }
      await systemClock.sleep(backoff.nextMs(), signal);
    }
  }
}

const readNothing = telemetryQuery(rawSql('SELECT 1 FROM request_log LIMIT 0'));

/** Asks as analytics do: a login without the right, or whose profile forbids limits, is found at the start. */
async function requireQueries(target: TelemetryTarget): Promise<void> {
  await using client = createTelemetryClient(target);
  await queryRows(client, readNothing, startDeadline(CHECK_TIMEOUT_MS));
}
