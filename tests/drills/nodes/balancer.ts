import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { createCertificate } from '@gatehouse/http/testing';
import type { TlsAddress } from '../../https-client.ts';
import { eventually } from '../../service-process.ts';

export const API_NAME = 'gatehouse.example.com';
export const GATEWAY_NAME = 'gateway.example.com';
export const API_PORT = 8_080;
export const GATEWAY_PORT = 8_081;
/** The balancer's own. */
export const PORT = 8_443;

/** Addresses with ports. */
export interface BalancedNodes {
  readonly apis: readonly string[];
  readonly gateways: readonly string[];
}

/** A program that can be put in front of the nodes. */
export interface BalancerProgram {
  readonly name: string;
  /** The programs that it needs, each with arguments that make it print its version. */
  readonly needs: readonly (readonly [program: string, ...args: string[]])[];
  /** Starts it on the address, with the certificate and its key in these files. */
  start(setting: BalancerSetting): Promise<RunningBalancer>;
}

export interface BalancerSetting {
  /** Its folder. */
  readonly folder: string;
  readonly address: string;
  readonly nodes: BalancedNodes;
  readonly certificateFile: string;
  readonly keyFile: string;
}

export interface RunningBalancer extends AsyncDisposable {
  /** True if it sends requests to the node at this address, with its port. */
  sendsTo(node: string): Promise<boolean>;
  /** Makes it read its configuration again, under load. */
  reload(): Promise<void>;
}

export interface Balancer extends RunningBalancer {
  readonly api: TlsAddress;
  readonly gateway: TlsAddress;
}

/** Why it cannot run here; undefined where it can. */
export function whyNotBalanced({ needs }: BalancerProgram): string | undefined {
  const missing = needs.find(([program, ...args]) => spawnSync(program, args).status !== 0);
  return missing && `${missing[0]} is not installed`;
}

export async function startBalancer(
  program: BalancerProgram,
  setting: Pick<BalancerSetting, 'folder' | 'address' | 'nodes'>,
): Promise<Balancer> {
  const { folder, address } = setting;
  const certificate = createCertificate({ names: [API_NAME, GATEWAY_NAME] });
  const [certificateFile, keyFile] = [join(folder, 'fullchain.pem'), join(folder, 'privkey.pem')];
  await writeFile(certificateFile, certificate.cert);
  await writeFile(keyFile, certificate.key, { mode: 0o600 });
  const running = await program.start({ ...setting, certificateFile, keyFile });
  const at = (name: string): TlsAddress => ({ host: address, port: PORT, name, ca: certificate.cert });
  return {
    api: at(API_NAME),
    gateway: at(GATEWAY_NAME),
    sendsTo: running.sendsTo,
    reload: running.reload,
    [Symbol.asyncDispose]: () => running[Symbol.asyncDispose](),
  };
}

export interface RunningProgram extends AsyncDisposable {
  readonly child: ChildProcess;
}

/** Starts a program that listens on the balancer's port, and waits until it does. */
export async function startListening(
  address: string,
  [program, ...args]: readonly [program: string, ...args: string[]],
  environment: Readonly<Record<string, string>> = {},
): Promise<RunningProgram> {
  const running = startProgram(program, args, environment);
  await eventually(async () => {
    if (running.child.exitCode !== null) throw new Error(`${program} ended: ${running.told()}`);
    return (await isOpen(address)) || undefined;
  });
  return running;
}

export function startProgram(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
) {
  const child: ChildProcess = spawn(program, args, {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
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
