import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect, type Socket } from 'node:net';

// What a request costs a thread, on a machine where other programs run. Bursts of requests are sent, one for each connection,
// and the thread's CPU time is read between them. Others only add to a burst, so one of the cheapest is what it costs. It is
// more than under full load: a burst has statements and writes of its own, and ends with an idle thread.

const HEAD_END = '\r\n\r\n';
const LENGTH = /\r\ncontent-length: (\d+)/i;
/** Work that belongs to a burst and is done after its answers, such as log lines. */
const SETTLED_MS = 15;
const WARM_UP_BURSTS = 0.2;
const SHARE = 0.1;

export interface BurstOptions {
  readonly port: number;
  /** The whole request, head and body. Its answer states its length. */
  readonly request: string;
  readonly connections: number;
  readonly bursts: number;
  /** The process id, and so the main thread's. */
  readonly pid: number;
}

/** Microseconds of the main thread for a request: the tenth percentile of the bursts. */
export async function measureBursts(options: BurstOptions): Promise<number> {
  const { port, request, connections, bursts, pid } = options;
  const sockets: Socket[] = [];
  try {
    for (let opened = 0; opened < connections; opened += 1) {
      const socket = connect(port, '127.0.0.1');
      await once(socket, 'connect');
      sockets.push(socket);
    }
    const costs: number[] = [];
    for (let burst = 0; burst < bursts * (1 + WARM_UP_BURSTS); burst += 1) {
      const before = await cpuMicros(pid);
      await Promise.all(sockets.map((socket) => exchange(socket, request)));
      await new Promise((resolve) => setTimeout(resolve, SETTLED_MS));
      costs.push(((await cpuMicros(pid)) - before) / connections);
    }
    const counted = costs.slice(-bursts).sort((a, b) => a - b);
    return counted[Math.floor(counted.length * SHARE)] ?? Number.NaN;
  } finally {
    for (const socket of sockets) socket.destroy();
  }
}

async function cpuMicros(pid: number): Promise<number> {
  const [nanos] = (await readFile(`/proc/${pid}/task/${pid}/schedstat`, 'utf8')).split(' ');
  return Number(nanos) / 1_000;
}

async function exchange(socket: Socket, request: string): Promise<void> {
  let answer = '';
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const onData = (bytes: Buffer) => {
    answer += bytes.toString('latin1');
    const head = answer.indexOf(HEAD_END);
    if (head < 0) return;
    const length = Number(LENGTH.exec(answer)?.[1]);
    if (!answer.startsWith('HTTP/1.1 200 ') || Number.isNaN(length)) reject(new Error(answer));
    else if (answer.length >= head + HEAD_END.length + length) resolve();
  };
  const onEnd = () => reject(new Error('the connection was closed'));
  socket.on('data', onData).once('close', onEnd);
  socket.write(request);
  await promise.finally(() => socket.off('data', onData).off('close', onEnd));
}
