import type { Endpoint } from './endpoint.ts';

/** The description of each section of the API. */
export const SECTIONS: Readonly<Record<Endpoint['section'], string>> = {
  service: 'The service itself.',
  auth: 'Accounts and their sessions.',
  organization: 'The organisation, its members and its projects.',
  catalogue: 'The routes that a gateway request can name as its model.',
  keys: 'Gateway keys and their limits.',
  limits: 'Limits of what may be spent in a window of the calendar.',
  alerts: 'Messages about money and keys, and the places that they are sent to.',
  vault: 'The organisation’s own provider keys.',
  analytics: 'Figures and rows of the requests through the gateway.',
  activity: 'The log of administrative changes.',
};

/** The sections of the endpoints, in order of appearance. */
export function sectionsOf(endpoints: readonly Endpoint[]): Endpoint['section'][] {
  return [...new Set(endpoints.map((endpoint) => endpoint.section))];
}
