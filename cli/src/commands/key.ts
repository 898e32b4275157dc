import { argument, command, flag, ORG, option, requiredOption } from '../terminal/command.ts';

export const key = [
  command({
    name: 'key import',
    summary: 'take over the keys of another gateway, so that no program has to change its key',
    details: [
      'The file is JSON, JSON lines, or CSV with a header. A key keeps its secret: 16 to 255 visible characters in any form. Of a secret in the file only the hash is stored, and it is printed nowhere.',
      'gatehouse: sha256 or secret, name, rate_limit_rpm, credit_limit_pkr, spent_pkr, expires_at, allowed_models. litellm: the columns of its table of tokens. new-api: those of its tokens.',
      'All keys are imported, or none: each fault is named with its line. What was spent elsewhere is taken off the limit. Keys that are blocked or disabled there are left out.',
    ],
    inputs: {
      org: ORG,
      file: argument('FILE', 'what was exported'),
      project: requiredOption('NAME', 'the project of the keys: its id, or its name in any spelling'),
      from: option('litellm|new-api|gatehouse', 'where it comes from; gatehouse unless given'),
      'usd-pkr': option('RATE', 'how many PKR a dollar is; needed where the file has amounts in dollars'),
      'dry-run': flag('look for faults and say what would be imported, and import nothing'),
    },
    examples: [
      'gatehouse key import Acme keys.csv --project Web --dry-run',
      'gatehouse key import Acme tokens.json --project Web --from litellm --usd-pkr 281.50',
    ],
    run: async (args, context) => (await import('./key/import.ts')).importKeyFile(args, context),
  }),
];
