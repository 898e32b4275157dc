import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { ErrorNotice } from './error-notice.tsx';
import { FormDialog, type FormDialogProps } from './form-dialog.tsx';
import { Notice } from './notice.tsx';
import { toast } from './toast.tsx';

export interface ConfirmDialogProps
  extends Pick<FormDialogProps, 'title' | 'action' | 'size' | 'disabledReason' | 'onClose'> {
  /** The consequences, and whether they can be undone. */
  readonly warning: ReactNode;
  readonly run: () => Promise<unknown>;
  /** Said when it is done: "Deleted the channel". */
  readonly done: string;
  /** Reads again what the page shows of it. */
  readonly onDone: () => Promise<unknown>;
  /** Fields that must be filled in first. */
  readonly children?: ReactNode;
}

/** Asks before something is deleted or revoked, does it, and says so. */
export function ConfirmDialog({ warning, run, done, onDone, children, ...dialog }: ConfirmDialogProps) {
  const { mutate, error, isPending } = useMutation({
    mutationFn: run,
    onSuccess: async () => {
      toast(done);
      dialog.onClose();
      await onDone();
    },
  });
  return (
    <FormDialog {...dialog} role="alertdialog" variant="danger" isPending={isPending} onSubmit={mutate}>
      <Notice tone="warn">{warning}</Notice>
      {children}
      {error ? <ErrorNotice error={error} /> : undefined}
    </FormDialog>
  );
}
