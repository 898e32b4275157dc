import { activity } from './activity.ts';
import type { Commands } from './command-line.ts';
import { org } from './org.ts';
import { project } from './project.ts';
import { start } from './start.ts';
import { user } from './user.ts';

/** Every command there is, in the order of the help. */
export const table: Commands = {
  groups: {
    org: 'organisations',
    project: 'projects',
    user: 'accounts',
    activity: 'the activity log',
  },
  commands: [start, ...org, ...project, ...user, ...activity],
};
