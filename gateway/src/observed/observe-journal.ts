import { journalMetrics, type Metrics } from '@gatehouse/observability';
import type { JournalStats, OpenJournal, SinkStats } from '../journal/journal.ts';
import type { Sink } from '../journal/segment.ts';

const SINKS: readonly Sink[] = ['ledger', 'telemetry'];

/** Reports at each scrape what the journal has and what its sinks lack. */
export function observeJournal(metrics: Metrics, journal: Pick<OpenJournal, 'stats' | 'hasRoom'>): void {
  const ofSinks = (declaration: typeof journalMetrics.pendingRecords, read: (stats: SinkStats) => number) =>
    metrics.observe(declaration, (report) => {
      const { sinks } = journal.stats();
      for (const sink of SINKS) report(read(sinks[sink]), sink);
    });
  const total = (declaration: typeof journalMetrics.appended, read: (stats: JournalStats) => number) =>
    metrics.observe(declaration, (report) => report(read(journal.stats())));

  ofSinks(journalMetrics.pendingRecords, ({ records }) => records);
  ofSinks(journalMetrics.pendingBytes, ({ bytes }) => bytes);
  ofSinks(journalMetrics.pendingSegments, ({ segments }) => segments);
  ofSinks(journalMetrics.oldestSeconds, ({ oldestMs }) => oldestMs / 1_000);
  ofSinks(journalMetrics.failing, ({ isFailing }) => Number(isFailing));
  metrics.observe(journalMetrics.shipmentFailures, (report) => {
    const { sinks } = journal.stats();
    for (const sink of SINKS) report(sinks[sink].failures, sink);
  });
  total(journalMetrics.appended, ({ appended }) => appended);
  total(journalMetrics.appendFailures, ({ appendFailures }) => appendFailures);
  total(journalMetrics.deadLetters, ({ deadLetters }) => deadLetters);
  metrics.observe(journalMetrics.unreadable, (report) => report(journal.stats().unreadable));
  metrics.observe(journalMetrics.hasRoom, (report) => report(Number(journal.hasRoom)));
}
