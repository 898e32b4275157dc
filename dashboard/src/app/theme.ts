import { useSyncExternalStore } from 'react';

/** What the person chose; the system's unless they did. Kept on this device only. */
export type Theme = 'light' | 'dark' | 'system';

const STORAGE_KEY = 'gatehouse.theme';
const listeners = new Set<() => void>();

function isTheme(value: unknown): value is Theme {
  return value === 'light' || value === 'dark' || value === 'system';
}

/** Storage is unavailable in some private windows; the theme is then the system's. */
export function storedTheme(): Theme {
  try {
    const value = localStorage.getItem(STORAGE_KEY);
    return isTheme(value) ? value : 'system';
  } catch {
    return 'system';
  }
}

/** The stylesheet follows the attribute: see tokens.css. */
export function applyTheme(theme: Theme): void {
  if (theme === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = theme;
}

export function setTheme(theme: Theme): void {
  try {
    localStorage.setItem(STORAGE_KEY, theme);
  } catch {
    // The choice then lasts until the page is closed.
  }
  applyTheme(theme);
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const onStorage = (event: StorageEvent) => {
    if (event.key !== STORAGE_KEY) return;
    applyTheme(storedTheme());
    for (const each of listeners) each();
  };
  listeners.add(listener);
  dark.addEventListener('change', listener);
  addEventListener('storage', onStorage);
  return () => {
    listeners.delete(listener);
    dark.removeEventListener('change', listener);
    removeEventListener('storage', onStorage);
  };
}

function snapshot(): string {
  const chosen = document.documentElement.dataset['theme'];
  const theme: Theme = isTheme(chosen) ? chosen : 'system';
  const dark = theme === 'dark' || (theme === 'system' && matchMedia('(prefers-color-scheme: dark)').matches);
  return `${theme} ${dark ? 'dark' : 'light'}`;
}

/** The chosen theme, and the one that is seen: canvas charts redraw when it changes. */
export function useTheme(): { theme: Theme; seen: 'light' | 'dark' } {
  const [theme, seen] = useSyncExternalStore(subscribe, snapshot).split(' ') as [Theme, 'light' | 'dark'];
  return { theme, seen };
}
