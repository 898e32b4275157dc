import { command, EMAIL, ORG, YES } from '../terminal/command.ts';

export const user = [
  command({
    name: 'user list',
    summary: 'list the accounts of an organisation',
    inputs: { org: ORG },
    examples: ['gatehouse user list Acme'],
    run: async ({ org }, context) => (await import('./user/list.ts')).listUsers(org, context),
  }),
  command({
    name: 'user deactivate',
    summary: 'shut an account out: its sessions end at once and it cannot sign in',
    details: ['It keeps its place in the organisation, and gateway keys that it minted go on working.'],
    inputs: { email: EMAIL },
    examples: ['gatehouse user deactivate ada@example.com'],
    run: async ({ email }, context) => (await import('./user/deactivate.ts')).deactivateUser(email, context),
  }),
  command({
    name: 'user activate',
    summary: 'let a deactivated account sign in again',
    inputs: { email: EMAIL },
    examples: ['gatehouse user activate ada@example.com'],
    run: async ({ email }, context) => (await import('./user/activate.ts')).activateUser(email, context),
  }),
  command({
    name: 'user delete',
    summary: 'remove an account for good',
    details: [
      'Its sessions end at once, and the activity log names nobody for what it did; the entries stay. Gateway keys that it minted go on working. The address is free to register again.',
    ],
    inputs: { email: EMAIL, yes: YES },
    examples: ['gatehouse user delete ada@example.com', 'gatehouse user delete ada@example.com --yes'],
    run: async (args, context) => (await import('./user/delete.ts')).deleteUser(args, context),
  }),
  command({
    name: 'user set-password',
    summary: 'give an account a new password and end its sessions',
    details: [
      'The password is the first line of standard input; at a terminal it is asked for twice and not shown. An account that signs in with Google has both ways from then on.',
    ],
    inputs: { email: EMAIL },
    examples: [
      'gatehouse user set-password ada@example.com',
      'gatehouse user set-password ada@example.com < new-password.txt',
    ],
    run: async ({ email }, context) =>
      (await import('./user/set-password.ts')).setUserPassword(email, context),
  }),
];
