import { type CreateKeyReply, GatehouseError } from '@gatehouse/sdk';
import { useMutation, useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { apiCall, queryOf, sendCall } from '../../api/call.ts';
import { fieldError } from '../../api/errors.ts';
import { randomText } from '../../api/random-text.ts';
import { projectsCall, routesCall } from '../../app/filter-options.ts';
import { now } from '../../browser/clock.ts';
import { Amount } from '../../ui/amount.tsx';
import { Button } from '../../ui/button.tsx';
import { ErrorNotice } from '../../ui/error-notice.tsx';
import * as field from '../../ui/field.module.css';
import { FormDialog } from '../../ui/form-dialog.tsx';
import * as list from '../../ui/list-page.module.css';
import { Notice } from '../../ui/notice.tsx';
import { Select } from '../../ui/select.tsx';
import { Switch } from '../../ui/switch.tsx';
import { TextField } from '../../ui/text-field.tsx';
import { parseAmount } from './credit.ts';
import { type ExpiryChoice, expiryOf } from './expiry.ts';
import { ExpiryField } from './expiry-field.tsx';
import * as styles from './keys.module.css';
import { ENVIRONMENTS } from './keys-search.ts';
import { ModelPicker } from './model-picker.tsx';
import { budgetCall, keysChanged } from './use-keys.ts';

/**
 * Mints a key. One Idempotency-Key belongs to the open dialog: a second press, or a press after an answer that was lost, cannot
 * mint a second key.
 */
export function CreateKeyDialog({
  onClose,
  onCreated,
}: {
  onClose: () => void;
  onCreated: (key: CreateKeyReply) => void;
}) {
  const projects = useQuery(queryOf(projectsCall)).data?.projects;
  const routes = useQuery(queryOf(routesCall)).data?.routes;
  const budget = useQuery(queryOf(budgetCall(0))).data;
  const [idempotencyKey, setIdempotencyKey] = useState(randomText);
  // A repeat must be the same request, so that the API recognises it.
  const [openedAt] = useState(now);
  const [name, setName] = useState('');
  const [projectId, setProjectId] = useState<string>();
  const [environment, setEnvironment] = useState<(typeof ENVIRONMENTS)[number]['value']>('production');
  const [isLimited, setLimited] = useState(true);
  const [limit, setLimit] = useState('');
  const [expiry, setExpiry] = useState<{ choice: ExpiryChoice; date: string }>({ choice: 'never', date: '' });
  const [hasModels, setHasModels] = useState(false);
  const [models, setModels] = useState<ReadonlySet<string>>(new Set());
  const [isJudged, setJudged] = useState(false);

  const project = projects?.find(({ id }) => id === projectId) ?? projects?.[0];
  const amount = isLimited ? parseAmount(limit) : undefined;
  const expires = expiryOf(expiry.choice, expiry.date, openedAt);
  const nameProblem = name.trim() === '' ? 'Enter a name.' : undefined;
  const hasProblem =
    nameProblem !== undefined ||
    project === undefined ||
    amount?.kind === 'problem' ||
    expires.kind === 'problem' ||
    (hasModels && models.size === 0);

  const create = useMutation({
    mutationFn: () =>
      sendCall(
        apiCall('createKey', {
          idempotency_key: idempotencyKey,
          project_id: project?.id ?? '',
          name: name.trim(),
          environment,
          // In micro-PKR, whatever its name says.
          credit_limit_cents: amount?.kind === 'amount' ? Number(amount.microPkr) : null,
          expires_at: expires.kind === 'at' ? expires.at.toISOString() : null,
          allowed_models: hasModels ? [...models] : null,
        }),
      ),
    // Otherwise the secret would stay in memory with the answer.
    gcTime: 0,
    onSuccess: async (key) => {
      onCreated(key);
      await keysChanged();
    },
    onError: () => void keysChanged(),
  });
  // An earlier press minted the key, and its answer was lost. The sentence names the key; other conflicts name none.
  const minted =
    create.error instanceof GatehouseError &&
    create.error.status === 409 &&
    /\bsk_svc_/.test(create.error.message)
      ? create.error.message
      : undefined;

  return (
    <FormDialog
      title="Create a key"
      action="Create the key"
      isPending={create.isPending}
      disabledReason={minted !== undefined ? 'The key exists already.' : undefined}
      onClose={onClose}
      onSubmit={() => {
        setJudged(true);
        if (!hasProblem) create.mutate();
      }}
    >
      <TextField
        label="Name"
        value={name}
        onChange={setName}
        maxLength={255}
        autoComplete="off"
        autoFocus
        placeholder="backend"
        hint="What uses the key. It stands in the log of every request."
        error={fieldError(create.error, 'name') ?? (isJudged ? nameProblem : undefined)}
      />
      <div className={field.pair}>
        <Select
          label="Project"
          options={(projects ?? []).map(({ id, name }) => ({ value: id, label: name }))}
          value={project?.id ?? ''}
          onChange={setProjectId}
        />
        <Select
          label="Environment"
          options={ENVIRONMENTS}
          value={environment}
          onChange={setEnvironment}
          hint="A label to filter by."
        />
      </div>
      <Switch isOn={isLimited} onChange={setLimited}>
        Limit its credit
      </Switch>
      <div className={field.pair}>
        {isLimited ? (
          <TextField
            label="Credit limit"
            value={limit}
            onChange={setLimit}
            inputMode="decimal"
            autoComplete="off"
            unit="PKR"
            placeholder="1000"
            hint={
              budget === undefined ? (
                'A lifetime limit; it does not reset each month.'
              ) : (
                <>
                  A lifetime limit; it does not reset each month. The organisation has{' '}
                  <Amount value={budget.available_pkr} /> free.
                </>
              )
            }
            error={
              fieldError(create.error, 'credit_limit_cents') ??
              (isJudged && amount?.kind === 'problem' ? amount.sentence : undefined)
            }
          />
        ) : (
          <p className={list.muted}>The key may spend all that the organisation has.</p>
        )}
        <ExpiryField
          {...expiry}
          onChange={(choice, date) => setExpiry({ choice, date })}
          expiry={expires}
          isJudged={isJudged}
        />
      </div>
      <div className={styles.group}>
        <Switch isOn={hasModels} onChange={setHasModels}>
          Only some models
        </Switch>
        {hasModels ? (
          <>
            <ModelPicker
              options={(routes ?? []).filter(({ active }) => active)}
              chosen={models}
              onChange={setModels}
            />
            {isJudged && models.size === 0 ? (
              <p className={styles.error}>Choose at least one model, or allow all.</p>
            ) : undefined}
          </>
        ) : (
          <p className={list.muted}>
            The key may use every model of the catalogue. You can change its rate limit afterwards.
          </p>
        )}
      </div>
      {minted !== undefined ? (
        <Notice tone="warn">
          <p className={styles.minted}>
            {minted} Nobody can read it again. Revoke that key in the list if you do not have its secret.
          </p>
          <Button
            size="s"
            onPress={() => {
              setIdempotencyKey(randomText());
              create.reset();
            }}
          >
            Create another key
          </Button>
        </Notice>
      ) : create.error && fieldError(create.error, 'name') === undefined ? (
        <ErrorNotice error={create.error} />
      ) : undefined}
    </FormDialog>
  );
}
