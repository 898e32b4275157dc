import { useId } from 'react';
import { Form } from 'react-aria-components/Form';
import { Button } from './button.tsx';
import { Dialog, type DialogProps } from './dialog.tsx';
import * as styles from './form-dialog.module.css';

export interface FormDialogProps
  extends Pick<DialogProps, 'title' | 'onClose' | 'children' | 'size' | 'role'> {
  /** The button that submits, by what it does: "Create the key". */
  readonly action: string;
  readonly variant?: 'primary' | 'danger';
  /** True while the request is on its way. Nothing closes the dialog then, or submits it again. */
  readonly isPending: boolean;
  /** Why it cannot be submitted; undefined if it can. */
  readonly disabledReason?: string | undefined;
  readonly onSubmit: () => void;
}

/** An open dialog that is a form, with a button to cancel and one to submit. */
export function FormDialog({
  action,
  variant = 'primary',
  isPending,
  disabledReason,
  onSubmit,
  children,
  ...dialog
}: FormDialogProps) {
  const form = useId();
  return (
    <Dialog
      {...dialog}
      isOpen
      isDismissable={!isPending}
      footer={
        <>
          <Button onPress={dialog.onClose} isDisabled={isPending}>
            Cancel
          </Button>
          <Button
            type="submit"
            form={form}
            variant={variant}
            isPending={isPending}
            disabledReason={disabledReason}
          >
            {action}
          </Button>
        </>
      }
    >
      <Form
        id={form}
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          if (!isPending && disabledReason === undefined) onSubmit();
        }}
      >
        {children}
      </Form>
    </Dialog>
  );
}
