import { lazy, Suspense, useEffect, useState, useSyncExternalStore } from 'react';
import { isPaletteOpen, openPalette, setPalette, subscribePalette } from './palette-state.ts';

const PaletteDialog = lazy(async () => ({ default: (await import('./palette-dialog.tsx')).PaletteDialog }));

/** Opens with Ctrl+K or ⌘K. Its code loads the first time. */
export function CommandPalette() {
  const isOpen = useSyncExternalStore(subscribePalette, isPaletteOpen);
  const [wasOpen, setWasOpen] = useState(false);
  useEffect(() => {
    if (isOpen) setWasOpen(true);
  }, [isOpen]);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (
        event.key.toLowerCase() !== 'k' ||
        !(event.ctrlKey || event.metaKey) ||
        event.altKey ||
        event.shiftKey
      )
        return;
      event.preventDefault();
      openPalette();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, []);
  if (!isOpen && !wasOpen) return undefined;
  return (
    <Suspense>
      <PaletteDialog isOpen={isOpen} onClose={() => setPalette(false)} />
    </Suspense>
  );
}
