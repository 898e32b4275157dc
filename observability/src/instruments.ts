import type { MetricDeclaration, MetricType } from './declaration.ts';

/*
 * What a process has counted, in memory. Counting is on the path of every request, so it costs a few look-ups and an
 * addition: a label is looked up in a tree of maps, nothing is allocated for a series that exists, and text is only made
 * for a scrape, by the process that answers it (exposition.ts).
 */

export class Counter {
  value = 0;

  add(amount = 1): void {
    this.value += amount;
  }
}

export class Histogram {
  readonly #bounds: readonly number[];
  /** The count of each bucket alone; the last one has no bound. */
  readonly counts: Float64Array;
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.#bounds = bounds;
    this.counts = new Float64Array(bounds.length + 1);
  }

  observe(value: number): void {
    let index = 0;
    while (index < this.#bounds.length && value > (this.#bounds[index] as number)) index += 1;
    this.counts[index] = (this.counts[index] as number) + 1;
    this.sum += value;
  }
}

type LabelValues<Labels extends readonly string[]> = { readonly [Index in keyof Labels]: string };

/** The series of a metric, by the values of its labels. */
export interface Family<Labels extends readonly string[], Series> {
  /** The series with these values, in the order of the declaration. */
  with(...values: LabelValues<Labels>): Series;
}

/** Series of one metric in one process. Labels come from finite sets; this bounds what a mistake about that could cost. */
const MAX_SERIES = 2_000;
/** The value of every label of the series that stands for all beyond that. */
const OTHERS = 'other';

class Node<Series> {
  readonly children = new Map<string, Node<Series>>();
  series: Series | undefined;
}

/** Finds a series that exists without an allocation. See docs/decisions/0039. */
export class SeriesTree<Series> {
  readonly #depth: number;
  readonly #create: () => Series;
  readonly #root = new Node<Series>();
  readonly #all: { readonly labels: readonly string[]; readonly series: Series }[] = [];
  #others: Series | undefined;

  constructor(depth: number, create: () => Series) {
    this.#depth = depth;
    this.#create = create;
    if (depth === 0) this.#root.series = this.#add([]);
  }

  get all(): readonly { readonly labels: readonly string[]; readonly series: Series }[] {
    return this.#all;
  }

  with(first = '', second = '', third = '', fourth = ''): Series {
    const depth = this.#depth;
    let node: Node<Series> | undefined = this.#root;
    if (depth > 0) node = this.#childOf(node, first);
    if (depth > 1) node = this.#childOf(node, second);
    if (depth > 2) node = this.#childOf(node, third);
    if (depth > 3) node = this.#childOf(node, fourth);
    if (!node) return this.#ofOthers();
    node.series ??= this.#add([first, second, third, fourth].slice(0, depth));
    return node.series;
  }

  #childOf(node: Node<Series> | undefined, label: string): Node<Series> | undefined {
    if (!node) return undefined;
    const known = node.children.get(label);
    if (known || this.#all.length >= MAX_SERIES) return known;
    const child = new Node<Series>();
    node.children.set(label, child);
    return child;
  }

  #ofOthers(): Series {
    this.#others ??= this.#add(Array.from({ length: this.#depth }, () => OTHERS));
    return this.#others;
  }

  #add(labels: readonly string[]): Series {
    const series = this.#create();
    this.#all.push({ labels, series });
    return series;
  }
}

/** A series as it is sent from process to process: a value, or the counts of a histogram's buckets with their sum. */
export type SeriesSnapshot =
  | readonly [labels: readonly string[], value: number]
  | readonly [labels: readonly string[], counts: readonly number[], sum: number];

export interface MetricSnapshot {
  readonly name: string;
  readonly series: readonly SeriesSnapshot[];
}

/** Reports values that something else keeps, at a scrape. Undefined leaves the series out. */
export type Report<Labels extends readonly string[]> = (
  value: number | undefined,
  ...labels: LabelValues<Labels>
) => void;

// A store that does not answer must not keep the scrape from answering.
const MAX_PREPARATION_MS = 2_000;

/** The metrics of a process. */
export class Metrics {
  readonly #reads: (() => MetricSnapshot)[] = [];
  readonly #names = new Set<string>();
  readonly #preparations: (() => Promise<void>)[] = [];

  counter<const Labels extends readonly string[]>(
    declaration: MetricDeclaration<'counter', Labels>,
  ): Family<Labels, Counter> {
    const tree = new SeriesTree(declaration.labels.length, () => new Counter());
    this.#register(declaration, () => tree.all.map(({ labels, series: { value } }) => [labels, value]));
    return tree as unknown as Family<Labels, Counter>;
  }

  histogram<const Labels extends readonly string[]>(
    declaration: MetricDeclaration<'histogram', Labels>,
  ): Family<Labels, Histogram> {
    const tree = new SeriesTree(declaration.labels.length, () => new Histogram(declaration.buckets));
    this.#register(declaration, () =>
      tree.all.map(({ labels, series: { counts, sum } }) => [labels, [...counts], sum]),
    );
    return tree as unknown as Family<Labels, Histogram>;
  }

  /** A metric whose values are read at each scrape. */
  observe<const Labels extends readonly string[]>(
    declaration: MetricDeclaration<'counter' | 'gauge', Labels>,
    read: (report: Report<Labels>) => void,
  ): void {
    this.#register(declaration, () => {
      const series: SeriesSnapshot[] = [];
      read((value, ...labels) => {
        if (value !== undefined && series.length < MAX_SERIES)
          series.push([labels as readonly string[], value]);
      });
      return series;
    });
  }

  /** Runs before each scrape, which waits two seconds for it at most. */
  prepare(work: () => Promise<void>): void {
    this.#preparations.push(work);
  }

  async collect(): Promise<MetricSnapshot[]> {
    const late = Promise.withResolvers<void>();
    const timer = setTimeout(late.resolve, MAX_PREPARATION_MS);
    await Promise.race([
      late.promise,
      Promise.all(this.#preparations.map((work) => work().catch(() => undefined))),
    ]);
    clearTimeout(timer);
    return this.#reads.map((read) => read());
  }

  #register(
    { name }: MetricDeclaration<MetricType, readonly string[]>,
    read: () => readonly SeriesSnapshot[],
  ): void {
    if (this.#names.has(name)) throw new Error(`the metric ${name} is registered already`);
    this.#names.add(name);
    this.#reads.push(() => ({ name, series: read() }));
  }
}
