import { argument, command, option } from '../terminal/command.ts';

export const restore = command({
  name: 'restore',
  summary: 'put a backup back, and verify it',
  details: [
    'Every file is checked before anything is written, then the activity log and the ledger are verified, and only then does DATA_DIR get what was restored. DATA_DIR may hold nothing but master.key.',
    'Keys that were revoked after the backup was made are valid again, unless --revoked-keys names them.',
  ],
  inputs: {
    dir: argument('DIR', 'what gatehouse backup has made'),
    'revoked-keys': option('FILE', 'what gatehouse backup --revoked-keys wrote; its keys are revoked again'),
  },
  examples: [
    'DATA_DIR=/var/lib/gatehouse gatehouse restore /backups/2026-11-20',
    'gatehouse restore /backups/2026-11-20 --revoked-keys /elsewhere/revoked-keys.json',
  ],
  run: async (args, context) => (await import('./restore/restore.ts')).restoreBackup(args, context),
});
