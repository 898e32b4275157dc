import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type BalancerProgram, PORT, startListening, startProgram } from './balancer.ts';

const page = join(import.meta.dirname, '../../../docs/deployment.md');

/**
 * nginx with the configuration of docs/deployment.md for several nodes, and the script there that asks nodes whether they are ready.
 * Only addresses, folders and the command that reloads nginx differ from the page.
 */
export const nginx: BalancerProgram = {
  name: 'nginx',
  needs: [
    ['nginx', '-v'],
    ['curl', '--version'],
  ],
  async start({ folder, address, nodes, certificateFile }) {
    await using stack = new AsyncDisposableStack();
    const lists = join(folder, 'gatehouse');
    await mkdir(lists, { recursive: true });
    // As the script writes them before any node has answered.
    for (const [part, list] of [
      ['api', nodes.apis],
      ['gateway', nodes.gateways],
    ] as const) {
      await writeFile(join(lists, `${part}.nodes`), list.map((node) => `${node}\n`).join(''));
      await writeFile(
        join(lists, `${part}.servers`),
        list.map((node) => `server ${node} max_fails=0;\n`).join(''),
      );
    }
    const inFolder = (text: string) =>
      text
        .replaceAll('/etc/nginx/gatehouse', lists)
        .replaceAll('/etc/nginx/tls/fullchain.pem', certificateFile)
        .replaceAll('/etc/nginx/tls', folder)
        .replaceAll('listen 443', `listen ${address}:${PORT}`);
    const file = join(folder, 'nginx.conf');
    const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
      (name) => `${name}_temp_path ${join(folder, name)};`,
    );
    await writeFile(
      file,
      `daemon off; worker_processes 2; pid ${join(folder, 'pid')}; error_log ${join(folder, 'error.log')} warn;
events { worker_connections 2048; }
http { access_log off; ${temporary.join(' ')}
${inFolder(await documented('nginx', 'several nodes'))}}
`,
    );
    const { child } = stack.use(
      await startListening(address, ['nginx', '-p', folder, '-e', join(folder, 'error.log'), '-c', file]),
    );
    const script = join(folder, 'gatehouse-balance');
    await writeFile(
      script,
      inFolder(await documented('sh', 'gatehouse-balance')).replace(
        'nginx -s reload',
        `kill -HUP ${child.pid}`,
      ),
    );
    stack.use(startProgram('sh', [script]));
    const servers = async () =>
      (await readFile(join(lists, 'api.servers'), 'utf8')) +
      (await readFile(join(lists, 'gateway.servers'), 'utf8'));
    const open = stack.move();
    return {
      sendsTo: async (node) => (await servers()).includes(`server ${node} max_fails`),
      async reload() {
        child.kill('SIGHUP');
      },
      [Symbol.asyncDispose]: () => open.disposeAsync(),
    };
  },
};

/** The block of the page in this language that has these words in one of its first two lines. */
async function documented(language: string, words: string): Promise<string> {
  const blocks = (await readFile(page, 'utf8')).matchAll(/^```(\w+)\n([\s\S]*?)^```/gm);
  for (const [, of, text = ''] of blocks)
    if (of === language && text.split('\n').slice(0, 2).join().includes(words)) return text;
  throw new Error(`docs/deployment.md has no ${language} block about ${words}`);
}
