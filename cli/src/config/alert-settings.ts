import type { SmtpSettings } from '@gatehouse/control-plane';
import { isHttpAddress } from './addresses.ts';
import { hostNames } from './hosts.ts';
import { address, setting } from './setting.ts';

const ADDRESS = /^[^\s@<>"]+@[^\s@<>"]+$/;

export const alertSettings = {
  alertWebhookHosts: setting(
    'ALERT_WEBHOOK_HOSTS',
    'Hosts that alerts may go to by http or at private addresses; others need https and public addresses.',
    {
      expected: 'host names or addresses, with a port or without, separated by commas',
      fallback: new Set<string>() as ReadonlySet<string>,
      fallbackText: 'none',
      parse: (text) => {
        const hosts = text.split(',').map((one) => one.trim().toLowerCase());
        return hosts.every(isHostWithPort) ? new Set(hosts) : undefined;
      },
    },
  ),
  smtpUrl: setting(
    'SMTP_URL',
    'The mail server of alerts by e-mail: smtp://user:password@host:587, or smtps:// where TLS begins at once.',
    {
      ...address((text) => isHttpAddress(text.replace(/^smtp/i, 'http')), 'smtp://', 'smtps://'),
      fallback: undefined as string | undefined,
      fallbackText: 'no e-mail is sent',
    },
  ),
  smtpFrom: setting('SMTP_FROM', 'The sender of e-mails.', {
    expected: 'an e-mail address',
    fallback: undefined as string | undefined,
    fallbackText: 'the user of SMTP_URL if it is an address, or gatehouse@ its host',
    parse: (text) => (ADDRESS.test(text) ? text : undefined),
  }),
};

function isHostWithPort(text: string): boolean {
  const [, host = '', port] = /^(\[[^\]]*\]|[^:]*)(?::(\d{1,5}))?$/.exec(text) ?? [];
  const names = host === '' ? undefined : hostNames(host);
  return (
    names !== undefined &&
    names !== '*' &&
    (port === undefined || (Number(port) > 0 && Number(port) < 65_536))
  );
}

/** The mail server of these settings; undefined where none is set. */
export function smtpSettings({
  smtpUrl: url,
  smtpFrom,
}: {
  readonly smtpUrl: string | undefined;
  readonly smtpFrom: string | undefined;
}): SmtpSettings | undefined {
  if (url === undefined) return undefined;
  const { username, hostname } = new URL(url.replace(/^smtp/i, 'http'));
  const user = decodeURIComponent(username);
  return { url, from: smtpFrom ?? (ADDRESS.test(user) ? user : `gatehouse@${hostname}`) };
}
