import { CheckIcon, ChevronDownIcon } from '@radix-ui/react-icons';
import { Button } from 'react-aria-components/Button';
import { Label } from 'react-aria-components/Label';
import { ListBox, ListBoxItem } from 'react-aria-components/ListBox';
import { Popover } from 'react-aria-components/Popover';
import { Select as AriaSelect, SelectValue } from 'react-aria-components/Select';
import { Text } from 'react-aria-components/Text';
import * as field from './field.module.css';
import * as optionStyles from './option.module.css';
import * as styles from './select.module.css';

export interface SelectOption<Value extends string> {
  readonly value: Value;
  readonly label: string;
  readonly detail?: string;
}

export interface SelectProps<Value extends string> {
  readonly label: string;
  readonly options: readonly SelectOption<Value>[];
  readonly value: Value;
  readonly onChange: (value: Value) => void;
  readonly hint?: string;
  /** Without the label above: for a toolbar. The label is then its name for screen readers. */
  readonly isCompact?: boolean;
  readonly isDisabled?: boolean;
}

/** One of a few. For many, with search, there is `ComboBox`. */
export function Select<Value extends string>({
  label,
  options,
  value,
  onChange,
  hint,
  isCompact = false,
  isDisabled = false,
}: SelectProps<Value>) {
  return (
    <AriaSelect
      className={isCompact ? styles.compact : field.field}
      value={value}
      onChange={(key) => {
        if (key !== null) onChange(String(key) as Value);
      }}
      isDisabled={isDisabled}
      {...(isCompact ? { 'aria-label': label } : {})}
    >
      {isCompact ? undefined : <Label className={field.label}>{label}</Label>}
      <Button className={isCompact ? styles.compactTrigger : field.trigger}>
        <SelectValue className={styles.value}>{({ selectedText }) => <bdi>{selectedText}</bdi>}</SelectValue>
        <ChevronDownIcon aria-hidden="true" />
      </Button>
      {hint === undefined ? undefined : (
        <Text slot="description" className={field.hint}>
          {hint}
        </Text>
      )}
      <Popover className={styles.popover} offset={4}>
        <ListBox className={styles.list}>
          {options.map((option) => (
            <ListBoxItem
              key={option.value}
              id={option.value}
              textValue={option.label}
              className={optionStyles.item}
            >
              <bdi className={optionStyles.text}>{option.label}</bdi>
              {option.detail === undefined ? undefined : <bdi className={styles.detail}>{option.detail}</bdi>}
              <CheckIcon className={optionStyles.check} aria-hidden="true" />
            </ListBoxItem>
          ))}
        </ListBox>
      </Popover>
    </AriaSelect>
  );
}
