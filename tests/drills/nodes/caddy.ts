import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { API_NAME, type BalancerProgram, GATEWAY_NAME, PORT, startListening } from './balancer.ts';

const ADMIN_PORT = 2_019;
const CADDYFILE = join(import.meta.dirname, '../../../deploy/compose/Caddyfile');

/** Caddy with the Caddyfile of the containers. Only addresses differ, and the certificate, which is made here. */
export const caddy: BalancerProgram = {
  name: 'Caddy',
  needs: [['caddy', 'version']],
  async start({ folder, address, nodes, certificateFile, keyFile }) {
    const admin = `${address}:${ADMIN_PORT}`;
    const sites = (await readFile(CADDYFILE, 'utf8'))
      .replace('api-1:8080 api-2:8080', nodes.apis.join(' '))
      .replace('gateway-1:8081 gateway-2:8081', nodes.gateways.join(' '))
      .replaceAll(
        /^(\{\$\w+\}) \{$/gm,
        `$1:${PORT} {\n\tbind ${address}\n\ttls ${certificateFile} ${keyFile}`,
      );
    const file = join(folder, 'Caddyfile');
    await writeFile(file, `{\n\tadmin ${admin}\n\tauto_https disable_redirects\n}\n${sites}`);
    const environment = { GATEHOUSE_HOST: API_NAME, GATEWAY_HOST: GATEWAY_NAME, HOME: folder };
    const running = await startListening(
      address,
      ['caddy', 'run', '--config', file, '--adapter', 'caddyfile'],
      environment,
    );
    return {
      async sendsTo(node) {
        const metrics = await fetch(`http://${admin}/metrics`);
        return (await metrics.text()).includes(`caddy_reverse_proxy_upstreams_healthy{upstream="${node}"} 1`);
      },
      async reload() {
        const args = ['--config', file, '--adapter', 'caddyfile', '--address', admin, '--force'];
        await promisify(execFile)('caddy', ['reload', ...args], { env: { ...process.env, ...environment } });
      },
      [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
    };
  },
};
