import { readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { type BalancerProgram, PORT, startListening } from './balancer.ts';

const PLAIN_PORT = 8_480;
const CONFIGURATION = join(import.meta.dirname, '../../../deploy/haproxy/haproxy.cfg');

/** HAProxy with deploy/haproxy/haproxy.cfg. Only addresses and folders differ. */
export const haproxy: BalancerProgram = {
  name: 'HAProxy',
  needs: [['haproxy', '-v']],
  async start({ folder, address, nodes, certificateFile, keyFile }) {
    const pem = join(folder, 'site.pem');
    await writeFile(pem, (await readFile(certificateFile, 'utf8')) + (await readFile(keyFile, 'utf8')), {
      mode: 0o600,
    });
    const admin = join(folder, 'admin.sock');
    const text = (await readFile(CONFIGURATION, 'utf8'))
      .replaceAll('/run/haproxy/admin.sock', admin)
      .replaceAll('/etc/haproxy/tls/', pem)
      .replaceAll('bind :443', `bind ${address}:${PORT}`)
      .replaceAll('bind :80', `bind ${address}:${PLAIN_PORT}`)
      .replaceAll(/10\.0\.3\.1(\d):\d+/g, (documented, number) => {
        const all = [...nodes.apis, ...nodes.gateways];
        return all[Number(number) - 1] ?? documented;
      });
    const file = join(folder, 'haproxy.cfg');
    await writeFile(file, text);
    const running = await startListening(address, ['haproxy', '-W', '-f', file]);
    return {
      async sendsTo(node) {
        const servers = (await ask(admin, 'show servers state')).split('\n').map((line) => line.split(' '));
        // Its columns: 3 is the name, 4 the address, 5 the operational state (2: running), 18 the port.
        return servers.some((columns) => `${columns[4]}:${columns[18]}` === node && columns[5] === '2');
      },
      async reload() {
        running.child.kill('SIGUSR2');
      },
      [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
    };
  },
};

async function ask(socketPath: string, command: string): Promise<string> {
  const socket = connect(socketPath);
  socket.end(`${command}\n`);
  return text(socket);
}
