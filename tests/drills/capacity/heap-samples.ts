/** The memory of JavaScript in one process, from its metrics. */
export interface HeapSample {
  readonly usedBytes: number;
  readonly oldBytes: number;
  readonly externalBytes: number;
  readonly descriptors: number;
  /** Since the start. */
  readonly majorCollections: number;
}

const LINE = /^([a-z_0-9]+)\{(.*)\} (\S+)$/;

export async function scrapeHeaps(port: number): Promise<Record<string, HeapSample>> {
  const answer = await fetch(`http://127.0.0.1:${port}/metrics`);
  const figures = new Map<string, Map<string, number>>();
  for (const line of (await answer.text()).split('\n')) {
    const [, name = '', labels = '', value = ''] = LINE.exec(line) ?? [];
    const process = /(?:^|,)process="([^"]+)"/.exec(labels)?.[1];
    if (process === undefined) continue;
    const others = labels
      .split(',')
      .filter((label) => !label.startsWith('process='))
      .join(',');
    const own = figures.get(process) ?? new Map<string, number>();
    figures.set(process, own.set(`${name}{${others}}`, Number(value)));
  }
  return Object.fromEntries(
    [...figures]
      .filter(([, own]) => own.has('nodejs_heap_size_used_bytes{}'))
      .map(([process, own]) => {
        const value = (name: string) => own.get(name) ?? Number.NaN;
        return [
          process,
          {
            usedBytes: value('nodejs_heap_size_used_bytes{}'),
            oldBytes: value('nodejs_heap_space_size_used_bytes{space="old"}'),
            externalBytes: value('nodejs_external_memory_bytes{}'),
            descriptors: value('process_open_fds{}'),
            // There is no such line before the first one.
            majorCollections: own.get('nodejs_gc_duration_seconds_count{kind="major"}') ?? 0,
          },
        ];
      }),
  );
}
