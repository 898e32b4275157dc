export { JournalCopy } from './copy-journal.ts';
export { type FinishedRequest, finishRequest, type TerminationReason } from './finished-request.ts';
export type { Journal, JournalOptions, JournalStats, OpenJournal } from './journal.ts';
export { openJournal } from './open-journal.ts';
export { type Settlement, settle } from './settle.ts';
export { telemetryFor } from './telemetry.ts';
export { listUnreadableJournals } from './unreadable.ts';
