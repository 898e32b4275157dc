import { command, option } from '../terminal/command.ts';

export const vault = [
  command({
    name: 'vault rotate',
    summary: 'put everything in the vault under a new master key, while the service runs',
    details: [
      'An installation that keeps its own master key in DATA_DIR gets a new one there. Elsewhere, set GATEHOUSE_NEW_MASTER_KEY (or its _FILE or _COMMAND) for every process first and restart them; they then have both keys.',
      'Cut off at any point, it is finished by running it again. The exit code is 1 when a record could not be put under the new key.',
    ],
    inputs: {
      'new-key-file': option(
        'FILE',
        'the new master key, instead of the one in GATEHOUSE_NEW_MASTER_KEY or a new one',
      ),
    },
    examples: ['gatehouse vault rotate', 'gatehouse vault rotate --new-key-file /run/secrets/new-master-key'],
    run: async (args, context) =>
      (await import('./vault/rotate.ts')).rotateMasterKey(args['new-key-file'], context),
  }),
];
