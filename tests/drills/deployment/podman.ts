import { execFile, spawn } from 'node:child_process';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';

// A container engine of its own, whose images, containers and volumes are in one folder that is removed. The base images are made here,
// of Debian's packages and the Node of package-lock.json, so that none is pulled from anywhere.

export const run = promisify(execFile);
export const ROOT = join(import.meta.dirname, '../../..');
const MAX_OUTPUT = 64 * 1024 * 1024;
const PROGRAMS = ['podman', 'runc', 'debootstrap', 'npm', 'git', 'tar'];

/** Why no container can be run here; undefined where one can. */
export async function whyNoContainers(): Promise<string | undefined> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'it needs Linux, and to be root';
  for (const name of PROGRAMS) {
    if (!(await isInstalled(name)))
      return `${name} is not installed (apt-get install podman runc debootstrap)`;
  }
  return undefined;
}

export async function isInstalled(program: string): Promise<boolean> {
  return run('sh', ['-c', `command -v ${program}`]).then(
    () => true,
    () => false,
  );
}

export interface Engine extends AsyncDisposable {
  /** Its folder, for files that containers are given. */
  readonly directory: string;
  /** The first arguments of each command of podman. */
  readonly arguments: readonly string[];
  podman(...args: readonly string[]): Promise<string>;
  /** Runs a command until it ends; resolves with its exit code. */
  start(args: readonly string[], onLine: (line: string) => void): { readonly ended: Promise<number | null> };
}

