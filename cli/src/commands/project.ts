import { command, ORG, requiredOption } from './command.ts';

export const project = [
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
];
