import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createCertificate } from '@gatehouse/http/testing';
import type { TlsAddress } from '../../https-client.ts';
import { eventually } from '../../service-process.ts';

// nginx with the configuration of docs/deployment.md for several nodes, and the script there that asks nodes whether they are
// ready. Only addresses, folders and the command that reloads nginx differ from the page.

export const API_NAME = 'gatehouse.example.com';
export const GATEWAY_NAME = 'gateway.example.com';
export const API_PORT = 8_080;
export const GATEWAY_PORT = 8_081;
const PORT = 8_443;
const page = join(import.meta.dirname, '../../../docs/deployment.md');

/** Why it cannot run here; undefined where it can. */
export function withoutBalancer(): string | undefined {
  for (const [program, argument] of [
    ['nginx', '-v'],
    ['curl', '--version'],
  ] as const)
    if (spawnSync(program, [argument]).status !== 0) return `${program} is not installed`;
  return undefined;
}

export interface Balancer extends AsyncDisposable {
  readonly api: TlsAddress;
  readonly gateway: TlsAddress;
  /** The lines that nginx includes now. */
  servers(): Promise<string>;
}

/** The nodes are addresses with ports. */
export async function startBalancer(
  directory: string,
  address: string,
  nodes: { readonly apis: readonly string[]; readonly gateways: readonly string[] },
): Promise<Balancer> {
  await using stack = new AsyncDisposableStack();
  const folder = join(directory, 'nginx');
  const lists = join(folder, 'gatehouse');
  await mkdir(lists, { recursive: true });
  const certificate = createCertificate({ names: [API_NAME, GATEWAY_NAME] });
  await writeFile(join(folder, 'fullchain.pem'), certificate.cert);
  await writeFile(join(folder, 'privkey.pem'), certificate.key, { mode: 0o600 });
  await writeFile(join(lists, 'api.nodes'), nodes.apis.map((node) => `${node}\n`).join(''));
  await writeFile(join(lists, 'gateway.nodes'), nodes.gateways.map((node) => `${node}\n`).join(''));
  // As the script writes them before any node has answered.
  for (const [part, list] of [
    ['api', nodes.apis],
    ['gateway', nodes.gateways],
  ] as const)
    await writeFile(
      join(lists, `${part}.servers`),
      list.map((node) => `server ${node} max_fails=0;\n`).join(''),
    );

  const inFolder = (text: string) =>
    text
      .replaceAll('/etc/nginx/gatehouse', lists)
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
  const nginx = stack.use(startProgram('nginx', ['-p', folder, '-e', join(folder, 'error.log'), '-c', file]));
  await eventually(async () => {
    if (nginx.child.exitCode !== null) throw new Error(`nginx ended: ${nginx.told()}`);
    return (await isOpen(address)) || undefined;
  });
  const script = join(folder, 'gatehouse-balance');
  const reload = `kill -HUP ${nginx.child.pid}`;
  await writeFile(
    script,
    inFolder(await documented('sh', 'gatehouse-balance')).replace('nginx -s reload', reload),
  );
  stack.use(startProgram('sh', [script]));

  const at = (name: string): TlsAddress => ({ host: address, port: PORT, name, ca: certificate.cert });
  const servers = async () =>
    (await readFile(join(lists, 'api.servers'), 'utf8')) +
    (await readFile(join(lists, 'gateway.servers'), 'utf8'));
  const open = stack.move();
  return {
    api: at(API_NAME),
    gateway: at(GATEWAY_NAME),
    servers,
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

/** The block of the page in this language that has these words in one of its first two lines. */
async function documented(language: string, words: string): Promise<string> {
  const blocks = (await readFile(page, 'utf8')).matchAll(/^```(\w+)\n([\s\S]*?)^```/gm);
  for (const [, of, text = ''] of blocks)
    if (of === language && text.split('\n').slice(0, 2).join().includes(words)) return text;
  throw new Error(`docs/deployment.md has no ${language} block about ${words}`);
}

function startProgram(program: string, args: readonly string[]) {
  const child: ChildProcess = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] });
  const ended = once(child, 'exit');
  let told = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    told = (told + chunk).slice(-10_000);
  });
  return {
    child,
    told: () => told,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM');
      await ended;
    },
  };
}

async function isOpen(address: string): Promise<boolean> {
  const socket = connect(PORT, address);
  const isOpen = await new Promise<boolean>((resolve) => {
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
  });
  socket.destroy();
  return isOpen;
}
