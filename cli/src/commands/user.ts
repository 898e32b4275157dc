import { argument, command, EMAIL, flag, ORG, option, requiredOption, YES } from '../terminal/command.ts';

export const user = [
  command({
    name: 'user list',
    summary: 'list the accounts of an organisation',
    inputs: { org: ORG },
    examples: ['gatehouse user list Acme'],
    run: async ({ org }, context) => (await import('./user/list.ts')).listUsers(org, context),
  }),
  command({
    name: 'user create',
    summary: 'make an account in an organisation',
    details: [
      'The password is the first line of standard input; at a terminal it is asked for twice and not shown. With --no-password the account signs in with Google or single sign-on.',
    ],
    inputs: {
      email: EMAIL,
      org: requiredOption('ORG', 'the organisation: its id, or its name in any spelling'),
      role: option('ROLE', 'owner, admin or member; member unless given'),
      'no-password': flag('give it no password'),
    },
    examples: [
      'gatehouse user create ada@example.com --org Acme --role owner < password.txt',
      'gatehouse user create grace@example.com --org Acme --no-password',
    ],
    run: async (args, context) => (await import('./user/create.ts')).createUser(args, context),
  }),
  command({
    name: 'user set-role',
    summary: 'make an account owner, admin or member of its organisation',
    details: [
      'It holds from the next request on. It says when the organisation has no active owner any more.',
    ],
    inputs: { email: EMAIL, role: argument('ROLE', 'owner, admin or member') },
    examples: ['gatehouse user set-role ada@example.com owner'],
    run: async (args, context) => (await import('./user/set-role.ts')).setUserRole(args, context),
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
