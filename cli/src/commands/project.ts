import { argument, command, ORG, requiredOption } from '../terminal/command.ts';

export const project = [
  command({
    name: 'project list',
    summary: 'list the projects of an organisation',
    inputs: { org: ORG },
    examples: ['gatehouse project list Acme'],
    run: async ({ org }, context) => (await import('./project/list.ts')).listOrgProjects(org, context),
  }),
  command({
    name: 'project rename',
    summary: 'give a project another name',
    inputs: {
      org: ORG,
      project: argument('PROJECT', 'the project: its id, or its name in any spelling'),
      name: requiredOption('NAME', 'one line of 1 to 255 characters, as no other project there is called'),
    },
    examples: ['gatehouse project rename Acme Mobile --name Apps'],
    run: async (args, context) => (await import('./project/rename.ts')).renameOrgProject(args, context),
  }),
  command({
    name: 'project create',
    summary: 'add a project to an organisation and print its id',
    inputs: {
      org: ORG,
      name: requiredOption(
        'NAME',
        'one line of 1 to 255 characters, as no other project of the organisation is called',
      ),
    },
    examples: ['gatehouse project create Acme --name Mobile'],
    run: async (args, context) => (await import('./project/create.ts')).createOrgProject(args, context),
  }),
  command({
    name: 'project byok-fallback',
    summary: "say whether the platform's keys may stand in for an organisation's own",
    details: [
      "A request for a provider whose key the organisation has stored goes out with that key, and fails when that key fails. With the fallback on, it may then go out with the platform's keys, and is paid from the organisation's balance at the full price.",
      'It holds from the next request on, and stands in the activity log.',
    ],
    inputs: {
      org: ORG,
      project: argument('PROJECT', 'the project: its id, or its name in any spelling'),
      state: argument('on|off', 'whether they may'),
    },
    examples: [
      'gatehouse project byok-fallback Acme Mobile on',
      'gatehouse project byok-fallback Acme Mobile off',
    ],
    run: async (args, context) => (await import('./project/byok-fallback.ts')).setByokFallback(args, context),
  }),
];
