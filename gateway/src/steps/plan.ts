import type { Credential, Provider, Target } from '../catalogue/route.ts';
import type { Context } from '../context/context.ts';
import type { Dependencies } from '../context/dependencies.ts';
import { GatewayError, invalidRequest } from '../errors/gateway-error.ts';
import { upstreamNotConfigured } from '../errors/upstream-errors.ts';
import type { Exchange } from '../exchange/exchange.ts';
import { chooseSurface } from '../formats/choose-surface.ts';
import { openVaultKey } from '../providers/open-vault-key.ts';
import { type Candidate, NO_CREDENTIAL, OWN_CREDENTIAL } from '../routing/candidate.ts';
import { inOrder } from '../routing/choose.ts';
import { sessionOf } from '../routing/session-key.ts';

type Needs = Pick<Context, 'key' | 'route' | 'endpoint' | 'call'>;
/** The ways to providers, and the platform's own credentials. */
export type Reaching = Pick<Dependencies, 'upstreams' | 'cloud' | 'platformKey'>;
type Using = Reaching & Pick<Dependencies, 'keyRing' | 'log' | 'routing'>;

/**
 * The targets that may be tried, each with its credential, in order.
 *
 * Where the organisation has stored its own key for a provider of the route, only such targets are tried, with that key.
 * Platform capacity follows only where the project may fall back to it. Guarded by byok.http.test.ts.
 *
 * A target that cannot serve the request is left out. Where none is left, the first one's error is thrown: 400 if the
 * provider has no surface for the endpoint, 503 if it is not configured here, or if the organisation's key cannot be had.
 */
export function plan(
  context: Needs,
  exchange: Pick<Exchange, 'id' | 'request'>,
  dependencies: Using,
): Planned | Promise<Planned> {
  const { key, route } = context;
  const errors: GatewayError[] = [];
  const isOwn = route.vaultRecords.size > 0;
  const plan = (own: readonly Candidate[][]) => {
    const others = isOwn && !key.byokFallback ? [] : [platformGroup(context, dependencies, errors)];
    return planned([...own, ...others], errors, context, exchange, dependencies);
  };
  // Only opening a stored key has to wait, and a credential that a cloud has not issued yet.
  const issued = isOwn && !key.byokFallback ? undefined : cloudCredentials(route, dependencies);
  if (!isOwn) return issued === undefined ? plan([]) : issued.then(() => plan([]));
  const own = ownGroup(context, exchange, dependencies, errors);
  return Promise.all([own, issued]).then(([group]) => plan([group]));
}

/** The credentials of clouds that targets of the route need; undefined where there is nothing to wait for. */
export function cloudCredentials(
  { targets }: Pick<Needs['route'], 'targets'>,
  { cloud }: Pick<Reaching, 'cloud'>,
): Promise<unknown> | undefined {
  let all: Promise<unknown> | undefined;
  for (const { provider } of targets) {
    const { credential } = provider.flags;
    const issued = credential ? cloud.ready(credential) : undefined;
    if (issued !== undefined) all = all === undefined ? issued : Promise.all([all, issued]);
  }
  return all;
}

type Planned = Pick<Context, 'candidates' | 'chosen'>;

function planned(
  groups: readonly Candidate[][],
  errors: readonly GatewayError[],
  ...[context, exchange, dependencies]: [Needs, Pick<Exchange, 'request'>, Using]
): Planned {
  const candidates = ordered(groups, context, exchange, dependencies);
  const [first] = candidates;
  if (!first) throw errors[0] ?? new Error(`the route ${context.route.id} has no targets`);
  return { candidates, chosen: first };
}

async function ownGroup(
  context: Needs,
  exchange: Pick<Exchange, 'id'>,
  dependencies: Using,
  errors: GatewayError[],
): Promise<Candidate[]> {
  const { targets, vaultRecords } = context.route;
  const group: Candidate[] = [];
  for (const target of targets) {
    if (!vaultRecords.has(target.provider.name)) continue;
    const found = ownCandidates(target, context, exchange, dependencies);
    group.push(...(await found.catch((error: unknown) => leaveOut(error, errors))));
  }
  return group;
}

function platformGroup(context: Needs, dependencies: Using, errors: GatewayError[]): Candidate[] {
  return context.route.targets.flatMap((target) => {
    try {
      return platformCandidates(target, context, dependencies);
    } catch (error) {
      return leaveOut(error, errors);
    }
  });
}

function leaveOut(error: unknown, errors: GatewayError[]): [] {
  if (!(error instanceof GatewayError)) throw error;
  errors.push(error);
  return [];
}

