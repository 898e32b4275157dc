import { argument, command, flag, ORG, option, requiredOption, YES } from '../terminal/command.ts';

const KEY = argument('KEY', 'the key: its id, or its prefix, as pages and logs show it');

export const key = [
  command({
    name: 'key list',
    summary: 'list the keys of an organisation that are not revoked',
    inputs: { org: ORG },
    examples: ['gatehouse key list Acme'],
    run: async ({ org }, context) => (await import('./key/list.ts')).listOrgKeys(org, context),
  }),
  command({
    name: 'key show',
    summary: 'show one key of any organisation: whose it is, its limits and its spend',
    inputs: { key: KEY },
    examples: ['gatehouse key show sk_svc_4fQz81aB'],
    run: async (args, context) => (await import('./key/show.ts')).showKey(args.key, context),
  }),
  command({
    name: 'key revoke',
    summary: 'revoke one key of any organisation',
    details: [
      'No gateway accepts it from the next request on, nor its previous secret. It cannot be taken back.',
    ],
    inputs: { key: KEY, yes: YES },
    examples: ['gatehouse key revoke sk_svc_4fQz81aB', 'gatehouse key revoke sk_svc_4fQz81aB --yes --json'],
    run: async (args, context) => (await import('./key/revoke.ts')).revokeOneKey(args, context),
  }),
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
