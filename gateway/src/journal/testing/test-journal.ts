import type { Database } from '@gatehouse/store';
import type { JournalOptions, OpenJournal } from '../journal.ts';
import { openJournal } from '../open-journal.ts';
import {
  type Account,
  type Books,
  books,
  createAccount,
  gated,
  type LogLine,
  memoryLog,
  quick,
  TestTelemetrySink,
  temporaryDirectory,
} from './fixtures.ts';

export interface TestJournal extends AsyncDisposable {
  readonly journal: OpenJournal;
  readonly directory: string;
  readonly account: Account;
  readonly sink: TestTelemetrySink;
  /** The journal's database, which a test can make unavailable. */
  readonly gate: { isOpen: boolean };
  readonly lines: readonly LogLine[];
  events(): [level: string, event: string][];
  books(): Promise<Books>;
  /** Another journal of the same directory, account and sink, with both stores available unless the options say otherwise. */
  reopen(options?: Partial<JournalOptions>): Promise<OpenJournal>;
}

interface TestJournalOptions extends Partial<JournalOptions> {
  /** From the start, until the test sets `sink.failure` or `gate.isOpen`. */
  readonly isTelemetryUnavailable?: boolean;
  readonly isDatabaseUnavailable?: boolean;
}

/** A journal in a directory of its own unless one is given, with an account of its own. All end when it is disposed. */
export async function openTestJournal(
  database: Database,
  { isTelemetryUnavailable = false, isDatabaseUnavailable = false, ...options }: TestJournalOptions = {},
): Promise<TestJournal> {
  const stack = new AsyncDisposableStack();
  const directory = options.directory ?? stack.use(await temporaryDirectory()).path;
  const account = await createAccount(database);
  const sink = new TestTelemetrySink();
  if (isTelemetryUnavailable) sink.failure = new Error('no telemetry');
  const gate = gated(database);
  gate.isOpen = !isDatabaseUnavailable;
  const { log, lines, events } = memoryLog();
  const common = { ...quick, directory, shipTelemetry: sink.ship };
  const journal = stack.use(await openJournal({ ...common, database: gate, log, ...options }));
  return {
    journal,
    directory,
    account,
    sink,
    gate,
    lines,
    events,
    books: () => books(database, account),
    async reopen(again = {}) {
      sink.failure = undefined;
      return stack.use(await openJournal({ ...common, database, log: memoryLog().log, ...again }));
    },
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