export async function openEngine(): Promise<Engine> {
  const directory = await mkdtemp(join(tmpdir(), 'gatehouse-deployment-'));
  // The servers of a drill run as users of their own.
  await chmod(directory, 0o755);
  const own = [
    ...['--root', join(directory, 'storage'), '--runroot', join(directory, 'run')],
    ...['--tmpdir', join(directory, 'tmp'), '--runtime', 'runc', '--cgroup-manager', 'cgroupfs'],
    ...['--network-config-dir', join(directory, 'networks')],
  ];
  const podman = async (...args: readonly string[]) =>
    (await run('podman', [...own, ...args], { maxBuffer: MAX_OUTPUT })).stdout.trim();
  return {
    directory,
    arguments: own,
    podman,
    start(args, onLine) {
      const child = spawn('podman', [...own, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
      for (const stream of [child.stdout, child.stderr])
        stream.setEncoding('utf8').on('data', (text: string) => {
          for (const line of text.split('\n')) if (line !== '') onLine(line);
        });
      const { promise, resolve } = Promise.withResolvers<number | null>();
      child.on('close', resolve);
      return { ended: promise };
    },
    async [Symbol.asyncDispose]() {
      await podman('rm', '--all', '--force').catch(() => undefined);
      // Not `podman system reset`, which removes the machine's own networks too. The engine mounts its layers on themselves.
      await run('umount', [join(directory, 'storage/overlay')]).catch(() => undefined);
      await rm(directory, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

const DEBIAN = 'docker.io/library/debian:bookworm-slim';

/** Makes debian:bookworm-slim and node:24-bookworm-slim as the Dockerfile names them. */
export async function makeBaseImages(engine: Engine): Promise<void> {
  await importDebian(engine, DEBIAN);
  await addNode(engine, DEBIAN, 'docker.io/library/node:24-bookworm-slim');
}

/** Makes gatehouse-systemd: Debian with systemd, Node and npm. */
export async function makeSystemdImage(engine: Engine): Promise<void> {
  await importDebian(engine, 'debian-systemd', 'systemd,systemd-sysv,dbus');
  await addNode(engine, 'debian-systemd', 'gatehouse-systemd');
}

/** Makes an image of Debian with these packages, which have commas between them. */
export async function importDebian(
  { directory, podman }: Engine,
  image: string,
  packages = '',
): Promise<void> {
  const debian = join(directory, 'debian');
  const include = packages === '' ? [] : [`--include=${packages}`];
  await run('debootstrap', ['--variant=minbase', ...include, 'bookworm', debian], { maxBuffer: MAX_OUTPUT });
  await rm(join(debian, 'var/cache/apt'), { recursive: true, force: true });
  const archive = join(directory, 'debian.tar');
  await run('tar', ['-C', debian, '-cf', archive, '.']);
  await podman('import', '--quiet', archive, image);
  await Promise.all([archive, debian].map((path) => rm(path, { recursive: true })));
}

/** Adds this Node, and an npm. */
async function addNode({ directory, podman }: Engine, from: string, image: string): Promise<void> {
  const node = join(directory, 'node');
  await mkdir(join(node, 'usr/local/lib/node_modules/npm'), { recursive: true });
  await mkdir(join(node, 'usr/local/bin'));
  await run('npm', ['pack', 'npm@11', '--silent'], { cwd: node });
  await run(
    'sh',
    ['-c', 'tar -xzf npm-*.tgz --strip-components=1 -C usr/local/lib/node_modules/npm && rm npm-*.tgz'],
    { cwd: node },
  );
  await cp(process.execPath, join(node, 'usr/local/bin/node'));
  await symlink('../lib/node_modules/npm/bin/npm-cli.js', join(node, 'usr/local/bin/npm'));
  await writeFile(join(node, 'Dockerfile'), `FROM ${from}\nCOPY usr /usr\n`);
  await podman('build', '--isolation=chroot', '--quiet', '--tag', image, node);
  await rm(node, { recursive: true });
}

/** Builds the image of what is committed, as docs/deployment.md has it, unless it is there. */
export async function buildImage({ directory, podman }: Engine): Promise<void> {
  if ((await podman('images', '--quiet', 'gatehouse')) !== '') return;
  const source = await cloneSource(directory);
  await cp(join(source, 'deploy/docker/Dockerfile.dockerignore'), join(source, '.dockerignore'));
  await podman(
    ...[
      'build',
      '--isolation=chroot',
      '--network=host',
      '--quiet',
      '--format=docker',
      ...(await npmArguments()),
    ],
    ...['--file', join(source, 'deploy/docker/Dockerfile'), '--tag', 'gatehouse', source],
  );
  await rm(source, { recursive: true });
}

/** Clones what is committed into a folder of its own. */
export async function cloneSource(directory: string): Promise<string> {
  const source = await mkdtemp(join(directory, 'source-'));
  await run('git', ['clone', '--quiet', '--depth=1', `file://${ROOT}`, source]);
  return source;
}

/** By which npm in a container has the settings that it has here. */
export async function npmArguments(): Promise<string[]> {
  const { stdout } = await run('npm', ['config', 'get', 'userconfig'], { cwd: ROOT });
  const certificates = process.env['NODE_EXTRA_CA_CERTS'];
  return [
    ...(await mounted(stdout.trim(), '/root/.npmrc')),
    ...(certificates === undefined
      ? []
      : [
          ...(await mounted(certificates, '/certificates.pem')),
          ...['--env', 'NODE_EXTRA_CA_CERTS=/certificates.pem'],
        ]),
  ];
}

const USER = '65532:65532';
/** Limits that a machine without rights of its own can give. */
export const ULIMITS = { nofile: 16_384, nproc: 4_096 };
export const LIMITS = Object.entries(ULIMITS).flatMap(([name, most]) => [
  '--ulimit',
  `${name}=${most}:${most}`,
]);

/** The arguments of `podman run` of docs/deployment.md: no rights. */
export function runArguments(service?: {
  readonly name: string;
  readonly secrets: string;
  readonly environment: Readonly<Record<string, string>>;
}): string[] {
  const rights = ['--user', USER, '--cap-drop=all', '--security-opt', 'no-new-privileges', ...LIMITS];
  if (service === undefined) return rights;
  const { name, secrets, environment } = service;
  return [
    ...['--name', name, '--rm', ...rights, '--read-only', '--tmpfs', '/tmp'],
    ...['--volume', `${name}:/data`, '--volume', `${secrets}:/secrets:ro`],
    ...['--network=host', '--stop-timeout', '75'],
    ...Object.entries(environment).flatMap(([key, value]) => ['--env', `${key}=${value}`]),
  ];
}

async function mounted(path: string, inside: string): Promise<string[]> {
  return readFile(path).then(
    () => ['--volume', `${path}:${inside}:ro`],
    () => [],
  );
}
