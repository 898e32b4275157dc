/** The address of a listener, as a person or a program on this machine can use it. */
export function addressOf(
  { host, tlsCert }: { readonly host: string; readonly tlsCert?: string | undefined },
  port: number,
): string {
  const scheme = tlsCert === undefined ? 'http' : 'https';
  return `${scheme}://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** True if a listener on this host takes connections to every address, so that the host is no address to connect to. */
export function isEveryAddress(host: string): boolean {
  return /^[0.:]+$/.test(host.replace(/^::ffff:/i, ''));
}

/** The address where clients reach the gateway: as set, or that of its listener if it has one. */
export function gatewayUrl(
  config: {
    readonly host: string;
    readonly tlsCert?: string | undefined;
    readonly publicGatewayUrl: string | undefined;
  },
  port: number | undefined,
): string | undefined {
  if (config.publicGatewayUrl !== undefined) return config.publicGatewayUrl;
  return port === undefined || isEveryAddress(config.host) ? undefined : addressOf(config, port);
}
