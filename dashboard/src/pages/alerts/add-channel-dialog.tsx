import type { AlertChannel } from '@gatehouse/sdk';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { apiCall, sendCall } from '../../api/call.ts';
import { fieldError } from '../../api/errors.ts';
import { readAgain } from '../../api/query-client.ts';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import { Select, type SelectOption } from '../../ui/select.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { toast } from '../../ui/toast.tsx';

const KINDS: readonly SelectOption<AlertChannel['kind']>[] = [
  { value: 'webhook', label: 'A webhook' },
  { value: 'email', label: 'An e-mail address' },
];

/** Adds a channel. The secret of a webhook goes to `onSecret`, because it is shown once. */
export function AddChannelDialog({
  onClose,
  onSecret,
}: {
  onClose: () => void;
  onSecret: (secret: string) => void;
}) {
  const [kind, setKind] = useState<AlertChannel['kind']>('webhook');
  const [destination, setDestination] = useState('');
  const [isJudged, setJudged] = useState(false);
  const field = kind === 'webhook' ? 'url' : 'address';
  const problem =
    destination.trim() === '' ? `Enter the ${kind === 'webhook' ? 'URL' : 'address'}.` : undefined;
  const add = useMutation({
    mutationFn: () => sendCall(apiCall('createAlertChannel', { kind, [field]: destination.trim() })),
    onSuccess: async ({ secret }) => {
      onClose();
      if (secret === undefined) toast('Added the channel');
      else onSecret(secret);
      await readAgain('listAlertChannels');
    },
  });
  const ofField = fieldError(add.error, field);
  return (
    <FormDialog
      title="Send alerts"
      action="Add the channel"
      isPending={add.isPending}
      onClose={onClose}
      onSubmit={() => {
        setJudged(true);
        if (problem === undefined) add.mutate();
      }}
    >
      <Select
        label="To"
        options={KINDS}
        value={kind}
        onChange={(next) => {
          setKind(next);
          add.reset();
        }}
      />
      <TextField
        label={kind === 'webhook' ? 'URL' : 'Address'}
        value={destination}
        onChange={(next) => {
          setDestination(next);
          if (add.error) add.reset();
        }}
        inputMode={kind === 'webhook' ? 'url' : 'email'}
        autoComplete="off"
        spellCheck="false"
        autoFocus
        isMono
        hint={
          kind === 'webhook'
            ? 'An https address on the internet. Each message is signed with a secret that you get next.'
            : 'Its owner should expect the mails: send a test when you have added it.'
        }
        error={(isJudged ? problem : undefined) ?? ofField}
      />
      {add.error && ofField === undefined ? <ErrorNotice error={add.error} /> : undefined}
    </FormDialog>
  );
}
