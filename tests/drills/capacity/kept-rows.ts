// The rows that each table of PostgreSQL keeps, how long, and what ends them. docs/scaling.md has it as a table, and a test
// compares both with the schema, so a new table cannot be left out. The soak expects of each table what is said here.

/** The cause of a table's growth. */
export type Growth =
  /** Rows come and go: in a steady state the table keeps its size. */
  | 'requests in flight'
  | 'requests of some hours'
  | 'sign-ins of a time'
  | 'changes of a day'
  /** Rows stay for long or for ever, and their number follows something else than requests. */
  | 'segments of journals'
  | 'keys'
  | 'changes'
  | 'organisations'
  | 'deposits'
  | 'catalogue'
  | 'provider keys'
  | 'gateway processes'
  | 'releases'
  | 'weeks';

export interface KeptTable {
  readonly table: string;
  /** A row is one of these. */
  readonly row: string;
  /** Rows of a request with a cost. */
  readonly perRequest: '1' | '0' | 'its part of a segment';
  readonly kept: string;
  /** The job or event that removes the rows; empty if nothing does. */
  readonly endedBy: string;
  readonly growth: Growth;
}

const kept = (
  table: string,
  row: string,
  growth: Growth,
  keptFor: string,
  endedBy = '',
  perRequest: KeptTable['perRequest'] = '0',
): KeptTable => ({ table, row, perRequest, kept: keptFor, endedBy, growth });

const EXPIRED = 'job `expired_rows`';
const LEDGER = 'job `ledger_partitions`';

export const KEPT_TABLES: readonly KeptTable[] = [
  kept(
    'holds',
    'a request in flight, or finished and not settled yet',
    'requests in flight',
    'until it is settled, some 0.2 s after its end',
    'the settlement; the reaper after its deadline',
    '1',
  ),
  kept('previous_secrets', 'a rotated key', 'keys', 'until its grace ends, at most a week', EXPIRED),
  kept('spend_limits', 'a spend limit, at most 200 of an organisation', 'changes', 'until it is deleted'),
  kept(
    'spend_windows',
    'a window of a spend limit, or one of 10,000 values in it',
    'changes of a day',
    'a day after its end; a lifetime until its limit is deleted',
    EXPIRED,
  ),
  kept('alert_channels', 'an alert channel, at most 10 of an organisation', 'changes', 'until it is deleted'),
  kept(
    'alert_deliveries',
    'an alert to a channel, at most 1,000 an hour',
    'changes of a day',
    'a week',
    EXPIRED,
  ),
  kept('settlements', 'a request with a cost', 'requests of some hours', '6 to 7 hours', LEDGER, '1'),
  kept(
    'journal_positions',
    'a segment of a journal',
    'segments of journals',
    '100 days',
    LEDGER,
    'its part of a segment',
  ),
  kept('settlement_totals', 'a key that was charged', 'keys', 'for ever'),
  kept('settlement_horizon', 'one row', 'releases', 'for ever'),
  kept('balances', 'an organisation', 'organisations', 'for ever'),
  kept('deposits', 'a deposit', 'deposits', 'for ever'),
  kept('api_keys', 'a key, also a revoked one', 'keys', 'for ever'),
  kept('idempotency_keys', 'a key minted with an Idempotency-Key', 'changes of a day', '24 hours', EXPIRED),
  kept(
    'activity_events',
    'a change',
    'changes',
    "the organisation's retention, 365 days by default",
    'job `activity_retention`',
  ),
  kept('activity_heads', 'an organisation', 'organisations', 'for ever'),
  kept('activity_checkpoints', 'a run of the retention that removed entries', 'changes', 'for ever'),
  kept(
    'sessions',
    'a session',
    'sign-ins of a time',
    '7 days after its last renewal, or until it ends',
    EXPIRED,
  ),
  kept('access_tokens', 'a renewal of a session', 'sign-ins of a time', '15 minutes', EXPIRED),
  kept('failed_sign_ins', 'a wrong password', 'sign-ins of a time', '15 minutes', EXPIRED),
  kept(
    'registration_attempts',
    'a registration from another machine',
    'sign-ins of a time',
    'an hour',
    'the next registration',
  ),
  kept(
    'used_google_credentials',
    'a sign-in with Google or by OpenID Connect',
    'sign-ins of a time',
    'an hour; a day for OpenID Connect',
    EXPIRED,
  ),
  kept('user_identities', 'an account that signs in by OpenID Connect', 'organisations', 'as its account'),
  kept('organizations', 'an organisation', 'organisations', 'for ever'),
  kept('users', 'an account', 'organisations', 'for ever'),
  kept('projects', 'a project', 'organisations', 'for ever'),
  kept(
    'vault_keys',
    "an organisation's key of a provider",
    'provider keys',
    'until it is deleted',
    'its owner',
  ),
  kept('vault_revisions', 'an organisation with provider keys', 'organisations', 'for ever'),
  kept('vault_wraps', 'a master key of such an organisation', 'organisations', 'for ever'),
  kept('vault_master_keys', 'a master key', 'releases', 'for ever'),
  kept('providers', 'a provider of the catalogue', 'catalogue', 'for ever'),
  kept(
    'provider_credentials',
    'a credential of a provider',
    'catalogue',
    'until the catalogue leaves it out',
  ),
  kept('routes', 'a route', 'catalogue', 'for ever'),
  kept('route_aliases', 'an alias', 'catalogue', 'until the catalogue leaves it out'),
  kept('route_targets', 'a target of a route', 'catalogue', 'until the catalogue leaves it out'),
  kept('catalogue_version', 'one row', 'releases', 'for ever'),
  kept(
    'upstream_states',
    'an upstream whose breaker changed',
    'gateway processes',
    'until its gateway process is gone',
    EXPIRED,
  ),
  kept('kept_items', 'an item of a translated response', 'requests of some hours', 'an hour', EXPIRED),
  kept('schema_migrations', 'a migration', 'releases', 'for ever'),
  kept('schema_files', 'a function of the schema', 'releases', 'for ever'),
];
