import { command, option, optionalArgument } from '../terminal/command.ts';

export const backup = command({
  name: 'backup',
  summary: 'copy everything while the service runs',
  details: [
    'The copy is one snapshot of PostgreSQL, of the request log and of the journal together. DIR appears complete or not at all. It does NOT hold the master key: keep DATA_DIR/master.key (or what GATEHOUSE_MASTER_KEY says) somewhere else, because without it the stored provider keys cannot be read.',
    'A restored backup knows nothing of keys that were revoked after it was made. Note them often with --revoked-keys, and give the newest note to gatehouse restore.',
    'For the embedded stores; docs/backup.md says how to back up a PostgreSQL and a ClickHouse of your own.',
  ],
  inputs: {
    dir: optionalArgument('DIR', 'a directory that is empty or does not exist yet'),
    'revoked-keys': option('FILE', 'write the ids of all revoked keys to this file (replacing it)'),
  },
  examples: [
    'gatehouse backup /backups/2026-11-20',
    'gatehouse backup --revoked-keys /elsewhere/revoked-keys.json',
  ],
  run: async (args, context) => (await import('./backup/make.ts')).makeBackup(args, context),
});
