import { argument, command, flag } from '../terminal/command.ts';

const ID = argument('ID', 'the route, exactly as the catalogue names it');

export const route = [
  command({
    name: 'route list',
    summary: 'list every route with its provider and its prices',
    inputs: {},
    examples: [
      'gatehouse route list',
      `gatehouse route list --json | jq -r '.routes[] | select(.active).id'`,
    ],
    run: async (_args, context) => (await import('./route/list.ts')).listCatalogue(context),
  }),
  command({
    name: 'route apply',
    summary: 'make a file the catalogue',
    details: [
      'Routes of the file are added or changed, and routes that it does not name become inactive; all of it at once, or, where the file has a mistake, nothing. It holds from the next request on, on every gateway; requests in flight finish as they began.',
      'Every mistake of the file is named, with its line and column.',
    ],
    inputs: {
      file: argument('FILE', 'the catalogue, as YAML; docs/catalogue.md says what it holds'),
      'dry-run': flag('say what would change, and change nothing'),
    },
    examples: ['gatehouse route apply catalogue.yaml --dry-run', 'gatehouse route apply catalogue.yaml'],
    run: async ({ file, 'dry-run': dryRun }, context) =>
      (await import('./route/apply.ts')).applyFile(file, dryRun !== undefined, context),
  }),
  command({
    name: 'route enable',
    summary: 'put a route in service',
    inputs: { id: ID },
    examples: ['gatehouse route enable mistral/mistral-small-latest'],
    run: async ({ id }, context) => (await import('./route/switch.ts')).setRoute(id, true, context),
  }),
  command({
    name: 'route disable',
    summary: 'take a route out of service',
    details: ['Requests in flight finish. The next one for it is answered 404.'],
    inputs: { id: ID },
    examples: ['gatehouse route disable openai/gpt-5-mini'],
    run: async ({ id }, context) => (await import('./route/switch.ts')).setRoute(id, false, context),
  }),
];
