import { CheckIcon, CopyIcon } from '@radix-ui/react-icons';
import { type ReactNode, useEffect, useRef, useState } from 'react';
import { copyText } from '../browser/interfaces.ts';
import { Button, IconButton } from './button.tsx';
import { toast } from './toast.tsx';

export interface CopyButtonProps {
  /** The text, or how to make it when it is wanted. */
  readonly text: string | (() => string);
  /** The tooltip and the name: "Copy the id". */
  readonly label: string;
  /** Shown in the button; without it the button is an icon. */
  readonly children?: ReactNode;
  readonly icon?: ReactNode;
  readonly variant?: 'primary' | 'secondary' | 'quiet';
  readonly size?: 's' | 'm';
  /** A message for screen readers and the corner of the page. */
  readonly done?: string;
}

export function CopyButton({
  text,
  label,
  children,
  icon,
  variant,
  size = 's',
  done = 'Copied',
}: CopyButtonProps) {
  const [isCopied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const copy = async () => {
    if (!(await copyText(typeof text === 'string' ? text : text())))
      return toast('The browser did not allow copying.', 'bad');
    toast(done);
    setCopied(true);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setCopied(false), 2000);
  };
  const shown = isCopied ? <CheckIcon /> : (icon ?? <CopyIcon />);
  return children === undefined ? (
    <IconButton
      icon={shown}
      label={label}
      size={size}
      variant={variant ?? 'quiet'}
      onPress={() => void copy()}
    />
  ) : (
    <Button
      icon={shown}
      size={size}
      variant={variant ?? 'secondary'}
      aria-label={label}
      onPress={() => void copy()}
    >
      {children}
    </Button>
  );
}
