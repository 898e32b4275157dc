import { Cross2Icon, MagnifyingGlassIcon } from '@radix-ui/react-icons';
import { useEffect, useRef, useState } from 'react';
import { Button } from 'react-aria-components/Button';
import { Input } from 'react-aria-components/Input';
import { SearchField as AriaSearchField } from 'react-aria-components/SearchField';
import * as styles from './search-field.module.css';

export interface SearchFieldProps {
  readonly label: string;
  readonly value: string;
  /** After a short pause in typing, and at once on Enter, Escape and clear. */
  readonly onChange: (value: string) => void;
  readonly placeholder?: string;
  /** True if `/` focuses it: one of a page. */
  readonly isMain?: boolean;
}

const PAUSE_MS = 250;

export function SearchField({
  label,
  value,
  onChange,
  placeholder = label,
  isMain = false,
}: SearchFieldProps) {
  const [typed, setTyped] = useState(value);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const input = useRef<HTMLInputElement>(null);
  // The back button changes the value from outside.
  useEffect(() => setTyped(value), [value]);
  useEffect(() => () => clearTimeout(timer.current), []);
  useEffect(() => {
    if (!isMain) return;
    const onKeyDown = (event: KeyboardEvent) => {
      const isTyping = (event.target as Element | null)?.closest(
        'input, textarea, select, [contenteditable], [role=dialog]',
      );
      if (event.key !== '/' || event.ctrlKey || event.metaKey || event.altKey || isTyping) return;
      event.preventDefault();
      input.current?.focus();
    };
    addEventListener('keydown', onKeyDown);
    return () => removeEventListener('keydown', onKeyDown);
  }, [isMain]);
  const send = (next: string) => {
    clearTimeout(timer.current);
    if (next !== value) onChange(next);
  };
  return (
    <AriaSearchField
      className={styles.field}
      aria-label={label}
      value={typed}
      onChange={(next) => {
        setTyped(next);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => onChange(next.trim()), PAUSE_MS);
      }}
      onSubmit={(next) => send(next.trim())}
      onClear={() => send('')}
    >
      <MagnifyingGlassIcon className={styles.icon} aria-hidden="true" />
      <Input ref={input} className={styles.input} placeholder={placeholder} />
      <Button className={styles.clear} aria-label="Clear">
        <Cross2Icon />
      </Button>
    </AriaSearchField>
  );
}
