import { argument, command, flag, option, requiredOption } from '../terminal/command.ts';

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
    name: 'route import',
    summary: "print a catalogue made of another gateway's configuration",
    details: [
      'Providers, models, other names and prices are taken over; prices in dollars become PKR at the rate that you give. Where the file has no price, the one that the provider publishes is taken; a model without a known price is inactive.',
      'Nothing is applied: look at what is printed, then use gatehouse route apply.',
    ],
    inputs: {
      from: argument('litellm', 'what the file is of'),
      file: argument('FILE', 'its configuration, such as config.yaml'),
      'usd-pkr': requiredOption('RATE', 'how many PKR a dollar is'),
    },
    examples: ['gatehouse route import litellm config.yaml --usd-pkr 281.50 > catalogue.yaml'],
    run: async (args, context) => (await import('./route/import-litellm.ts')).importRoutes(args, context),
  }),
  command({
    name: 'route prices',
    summary: 'compare the prices of a catalogue with those that providers publish',
    details: [
      'A list that is installed with Gatehouse has the public prices, and says from which page; no address is asked. A model that is not in it is named, not guessed. Nothing is changed.',
    ],
    inputs: {
      file: argument('FILE', 'the catalogue, as YAML'),
      'usd-pkr': option('RATE', 'how many PKR a dollar is; without it, public prices are in dollars'),
    },
    examples: ['gatehouse route prices catalogue.yaml --usd-pkr 281.50'],
    run: async ({ file, 'usd-pkr': rate }, context) =>
      (await import('./route/prices.ts')).comparePrices(file, rate, context),
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
