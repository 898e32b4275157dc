import type { Secret } from '@gatehouse/contract';
import type { ProxyOf } from '@gatehouse/http/outgoing';
import type { HttpSettings } from './http/server.ts';

export type { GatewayAddress } from './http/gateway-address.ts';

/** The accounts that may join an existing organisation by registering with its name. */
export type JoinPolicy = 'open' | 'same-domain' | 'closed';

/** Whose ID tokens sign in, and for which client. */
export interface GoogleSettings {
  readonly clientId: string;
  /** The issuer's address: https, or http on this machine. */
  readonly issuer: string;
}

/** The OpenID issuer whose accounts sign in here, and what becomes of them. */
export interface OidcSettings {
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly clientSecret: Secret | undefined;
  /** The issuer's address: https, or http on this machine. */
  readonly issuer: string;
  /** The text of the button on the sign-in page. */
  readonly label: string;
  /** The domains, in lower case, of the addresses that may sign in; undefined where all may. */
  readonly domains: ReadonlySet<string> | undefined;
  /** The name of the organisation that new accounts join. It is made where it does not exist. */
  readonly organization: string;
}

/** The mail server, and the address that its mails come from. */
export interface SmtpSettings {
  readonly url: string;
  readonly from: string;
}

/** The places that alerts may be sent to. */
export interface AlertSettings {
  /** `host` or `host:port`, in lower case: these may be private, and are reached by http too. */
  readonly webhookHosts: ReadonlySet<string>;
  /** Undefined where no e-mail is sent. */
  readonly smtp: SmtpSettings | undefined;
}

/** The operator's settings of the control plane. The caller reads them from the environment. */
export interface ControlPlaneSettings extends HttpSettings {
  readonly joinPolicy: JoinPolicy;
  /** Deposited for each new organisation; 0 deposits nothing. */
  readonly signupCreditMicroPkr: bigint;
  /** Undefined when sign-in with Google is disabled. */
  readonly google: GoogleSettings | undefined;
  /** Undefined where no OpenID issuer is configured. */
  readonly oidc: OidcSettings | undefined;
  /** False where accounts are neither registered nor signed in with a password. */
  readonly passwordSignIn: boolean;
  /** Failed sign-ins of one address within `signInWindowSeconds` before it is rate limited. */
  readonly signInAttempts: number;
  readonly signInWindowSeconds: number;
  /** Registration attempts per hour, of one network and in total, before further ones are rate limited. */
  readonly registrationsPerNetwork: number;
  readonly registrationsPerHour: number;
  /** How many keys that are not revoked an organisation may have. */
  readonly keysPerOrganization: number;
  /** The highest `rate_limit_rpm` a key may have. */
  readonly rateLimitCeilingRpm: number;
  /** How long an analytics query may take. */
  readonly analyticsTimeoutMs: number;
  readonly alerts: AlertSettings;
  /** The proxies to issuers and receivers of alerts; none unless given. */
  readonly proxyOf?: ProxyOf;
}
