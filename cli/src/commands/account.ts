import {
  argument,
  command,
  flag,
  option,
  optionalArgument,
  requiredOption,
  YES,
} from '../terminal/command.ts';

const KEY = argument('KEY', 'the key: its id, or its prefix as the list shows it');

export const account = [
  command({
    name: 'account login',
    summary: 'sign in, for the commands of this group',
    details: [
      'The password is asked for, or comes from standard input (--password-stdin) or GATEHOUSE_PASSWORD; never from an argument. The session is kept in the configuration folder of this user, readable by nobody else, for seven days.',
    ],
    inputs: {
      url: option('URL', 'the service, http://localhost:8080 unless given'),
      email: option('EMAIL', 'the address of the account; GATEHOUSE_EMAIL unless given'),
      'password-stdin': flag('read the password from the first line of standard input'),
    },
    examples: [
      'gatehouse account login --email ada@example.com',
      'gatehouse account login --url https://gatehouse.example.com --email ada@example.com --password-stdin < password',
    ],
    run: async (args, context) => (await import('./account/login.ts')).signIn(args, context),
  }),
  command({
    name: 'account logout',
    summary: 'end the session',
    inputs: {},
    examples: ['gatehouse account logout'],
    run: async (_args, context) => (await import('./account/login.ts')).signOut(context),
  }),
  command({
    name: 'account whoami',
    summary: 'say who is signed in, and where',
    inputs: {},
    examples: ['gatehouse account whoami'],
    run: async (_args, context) => (await import('./account/login.ts')).whoAmI(context),
  }),
  command({
    name: 'account keys',
    summary: 'list the keys of the organisation, or show one of them',
    details: [
      'Of a rotated key it says until when the previous secret is accepted, and when that was used last.',
    ],
    inputs: { key: optionalArgument('KEY', 'one key: its id, or its prefix as the list shows it') },
    examples: [
      'gatehouse account keys',
      'gatehouse account keys sk_svc_4fQz81aB',
      "gatehouse account keys --json | jq -r '.keys[].key_prefix'",
    ],
    run: async ({ key }, context) => {
      const { listKeys, showKey } = await import('./account/keys.ts');
      return key === undefined ? listKeys(context) : showKey(key, context);
    },
  }),
  command({
    name: 'account create-key',
    summary: 'mint a key and print its secret, which is shown this once',
    inputs: {
      name: requiredOption('NAME', 'what it is for'),
      project: option('PROJECT', 'its project, by id or name; needed where there are several'),
      'credit-pkr': option(
        'AMOUNT',
        'its lifetime credit in PKR, with at most 6 decimals; no limit unless given',
      ),
      'expires-at': option('TIME', 'when it ends, such as 2026-12-31T00:00:00Z; never unless given'),
    },
    examples: [
      'gatehouse account create-key --name backend',
      'gatehouse account create-key --name trial --credit-pkr 250 --expires-at 2026-12-31T00:00:00Z',
    ],
    run: async (args, context) => (await import('./account/keys.ts')).createKey(args, context),
  }),
  command({
    name: 'account rotate-key',
    summary: 'give a key a new secret and print it, which is shown this once',
    inputs: {
      key: KEY,
      'grace-seconds': option(
        'N',
        'how long the present secret is accepted too: 0 to 604800, a day unless given',
      ),
    },
    examples: [
      'gatehouse account rotate-key sk_svc_4fT9aQ2z',
      'gatehouse account rotate-key sk_svc_4fT9aQ2z --grace-seconds 0',
    ],
    run: async (args, context) => (await import('./account/keys.ts')).rotateKey(args, context),
  }),
  command({
    name: 'account revoke-key',
    summary: 'end a key, for ever',
    inputs: { key: KEY, yes: YES },
    examples: ['gatehouse account revoke-key sk_svc_4fT9aQ2z --yes'],
    run: async (args, context) => (await import('./account/keys.ts')).revokeKey(args, context),
  }),
  command({
    name: 'account requests',
    summary: 'list the newest requests, and go on with those that come',
    jsonMeaning: 'print a JSON object a line instead of text',
    inputs: {
      follow: flag('print new requests as they are recorded, until it is interrupted'),
      limit: option('N', 'how many of the newest: 1 to 200, 20 unless given'),
    },
    examples: ['gatehouse account requests', 'gatehouse account requests --follow'],
    run: async (args, context) => (await import('./account/requests.ts')).listRequests(args, context),
  }),
  command({
    name: 'account spend',
    summary: 'say what was spent, and by what',
    inputs: {
      by: option('model|key|project|member', 'the groups; model unless given'),
      range: option('RANGE', 'how far back, such as 24h or 7d; 30d unless given'),
    },
    examples: ['gatehouse account spend', 'gatehouse account spend --by member --range 7d'],
    run: async (args, context) => (await import('./account/figures.ts')).showSpend(args, context),
  }),
  command({
    name: 'account limits',
    summary: 'list the spend limits, with what is spent of them',
    inputs: {},
    examples: ['gatehouse account limits'],
    run: async (_args, context) => (await import('./account/figures.ts')).listLimits(context),
  }),
  command({
    name: 'account activity',
    summary: 'list the newest entries of the activity log',
    inputs: { limit: option('N', 'how many: 1 to 200, 20 unless given') },
    examples: ['gatehouse account activity'],
    run: async (args, context) => (await import('./account/figures.ts')).listActivity(args, context),
  }),
];
