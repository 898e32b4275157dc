import type { Clock } from '@gatehouse/concurrency';
import type { CloudCredential } from '@gatehouse/contract';
import type { ProxyOf } from '@gatehouse/http/outgoing';
import type { Logger } from 'pino';
import type { Provider } from '../../catalogue/route.ts';
import { upstreamNotConfigured } from '../../errors/upstream-errors.ts';
import { maskKeys } from '../../wire/text.ts';
import { addressOf } from '../address-of.ts';
import type { Upstream } from '../upstream.ts';
import { openAwsKeys, signedHeaders } from './aws.ts';
import { openAzureTokens, type Variable } from './azure.ts';
import { CloudUpstream } from './cloud-upstream.ts';
import { openGoogleTokens } from './google.ts';
import { type Issued, Renewal } from './renewal.ts';

// Each cloud's own code knows where its credentials are; it is loaded when the first request needs one of that kind.

const MAX_REASON_LENGTH = 300;

export interface CloudDependencies {
  readonly variable: Variable;
  readonly proxyOf: ProxyOf;
  readonly clock: Clock;
  readonly log: Pick<Logger, 'error' | 'info'>;
}

/** Credentials that clouds issue for a while, each shared by all requests. */
export interface CloudCredentials {
  /** Renews it where it is time. The promise, which never rejects, is for those who must wait; undefined where there is no need. */
  ready(credential: CloudCredential): Promise<void> | undefined;
  /** The upstream, with the credential on each request. Throws 503 where there is none. */
  authorize(credential: CloudCredential, provider: Provider, upstream: Upstream): Authorized;
}

export interface Authorized {
  readonly upstream: Upstream;
  /** The part of the credential that goes out; undefined where all of it stays here. */
  readonly secret: string | undefined;
}

/** A credential of any kind, as it is used. */
interface Use {
  readonly secret: string | undefined;
  headersFor(
    provider: Provider,
    request: Parameters<Upstream['send']>[0],
  ): Readonly<Record<string, string>> | Promise<Readonly<Record<string, string>>>;
}

export function createCloudCredentials(dependencies: CloudDependencies): CloudCredentials {
  const { clock, log } = dependencies;
  const renewals = new Map<string, Renewal<Use>>();

  const renewalOf = (credential: CloudCredential): Renewal<Use> => {
    const name = JSON.stringify(credential);
    const known = renewals.get(name);
    if (known) return known;
    const { kind } = credential;
    let open: (() => Promise<Issued<Use>>) | undefined;
    const issue = async () => {
      open ??= await opened(credential, dependencies);
      try {
        return await open();
      } catch (error) {
        // The files and variables that it began with may be what is wrong.
        open = undefined;
        throw error;
      }
    };
    const made = new Renewal(issue, clock, {
      onFailing(error) {
        log.error(
          { event: 'provider.credential_failing', kind, reason: reasonOf(error) },
          'the credential of a cloud cannot be had; providers with it answer 503 once it has ended',
        );
      },
      onRecovered: () =>
        log.info(
          { event: 'provider.credential_recovered', kind },
          'the credential of a cloud is renewed again',
        ),
    });
    renewals.set(name, made);
    return made;
  };

  return {
    ready: (credential) => renewalOf(credential).ready(),
    authorize(credential, provider, upstream) {
      const renewal = renewalOf(credential);
      const now = renewal.value;
      if (!now) throw unavailable(credential, provider);
      return {
        secret: now.secret,
        upstream: new CloudUpstream(upstream, (request) => {
          const headersOf = () => {
            const { value } = renewal;
            if (!value) throw unavailable(credential, provider);
            return value.headersFor(provider, request);
          };
          // A request may have waited in a queue since.
          const waiting = renewal.ready();
          return waiting === undefined ? headersOf() : waiting.then(headersOf);
        }),
      };
    },
  };
}

/** The message alone: the errors of the clouds' code hold requests, with what proves who asks. */
function reasonOf(error: unknown): string {
  return maskKeys(error instanceof Error ? error.message : String(error)).slice(0, MAX_REASON_LENGTH);
}

function unavailable({ kind }: CloudCredential, { name }: Provider) {
  return upstreamNotConfigured(
    `This gateway has no credential of the kind ${kind} for the provider ${name} right now: its operator finds the reason in the log.`,
  );
}

async function opened(
  credential: CloudCredential,
  { variable, proxyOf }: CloudDependencies,
): Promise<() => Promise<Issued<Use>>> {
  if (credential.kind === 'aws') {
    const issue = await openAwsKeys(credential, proxyOf);
    return async () => {
      const { value: key, livesMs } = await issue();
      const headersFor: Use['headersFor'] = ({ baseUrl }, { headers, body, ...request }) =>
        signedHeaders(key, credential, { url: addressOf(baseUrl ?? '', request), headers, body });
      return { value: { secret: key.sessionToken, headersFor }, livesMs };
    };
  }
  const issue = await (credential.kind === 'google'
    ? openGoogleTokens(credential, proxyOf)
    : openAzureTokens(credential, variable, proxyOf));
  return async () => {
    const { value: token, livesMs } = await issue();
    const headersFor: Use['headersFor'] = (_provider, { headers }) => ({
      ...headers,
      authorization: `Bearer ${token}`,
    });
    return { value: { secret: token, headersFor }, livesMs };
  };
}
