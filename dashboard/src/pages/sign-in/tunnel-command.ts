/** The ssh command that brings a page's service to `http://localhost:8080` of the person's machine. */
export function tunnelCommand({ hostname, port }: Pick<Location, 'hostname' | 'port'>): string {
  const name = hostname.replace(/^\[(.*)\]$/, '$1');
  // The line is copied into a shell, and a URL may have a host such as `a;b`.
  const machine = /^[a-z0-9][a-z0-9.:-]*$/.test(name) ? name : 'the-machine';
  return `ssh -L 8080:127.0.0.1:${port || '80'} ${machine}`;
}
