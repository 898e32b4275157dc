import { openDatabase, type PostgresAddress } from '@gatehouse/store';
import { pino } from 'pino';
import type { FinishedRequest } from '../finished-request.ts';
import { openJournal } from '../open-journal.ts';
import { encodeLine } from '../record-line.ts';
import { type Account, finished, hold } from './fixtures.ts';

/**
 * The process that kill.test.ts kills. It appends without end, reports each acknowledged append, and inserts into
 * telemetry through its parent, which is the store.
 */
export interface VictimOptions {
  readonly directory: string;
  readonly address: PostgresAddress;
  readonly account: Account;
  readonly maxSegmentRecords: number;
}

export type FromVictim =
  | { readonly kind: 'acknowledged'; readonly requestId: string; readonly costMicroPkr: string }
  | { readonly kind: 'ship'; readonly number: number; readonly token: string; readonly lines: string[] };

export interface ToVictim {
  readonly stored: number;
}

const APPENDERS = 16;

async function run({ directory, address, account, maxSegmentRecords }: VictimOptions): Promise<void> {
  const database = openDatabase(address, { onError: () => undefined });
  const pending = new Map<number, () => void>();
  let inserts = 0;
  process.on('message', ({ stored }: ToVictim) => pending.get(stored)?.());
  const journal = await openJournal({
    directory,
    database,
    maxSegmentRecords,
    log: pino({ level: 'silent' }),
    ledgerIntervalMs: 1,
    telemetryIntervalMs: 1,
    shipTelemetry: (rows: FinishedRequest[], token: string) => {
      inserts += 1;
      const number = inserts;
      send({ kind: 'ship', number, token, lines: rows.map(encodeLine) });
      return new Promise((resolve) => pending.set(number, resolve));
    },
  });
  const appendWithoutEnd = async (appender: number) => {
    for (let n = appender; ; n += 1) {
      const keyId = account.keyIds[n % account.keyIds.length] ?? '';
      const request = finished(account, { keyId, costMicroPkr: BigInt(n % 5), isHeld: n % 3 === 0 });
      if (request.isHeld) await hold(database, request, 10n);
      await journal.append(request);
      send({
        kind: 'acknowledged',
        requestId: request.requestId,
        costMicroPkr: String(request.costMicroPkr),
      });
    }
  };
  await Promise.all(Array.from({ length: APPENDERS }, (_, appender) => appendWithoutEnd(appender)));
}

function send(message: FromVictim): void {
  process.send?.(message);
}

await run(JSON.parse(process.argv[2] ?? ''));
