import type { DemoKey } from '@gatehouse/control-plane';
import type { RouteOverview } from '@gatehouse/control-plane/catalogue';

// The projects and keys of the demo. Times are shares of the window: 0 is its start, 1 is now.

export interface PlannedKey extends Omit<DemoKey, 'createdAt' | 'expiresAt' | 'allowedModels'> {
  readonly weight: number;
  readonly madeAt: number;
  readonly expiredAt?: number;
  /** Revoked at the end. */
  readonly isRevoked?: true;
  /** Restricted to two models. */
  readonly isRestricted?: true;
  /** Its credit limit, as a multiple of what it will have spent. */
  readonly limit?: number;
}

export const PROJECTS = ['Customer app', 'Back office'];
const [OWN, APP, OFFICE] = [0, 1, 2];
const BEFORE = -0.04;

export const KEYS: readonly PlannedKey[] = [
  {
    name: 'Chat widget',
    project: APP,
    environment: 'production',
    rateLimitRpm: 120,
    weight: 10,
    madeAt: BEFORE,
    limit: 1.6,
  },
  {
    name: 'Search answers',
    project: APP,
    environment: 'production',
    rateLimitRpm: 120,
    weight: 6,
    madeAt: BEFORE,
  },
  {
    name: 'Mobile app',
    project: APP,
    environment: 'production',
    rateLimitRpm: 60,
    weight: 4,
    madeAt: 0.35,
    limit: 2,
  },
  {
    name: 'Chat widget (staging)',
    project: APP,
    environment: 'development',
    rateLimitRpm: 20,
    weight: 1,
    madeAt: BEFORE,
  },
  { name: 'Load tests', project: APP, environment: 'testing', rateLimitRpm: 10, weight: 1.2, madeAt: 0.5 },
  {
    name: 'Support summaries',
    project: OFFICE,
    environment: 'production',
    rateLimitRpm: 60,
    weight: 3,
    madeAt: BEFORE,
  },
  {
    name: 'Invoice extraction',
    project: OFFICE,
    environment: 'production',
    rateLimitRpm: 60,
    weight: 2.5,
    madeAt: 0.1,
    limit: 1.05,
  },
  {
    name: 'Contract review',
    project: OFFICE,
    environment: 'production',
    rateLimitRpm: 30,
    weight: 1.5,
    madeAt: 0.2,
    isRestricted: true,
  },
  {
    name: 'Monthly report',
    project: OFFICE,
    environment: 'production',
    rateLimitRpm: 60,
    weight: 0.8,
    madeAt: BEFORE,
    expiredAt: 0.8,
  },
  {
    name: 'Back office CI',
    project: OFFICE,
    environment: 'testing',
    rateLimitRpm: 20,
    weight: 0.5,
    madeAt: 0.05,
  },
  {
    name: 'Notebook',
    project: OWN,
    environment: 'development',
    rateLimitRpm: 20,
    weight: 0.8,
    madeAt: BEFORE,
    limit: 1,
  },
  {
    name: 'Old integration',
    project: OWN,
    environment: 'production',
    rateLimitRpm: 60,
    weight: 1,
    madeAt: BEFORE,
    isRevoked: true,
  },
];

/** The key whose secret is printed: not restricted, not expired, with credit. */
export const SHOWN_KEY = 0;

/** The accounts' addresses, which receive no mail. The first is the owner's. */
export function addressesOf(organization: string): [owner: string, ...teammates: string[]] {
  const name = organization
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 40)
    .replaceAll(/^-+|-+$/g, '');
  const domain = `${name === '' ? 'demo' : name}.example`;
  return [`owner@${domain}`, `ayesha@${domain}`, `bilal@${domain}`];
}

/** The two models of a key that is restricted: the most used ones in service. Null where there are not two. */
export function restrictedModels(routes: readonly RouteOverview[]): readonly string[] | null {
  const active = routes.filter(({ isActive, isBuiltIn }) => isActive && !isBuiltIn);
  const [first, second] = active.toSorted((a, b) => popularity(b) - popularity(a));
  return first && second ? [first.id, second.id] : null;
}

/** How often a route is used: cheap ones most; free and inactive ones rarely. */
export function popularity({ targets: [target], isActive, isBuiltIn }: RouteOverview): number {
  const output = target?.output ?? 0;
  if (isBuiltIn || !isActive || output === 0) return 0.15;
  return 1 / (0.4 + output / 1e9);
}
