import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '@gatehouse/http/testing';
import { accepts, type StartedProgram, startProgram } from './started-program.ts';

// Debian's nginx with a configuration of its own, with one worker per processor: as a provider that answers at once, and as
// the proxy that the gateways are measured beside.

export interface StartedNginx extends StartedProgram {
  /** One per server, in their order. */
  readonly ports: readonly number[];
}

const ANSWER = JSON.stringify({
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hello there.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 },
});

/** A provider whose JSON answer is in nginx's configuration. */
export const startJsonProvider = (directory: string) =>
  startNginx(join(directory, 'provider'), [
    `location / { default_type application/json; return 200 '${ANSWER}'; }`,
  ]);

/** A proxy of each of the ports: connections to them are kept, and nothing is buffered. */
export const startProxy = (directory: string, upstreams: readonly number[]) =>
  startNginx(
    join(directory, 'proxy'),
    upstreams.map(
      (_, index) => `location / {
        proxy_pass http://upstream${index};
        proxy_http_version 1.1;
        proxy_set_header Connection "";
        proxy_buffering off;
        proxy_read_timeout 3600s;
      }`,
    ),
    upstreams
      .map(
        (port, index) =>
          `upstream upstream${index} { server 127.0.0.1:${port}; keepalive 512; keepalive_requests 1000000000; }`,
      )
      .join('\n'),
  );

async function startNginx(
  directory: string,
  locations: readonly string[],
  upstreams = '',
): Promise<StartedNginx> {
  await mkdir(directory);
  const ports: number[] = [];
  for (const _ of locations) ports.push(await freePort());
  const servers = locations.map(
    (location, index) => `server {
      listen 127.0.0.1:${ports[index]} backlog=4096;
      keepalive_requests 1000000000;
      keepalive_timeout 3600s;
      ${location}
    }`,
  );
  const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
    .map((name) => `${name}_temp_path ${directory}/${name};`)
    .join(' ');
  await writeFile(
    join(directory, 'nginx.conf'),
    `daemon off;
    ${process.getuid?.() === 0 ? 'user root;' : ''}
    worker_processes auto;
    worker_rlimit_nofile 16384;
    pid ${directory}/pid;
    error_log ${directory}/error.log;
    events { worker_connections 8192; }
    http { access_log off; ${temporary}
    ${upstreams}
    ${servers.join('\n')} }`,
  );
  const started = await startProgram({
    command: 'nginx',
    args: ['-e', join(directory, 'error.log'), '-c', join(directory, 'nginx.conf')],
    outputFile: join(directory, 'output'),
    isReady: () => accepts(ports[0] ?? 0),
  });
  return { ...started, ports };
}
