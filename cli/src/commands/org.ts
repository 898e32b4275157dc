import { argument, command, flag, ORG, option, requiredOption, YES } from '../terminal/command.ts';

export const org = [
  command({
    name: 'org list',
    summary: 'list every organisation with its members and its money',
    inputs: {},
    examples: ['gatehouse org list', `gatehouse org list --json | jq -r '.organizations[].name'`],
    run: async (_args, context) => (await import('./org/list.ts')).listOrgs(context),
  }),
  command({
    name: 'org show',
    summary: 'show one organisation: projects, money, deposits, retention',
    inputs: { org: ORG },
    examples: ['gatehouse org show Acme', 'gatehouse org show 3f2b8c1e-5d47-4a6b-9c0d-7e8f9a0b1c2d --json'],
    run: async ({ org }, context) => (await import('./org/show.ts')).showOrg(org, context),
  }),
  command({
    name: 'org create',
    summary: 'make an organisation and print its id',
    details: [
      'It has a first project, no credit and no accounts: gatehouse user create makes its owner, and gatehouse org deposit adds credit.',
    ],
    inputs: { name: argument('NAME', 'a name that no other organisation has, of 1 to 255 characters') },
    examples: ['gatehouse org create Acme'],
    run: async (args, context) => (await import('./org/create.ts')).createOrg(args, context),
  }),
  command({
    name: 'org rename',
    summary: 'give an organisation another name',
    inputs: { org: ORG, name: requiredOption('NAME', 'a name that no other organisation has') },
    examples: [`gatehouse org rename Acme --name 'Acme Foods'`],
    run: async (args, context) => (await import('./org/rename.ts')).renameOrg(args, context),
  }),
  command({
    name: 'org delete',
    summary: 'delete an organisation for good: its accounts, keys, vault and credit',
    details: [
      'It is gone from the next request on. Its activity log and its request log stay for their retention, and its deposits and its spend for ever; credit that nothing holds is taken back. The name is free.',
    ],
    inputs: { org: ORG, yes: YES },
    examples: ['gatehouse org delete Acme', 'gatehouse org delete Acme --yes'],
    run: async (args, context) => (await import('./org/delete.ts')).deleteOrg(args, context),
  }),
  command({
    name: 'org deposit',
    summary: 'add credit to an organisation',
    details: [
      'The deposit counts from the next request on and stands in the activity log. gatehouse org withdraw takes back what was a mistake.',
    ],
    inputs: {
      org: ORG,
      pkr: requiredOption('AMOUNT', 'PKR above 0, with at most 6 decimals'),
      note: option('TEXT', 'what it is for, 500 characters at most; shown by gatehouse org show only'),
      yes: flag('do not ask, as is done for more than 1000000 PKR'),
    },
    examples: [
      'gatehouse org deposit Acme --pkr 2500.50',
      `gatehouse org deposit 'Acme Foods' --pkr 100000 --note 'invoice 1182'`,
    ],
    run: async (args, context) => (await import('./org/deposit.ts')).depositForOrg(args, context),
  }),
  command({
    name: 'org withdraw',
    summary: 'take credit back from an organisation',
    details: [
      'For a deposit that was a mistake: a counter-entry, which stands in the activity log as a deposit below 0. It cannot take what is spent, what requests in flight hold, or what the limits of the keys add up to.',
    ],
    inputs: {
      org: ORG,
      pkr: requiredOption('AMOUNT', 'PKR above 0, with at most 6 decimals'),
      note: option('TEXT', 'what it is for, 500 characters at most; shown by gatehouse org show only'),
    },
    examples: [`gatehouse org withdraw Acme --pkr 500 --note 'invoice 1182 was for 2000.50'`],
    run: async (args, context) => (await import('./org/withdraw.ts')).withdrawFromOrg(args, context),
  }),
  command({
    name: 'org retention',
    summary: 'set how long the activity log of an organisation is kept',
    inputs: {
      org: ORG,
      days: requiredOption('N', 'days from 1 to 36500, or default: as long as all others'),
    },
    examples: ['gatehouse org retention Acme --days 730', 'gatehouse org retention Acme --days default'],
    run: async (args, context) => (await import('./org/retention.ts')).setOrgRetention(args, context),
  }),
];
