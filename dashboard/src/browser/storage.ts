// Texts that the browser keeps. It refuses where cookies are blocked and in some private windows; then nothing is kept.

/** `session` is of one tab, until it is closed; `local` is of all tabs. */
type Store = 'local' | 'session';

function opened(store: Store): Storage {
  return store === 'local' ? localStorage : sessionStorage;
}

/** Anyone who can use the browser may have written it. */
export function storedText(store: Store, key: string): string | undefined {
  try {
    return opened(store).getItem(key) ?? undefined;
  } catch {
    return undefined;
  }
}

/** True if it is kept. */
export function storeText(store: Store, key: string, text: string): boolean {
  try {
    opened(store).setItem(key, text);
    return true;
  } catch {
    return false;
  }
}

export function removeText(store: Store, key: string): void {
  try {
    opened(store).removeItem(key);
  } catch {
    // Nothing is kept.
  }
}
