import { path, setting } from './setting.ts';

const none = { ...path, fallback: undefined as string | undefined } as const;

export const tlsSettings = {
  tlsCert: setting(
    'TLS_CERT',
    'The file with the certificate of both listeners and its intermediates, PEM. With it both speak HTTPS only. A changed file is used within ten seconds.',
    { ...none, fallbackText: 'HTTP' },
  ),
  tlsKey: setting('TLS_KEY', 'The file with its private key, PEM, without a passphrase.', {
    ...none,
    fallbackText: 'must be set with TLS_CERT',
  }),
};

/** One of the two without the other. */
export function tlsIssues({
  tlsCert,
  tlsKey,
}: {
  readonly tlsCert?: string | undefined;
  readonly tlsKey?: string | undefined;
}): string[] {
  if ((tlsCert === undefined) === (tlsKey === undefined)) return [];
  const [set, missing] = tlsCert === undefined ? ['TLS_KEY', 'TLS_CERT'] : ['TLS_CERT', 'TLS_KEY'];
  return [`${set} is set and ${missing} is not; expected both or neither`];
}
