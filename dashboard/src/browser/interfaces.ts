// Interfaces of the browser that may be missing, may refuse, or may say what is not so.

/** True if the person or their administrator blocks cookies for this address. Chromium says in `cookieEnabled` that they do not. */
export function areCookiesBlocked(): boolean {
  const cookie = 'gatehouse_probe=1';
  try {
    writeCookie(cookie);
    const isKept = document.cookie.includes(cookie);
    writeCookie(`${cookie}; Max-Age=0`);
    return !isKept;
  } catch {
    return true;
  }
}

function writeCookie(text: string): void {
  // biome-ignore lint/suspicious/noDocumentCookie: the Cookie Store API came to Firefox and Safari after the versions served here
  document.cookie = `${text}; SameSite=Lax`;
}

export function isApple(): boolean {
  return /Mac|iPhone|iPad/.test(navigator.userAgent);
}

/** Puts a text into the clipboard. False where the browser does not allow it. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}

const DARK = '(prefers-color-scheme: dark)';

export function prefersDark(): boolean {
  return matchMedia(DARK).matches;
}

/** Calls back when the system turns dark or light. Returns how to end that. */
export function onDarkChange(listener: () => void): () => void {
  const dark = matchMedia(DARK);
  dark.addEventListener('change', listener);
  return () => dark.removeEventListener('change', listener);
}

/** True if the window is as narrow as a phone. */
export function isPhone(): boolean {
  return matchMedia('(max-width: 640px)').matches;
}

/** Calls back when the element may have another size. Returns how to end that. */
export function onResize(element: Element, listener: () => void): () => void {
  if (typeof ResizeObserver !== 'function') {
    addEventListener('resize', listener);
    return () => removeEventListener('resize', listener);
  }
  const observer = new ResizeObserver(listener);
  observer.observe(element);
  return () => observer.disconnect();
}
