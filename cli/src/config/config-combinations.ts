import { clickhouseIssues } from './clickhouse-issues.ts';
import type { settings, Values } from './config.ts';
import { unchosenIssues } from './exposure-settings.ts';
import { masterKeyIssues, masterKeySettings } from './master-key-settings.ts';
import { signInIssues, signInSettings } from './sign-in-settings.ts';
import { tlsIssues } from './tls-settings.ts';

/**
 * Issues between settings that are accepted each by itself. A setting that is not accepted has an issue of its own, so nothing is concluded
 * from it: `isReadable` says which are.
 */
export function combinationIssues(
  { joinPolicy, signupCreditMicroPkr, trustedProxyHops }: typeof settings,
  values: Partial<Values>,
  isReadable: (key: keyof Values) => boolean,
): string[] {
  const isChosen = (key: keyof Values) => values[key] !== undefined || !isReadable(key);
  const areReadable = (keys: readonly string[]) => keys.every((key) => isReadable(key as keyof Values));
  const issues: string[] = [];
  if (areReadable(['databaseUrl', 'databaseOwnerUrl'])) issues.push(...ownerIssues(values));
  const isEmbedded = values.databaseUrl === undefined;
  if (isReadable('databaseUrl') && !isEmbedded && !isChosen('joinPolicy')) {
    issues.push(
      `${joinPolicy.name} must be chosen with an external DATABASE_URL, because with open anyone who knows an organisation's name can join it; expected ${joinPolicy.expected}`,
    );
  }
  if (isReadable('databaseUrl') && isEmbedded && values.host !== undefined) {
    issues.push(
      ...unchosenIssues(values.host, [
        [joinPolicy, isChosen('joinPolicy'), 'open'],
        [signupCreditMicroPkr, isChosen('signupCreditMicroPkr'), '1000'],
        [trustedProxyHops, isChosen('trustedProxyHops'), '1'],
      ]),
    );
  }
  if (areReadable(Object.keys(masterKeySettings)))
    issues.push(...masterKeyIssues(values, isReadable('databaseUrl') && !isEmbedded));
  if (
    values.databasePooler === 'transaction' &&
    areReadable(['databaseOwnerUrl']) &&
    !values.databaseOwnerUrl
  ) {
    issues.push(
      'DATABASE_POOLER is "transaction" and DATABASE_OWNER_URL is not set; set it to the address of PostgreSQL itself, for migrations',
    );
  }
  if (areReadable(['clickhouseUrl', 'clickhouseOwnerUrl'])) issues.push(...clickhouseIssues(values));
  if (areReadable(Object.keys(signInSettings))) issues.push(...signInIssues(values));
  if (areReadable(['tlsCert', 'tlsKey'])) issues.push(...tlsIssues(values));
  return issues;
}

export function ownerIssues({
  databaseUrl,
  databaseOwnerUrl,
}: Pick<Partial<Values>, 'databaseUrl' | 'databaseOwnerUrl'>): string[] {
  return databaseUrl === undefined && databaseOwnerUrl !== undefined
    ? ['DATABASE_OWNER_URL is set and DATABASE_URL is not; expected both or neither']
    : [];
}
