import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Kind } from './options.ts';
import { runProgram, WRK_SCRIPT } from './tools.ts';

/** The target of a load, and its requests. */
export interface Subject {
  readonly name: string;
  readonly ports: Readonly<Record<Kind, number>>;
  readonly headers: Readonly<Record<string, string>>;
  /** The model of its requests. */
  readonly models: Readonly<Record<Kind, string>>;
  /** The process whose CPU time is measured, with its descendants. */
  readonly pid?: number;
}

/** The output of a load generator; times in microseconds. */
export interface LoadResult {
  /** Answers within the time. */
  readonly answers: number;
  /** Requests with another status than 200. */
  readonly failed: number;
  /** Connections that were refused, reset or timed out. */
  readonly cut: number;
  readonly seconds: number;
  readonly p50: number;
  readonly p99: number;
  /** Streams only: all answers, with those that ended after the time. */
  readonly whole?: number;
  readonly firstP50?: number;
  readonly firstP99?: number;
  readonly events?: number;
  readonly eventP50?: number;
  readonly eventP99?: number;
}

const SLACK_MS = 30_000;

/** The bytes of the request, in a file that both load generators send. */
export async function writeRequest(
  directory: string,
  subject: Subject,
  kind: Kind,
  { maxTokens = 64, isStream = kind === 'sse' } = {},
): Promise<string> {
  const body = JSON.stringify({
    model: subject.models[kind],
    max_tokens: maxTokens,
    messages: [{ role: 'user', content: 'Hello' }],
    ...(isStream ? { stream: true, stream_options: { include_usage: true } } : {}),
  });
  const headers = {
    host: `127.0.0.1:${subject.ports[kind]}`,
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...subject.headers,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  const path = join(directory, `${subject.name.replaceAll(/\W+/g, '-')}-${kind}.http`);
  await writeFile(path, `POST /v1/chat/completions HTTP/1.1\r\n${lines.join('')}\r\n${body}`, {
    mode: 0o600,
  });
  return path;
}

/** Debian's wrk, with one thread. */
export async function loadWithWrk(
  port: number,
  connections: number,
  seconds: number,
  requestFile: string,
): Promise<LoadResult> {
  const output = await runProgram(
    'wrk',
    [
      '--threads=1',
      `--connections=${connections}`,
      `--duration=${seconds}s`,
      '--timeout=20s',
      `--script=${WRK_SCRIPT}`,
      `http://127.0.0.1:${port}/`,
    ],
    seconds * 1000 + SLACK_MS,
    { REQUEST_FILE: requestFile },
  );
  const line = output.split('\n').find((one) => one.startsWith('{'));
  return JSON.parse(line ?? '') as LoadResult;
}

export async function loadStreams(
  program: string,
  port: number,
  connections: number,
  seconds: number,
  requestFile: string,
  once = false,
): Promise<LoadResult> {
  const args = [port, connections, seconds, once ? 1 : 0].map(String);
  return JSON.parse(
    await runProgram(program, [...args, requestFile], seconds * 1000 + SLACK_MS),
  ) as LoadResult;
}
