import type { ReactNode } from 'react';
import { FieldError } from 'react-aria-components/FieldError';
import { Input } from 'react-aria-components/Input';
import { Label } from 'react-aria-components/Label';
import { Text } from 'react-aria-components/Text';
import {
  TextField as AriaTextField,
  type TextFieldProps as AriaTextFieldProps,
} from 'react-aria-components/TextField';
import * as styles from './field.module.css';

export interface TextFieldProps
  extends Omit<AriaTextFieldProps, 'className' | 'style' | 'children' | 'isInvalid'> {
  readonly label: string;
  /** The accepted input, below the field. */
  readonly hint?: ReactNode;
  /** The issue with the value; it takes the place of the hint. */
  readonly error?: string | undefined;
  readonly placeholder?: string;
  /** Beside the text, at its end: a unit such as PKR. */
  readonly unit?: string;
  readonly isMono?: boolean;
}

export function TextField({
  label,
  hint,
  error,
  placeholder = '',
  unit,
  isMono = false,
  ...props
}: TextFieldProps) {
  return (
    <AriaTextField
      {...props}
      isInvalid={error !== undefined}
      // The browser would not let a form be sent again while a field has the error of the time before.
      validationBehavior={error === undefined ? 'native' : 'aria'}
      className={styles.field}
    >
      <Label className={styles.label}>{label}</Label>
      <div className={styles.box}>
        <Input className={styles.input} placeholder={placeholder} data-mono={isMono || undefined} />
        {unit === undefined ? undefined : <span className={styles.unit}>{unit}</span>}
      </div>
      {hint !== undefined && error === undefined ? (
        <Text slot="description" className={styles.hint}>
          {hint}
        </Text>
      ) : undefined}
      <FieldError className={styles.error}>{error}</FieldError>
    </AriaTextField>
  );
}
