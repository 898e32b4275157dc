import type { Commands } from '../terminal/command-line.ts';
import { account } from './account.ts';
import { activity } from './activity.ts';
import { backup } from './backup.ts';
import { completion } from './completion.ts';
import { connect } from './connect.ts';
import { demo } from './demo.ts';
import { doctor } from './doctor.ts';
import { key } from './key.ts';
import { migrate } from './migrate.ts';
import { org } from './org.ts';
import { project } from './project.ts';
import { provider } from './provider.ts';
import { restore } from './restore.ts';
import { route } from './route.ts';
import { size } from './size.ts';
import { start } from './start.ts';
import { user } from './user.ts';
import { vault } from './vault.ts';

/** Every command there is, in the order of the help. */
export const table: Commands = {
  groups: {
    org: 'organisations',
    project: 'projects',
    key: 'gateway keys',
    user: 'accounts',
    route: 'the catalogue of routes',
    provider: 'the providers of the catalogue',
    vault: 'the keys for providers',
    activity: 'the activity log',
    account: 'what an account does, from anywhere',
  },
  commands: [
    start,
    demo,
    connect,
    ...org,
    ...project,
    ...key,
    ...user,
    ...route,
    ...provider,
    ...vault,
    ...activity,
    ...account,
    completion,
    doctor,
    size,
    migrate,
    backup,
    restore,
  ],
};
