import { useSyncExternalStore } from 'react';
import { onDarkChange, prefersDark } from '../browser/interfaces.ts';
import { storedText, storeText } from '../browser/storage.ts';

/** The choice of the person; the system's unless they did. Kept on this device only. */
export type Theme = 'light' | 'dark' | 'system';

const STORAGE_KEY = 'gatehouse.theme';
const listeners = new Set<() => void>();

function isTheme(value: unknown): value is Theme {
  return value === 'light' || value === 'dark' || value === 'system';
}

export function storedTheme(): Theme {
  const value = storedText('local', STORAGE_KEY);
  return isTheme(value) ? value : 'system';
}

/** The stylesheet follows the attribute: see tokens.css. */
export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

export function setTheme(theme: Theme): void {
  storeText('local', STORAGE_KEY, theme);
  applyTheme(theme);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  const endDarkChange = onDarkChange(listener);
  const onStorage = (event: StorageEvent) => {
    if (event.key !== STORAGE_KEY) return;
    applyTheme(storedTheme());
    for (const each of listeners) each();
  };
  listeners.add(listener);
  addEventListener('storage', onStorage);
  return () => {
    listeners.delete(listener);
    endDarkChange();
    removeEventListener('storage', onStorage);
  };
}

function snapshot(): string {
  const chosen = document.documentElement.dataset['theme'];
  const theme: Theme = isTheme(chosen) ? chosen : 'system';
  const dark = theme === 'dark' || (theme === 'system' && prefersDark());
  return `${theme} ${dark ? 'dark' : 'light'}`;
}

/** The chosen theme, and the one that is seen: canvas charts redraw when it changes. */
export function useTheme(): { theme: Theme; seen: 'light' | 'dark' } {
  const [theme, seen] = useSyncExternalStore(subscribe, snapshot).split(' ') as [Theme, 'light' | 'dark'];
  return { theme, seen };
}
