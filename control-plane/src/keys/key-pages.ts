import type { keys } from '@gatehouse/contract';
import type { z } from 'zod';

const BEGIN = '{"keys":[';

type ListedKey = z.input<typeof keys.listKeys.reply>['keys'][number];

/**
 * A long list of keys that waits for its caller, small in memory: outside of the heap, page by page as JSON, and with a number
 * for each route that a key allows. The ids of 256 routes can take 50 KB a key, which is made only of the page being sent.
 */
export class KeyPages {
  readonly #pages: Buffer[] = [];
  readonly #routeIds: string[] = [];
  readonly #numbers = new Map<string, number>();
  #bytes = 0;

  /** How many bytes of it are in memory. It is a member so that nothing else of what the list was made of stays with it. */
  readonly keptBytes = (): number => this.#bytes;

  add(rows: readonly ListedKey[]): void {
    if (rows.length === 0) return;
    const page = Buffer.from(
      JSON.stringify(
        rows.map((row) => ({
          ...row,
          allowed_models: row.allowed_models?.map((id) => this.#numberOf(id)) ?? null,
        })),
      ),
    );
    this.#bytes += page.length;
    this.#pages.push(page);
  }

  /** The reply of the endpoint, a page at a time. Each page is read once, and is not in memory afterwards. */
  async *pieces(): AsyncGenerator<Uint8Array> {
    let before = BEGIN;
    for (let page = this.#pages.shift(); page; page = this.#pages.shift()) {
      this.#bytes -= page.length;
      const rows = JSON.parse(page.toString()) as { allowed_models: number[] | null }[];
      const shown = rows.map((row) => ({
        ...row,
        allowed_models: row.allowed_models?.map((number) => this.#routeIds[number]) ?? null,
      }));
      yield Buffer.from(before + JSON.stringify(shown).slice(1, -1));
      before = ',';
    }
    yield Buffer.from(before === BEGIN ? `${BEGIN}]}` : ']}');
  }

  #numberOf(routeId: string): number {
    const known = this.#numbers.get(routeId);
    if (known !== undefined) return known;
    const number = this.#routeIds.push(routeId) - 1;
    this.#numbers.set(routeId, number);
    return number;
  }
}
