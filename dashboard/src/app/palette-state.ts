// Whether the command palette is open: a button of the header and a key of the whole page open it.

const listeners = new Set<() => void>();
let isOpen = false;

export function isPaletteOpen(): boolean {
  return isOpen;
}

export function setPalette(open: boolean): void {
  isOpen = open;
  for (const listener of listeners) listener();
}

export function openPalette(): void {
  setPalette(true);
}

export function subscribePalette(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
