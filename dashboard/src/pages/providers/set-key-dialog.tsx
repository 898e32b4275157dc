import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { apiCall, sendCall } from '../../api/call.ts';
import { fieldError } from '../../api/errors.ts';
import { readAgain } from '../../api/query-client.ts';
import { Badge } from '../../ui/badge.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import { Foreign } from '../../ui/foreign.tsx';
import { FormDialog } from '../../ui/form-dialog.tsx';
import * as list from '../../ui/list-page.module.css';
import { TextField } from '../../ui/text-field.tsx';
import { toast } from '../../ui/toast.tsx';
import type { ProviderRow } from './provider-rows.ts';
import * as styles from './providers.module.css';

const MAX_MODELS = 12;

/** Stores or replaces the organisation's key for a provider. It leaves the page with the request, and is never shown again. */
export function SetKeyDialog({ row, onClose }: { row: ProviderRow; onClose: () => void }) {
  const [key, setKey] = useState('');
  const [isJudged, setJudged] = useState(false);
  const problem = key.trim() === '' ? 'Enter the key.' : undefined;
  const verb = row.key === undefined ? 'Set' : 'Replace';
  const set = useMutation({
    mutationFn: () => sendCall(apiCall('setVaultKey', { provider: row.provider, api_key: key })),
    // Otherwise the key would stay in memory with the answer.
    gcTime: 0,
    onSuccess: async () => {
      toast(
        row.key === undefined ? `Set the key for ${row.provider}` : `Replaced the key for ${row.provider}`,
      );
      onClose();
      await readAgain('listVaultKeys');
    },
  });
  const active = row.models.filter((model) => model.active);
  return (
    <FormDialog
      title={
        <>
          {verb} the key for <Foreign text={row.provider} />
        </>
      }
      action={`${verb} the key`}
      isPending={set.isPending}
      onClose={onClose}
      onSubmit={() => {
        setJudged(true);
        if (problem === undefined) set.mutate();
      }}
    >
      <p>
        Requests of your organisation to these models then go out with your own account at the provider, from
        the next request on.
      </p>
      <span className={styles.models}>
        {active.slice(0, MAX_MODELS).map(({ id }) => (
          <Badge key={id}>
            <Foreign text={id} />
          </Badge>
        ))}
        {active.length > MAX_MODELS ? <Badge>{active.length - MAX_MODELS} more</Badge> : undefined}
        {active.length === 0 ? <span className={list.muted}>No active model at the moment.</span> : undefined}
      </span>
      <TextField
        label="The provider’s key"
        type="password"
        value={key}
        onChange={(next) => {
          setKey(next);
          // The sentence was about what stood there before.
          if (set.error) set.reset();
        }}
        autoComplete="new-password"
        spellCheck="false"
        isMono
        autoFocus
        hint="It is encrypted, and never shown again: only its last four characters are."
        error={(isJudged ? problem : undefined) ?? fieldError(set.error, 'api_key')}
      />
      {set.error && fieldError(set.error, 'api_key') === undefined ? (
        <ErrorNotice error={set.error} />
      ) : undefined}
    </FormDialog>
  );
}