async function ownCandidates(
  target: Target,
  context: Needs,
  { id }: Pick<Exchange, 'id'>,
  dependencies: Using,
): Promise<Candidate[]> {
  const reached = reach(target, context, dependencies);
  const { name: provider } = target.provider;
  const record = context.route.vaultRecords.get(provider);
  if (!record) throw new Error('a target without a key of the organisation');
  const owner = `${record.organizationId} ${record.version}`;
  return [
    {
      ...reached,
      ...named(target, OWN_CREDENTIAL, owner, reached, context),
      weight: target.weight,
      credential: undefined,
      isByok: true,
      apiKey: await openVaultKey(id, record, dependencies),
    },
  ];
}

/** A target with each of the platform's credentials for it. Throws 503 where there is none, 400 for an endpoint that it cannot serve. */
export function platformCandidates(target: Target, context: Needs, dependencies: Reaching): Candidate[] {
  const reached = reach(target, context, dependencies);
  const { provider } = target;
  const { credential: issued } = provider.flags;
  if (issued) {
    const { upstream, secret } = dependencies.cloud.authorize(issued, provider, reached.upstream);
    const name = named(target, issued.kind, null, reached, context);
    const use = { credential: undefined, isByok: false, apiKey: secret, weight: target.weight };
    return [{ ...reached, upstream, ...name, ...use }];
  }
  if (provider.credentials.length === 0) {
    const keyless = { credential: undefined, isByok: false, apiKey: undefined, weight: target.weight };
    return [{ ...reached, ...named(target, NO_CREDENTIAL, null, reached, context), ...keyless }];
  }
  const withKeys = provider.credentials.flatMap((credential) => {
    const apiKey = dependencies.platformKey(credential.apiKeyEnv);
    return apiKey === undefined || apiKey === '' ? [] : [{ credential, apiKey }];
  });
  if (withKeys.length === 0) throw withoutKey(provider);
  // The target's share is divided among its credentials, however many they are.
  const sum = withKeys.reduce((all, { credential }) => all + credential.weight, 0);
  return withKeys.map(({ credential, apiKey }) => ({
    ...reached,
    ...named(target, credential.name, null, reached, context),
    weight: (target.weight * credential.weight) / sum,
    credential,
    isByok: false,
    apiKey,
  }));
}

/** The surface and address of the provider. */
function reach(
  { provider }: Target,
  { route, endpoint, call }: Needs,
  { upstreams }: Pick<Reaching, 'upstreams'>,
): Pick<Candidate, 'surface' | 'upstream'> {
  const surface = chooseSurface(endpoint, provider.surfaces, call);
  if (!surface) {
    throw invalidRequest(
      `The provider of the model ${route.id} has only ${[...provider.surfaces.keys()].join(', ')}, which cannot serve this endpoint.`,
      'model',
    );
  }
  const upstream = upstreams.find(provider);
  if (!upstream) {
    throw upstreamNotConfigured(
      `The provider ${provider.name} has no usable base_url or certificate files in this gateway's catalogue.`,
    );
  }
  return { surface, upstream };
}

function named(
  target: Target,
  credential: Credential['name'],
  owner: string | null,
  { surface }: Pick<Candidate, 'surface'>,
  { key: { organizationId } }: Needs,
) {
  const { provider, upstreamModel, priority } = target;
  return {
    target,
    priority,
    name: `${provider.name}\n${upstreamModel}\n${credential}`,
    upstreamName: { provider: provider.name, upstreamModel, surface, credential, owner, organizationId },
  };
}

function withoutKey({ name, credentials }: Provider): GatewayError {
  const variables = credentials.map(({ apiKeyEnv }) => apiKeyEnv).join(' or ');
  return upstreamNotConfigured(
    `This gateway has no key for the provider ${name}: its operator must set ${variables}.`,
  );
}

/** A response that a provider stores goes on where it was made; what else belongs together stays together. */
function ordered(
  groups: readonly Candidate[][],
  { key: { id: keyId, organizationId }, endpoint, call: { members } }: Needs,
  { request }: Pick<Exchange, 'request'>,
  { routing }: Using,
): Candidate[] {
  const all = groups.flat();
  if (all.length < 2) return all;
  const maker = routing.makers.find(organizationId, members.get('previous_response_id'));
  const made = all.filter(
    ({ upstreamName: { provider, credential } }) =>
      provider === maker?.provider && credential === maker.credential,
  );
  const session = sessionOf({ organizationId, keyId, endpoint }, request.headers, members);
  const preference = { session, random: routing.random };
  if (made.length > 0) return inOrder(made, preference);
  return groups.flatMap((group) => inOrder(group, preference));
}
