import { Button, Group, Paper, Select, SimpleGrid, Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { getRouteApi } from '@tanstack/react-router';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { queryClient } from '../../api/client.js';
import { refresh } from '../../api/queries.js';
import type { Shape } from '../../api/shape.js';
import { useSend } from '../../ui/forms/form.js';
import { CallAsCode } from './call-as-code.js';
import { type PlayKind, type PlayValues, callOf } from './call.js';
import { MakeKey } from './make-key.js';
import { PlayFields } from './play-fields.js';
import { PlayFault, PlayResult } from './play-result.js';
import { type Played, play } from './play.js';
import { PriceBefore } from './price-before.js';

const route = getRouteApi('/user/playground');

interface WorkbenchProps {
  kind: PlayKind;
  model: Shape<'ListedModel'>;
  models: readonly Shape<'ListedModel'>[];
  /** Those that may use the model. */
  keys: readonly Shape<'Key'>[];
}

function initialValues(model: Shape<'ListedModel'>): PlayValues {
  return {
    prompt: '',
    n: 1,
    size: '',
    aspect_ratio: '',
    resolution: '',
    seconds: model.limits.defaultSeconds ?? 5,
    voice: 'alloy',
    image: null,
  };
}

interface Playing {
  kind: PlayKind;
  model: Shape<'ListedModel'>;
  key: Shape<'Key'> | undefined;
}

/** The form of a call, and what came of the last one that was sent. */
function usePlay({ kind, model, key }: Playing) {
  const { t } = useTranslation('calls');
  const navigate = route.useNavigate();
  const [played, setPlayed] = useState<Played | null>(null);
  const leaving = useRef<AbortController>(null);
  const form = useForm<PlayValues>({
    initialValues: initialValues(model),
    validate: {
      prompt: (value) => (value.trim() ? null : t('play.promptMissing')),
      image: (value) => (kind === 'edit' && value === null ? t('play.pictureMissing') : null),
    },
  });
  const sending = useSend({
    form,
    send: (values) => {
      setPlayed(null);
      leaving.current = new AbortController();
      return play(callOf(kind, model.id, values), key!.keyId, leaving.current.signal);
    },
    done: async (result) => {
      setPlayed(result);
      if (result.kind === 'task')
        await navigate({ search: (before) => ({ ...before, task: result.taskId }), replace: true });
      await refresh('/api/usage', '/api/tasks', '/api/account');
      // A quote contains the balance, too.
      await queryClient.invalidateQueries({ queryKey: ['post', '/api/quote'] });
    },
    refused: ({ code }) => code === 'unreachable' && leaving.current?.signal.aborted === true,
  });
  return { form, sending, played, cancel: () => leaving.current?.abort() };
}

/** Form, price, result and code of one kind of calls. */
export function Workbench({ kind, model, models, keys }: WorkbenchProps) {
  const { t } = useTranslation('calls');
  const { task } = route.useSearch();
  const navigate = route.useNavigate();
  const [chosenKey, chooseKey] = useState<string | null>(null);
  const key = keys.find(({ keyId }) => keyId === chosenKey) ?? keys[0];
  const { form, sending, played, cancel } = usePlay({ kind, model, key });
  const { onSubmit, isSending, failure } = sending;
  const chooseModel = (id: string | null) => {
    form.setValues({ size: '', aspect_ratio: '', resolution: '', n: 1 });
    void navigate({ search: (before) => ({ ...before, model: id ?? undefined }), replace: true });
  };
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      <Stack>
        <form onSubmit={onSubmit} noValidate className="stack">
          <Select
            label={t('play.model')}
            data={models.map(({ id }) => id)}
            value={model.id}
            onChange={chooseModel}
            allowDeselect={false}
            searchable
          />
          <KeyField model={model} keys={keys} chosen={key} choose={chooseKey} />
          <PlayFields kind={kind} model={model} form={form} />
          {key && <PriceBefore kind={kind} model={model} keyId={key.keyId} values={form.values} />}
          {failure && <PlayFault failure={failure} />}
          <Group>
            <Button type="submit" loading={isSending} disabled={!key}>
              {t(`play.send.${kind}`)}
            </Button>
            {isSending && (
              <Button variant="default" onClick={cancel}>
                {t('play.cancel')}
              </Button>
            )}
          </Group>
        </form>
      </Stack>
      <Stack>
        <PlayResult played={played} taskId={task} isSending={isSending} />
        <CallAsCode call={callOf(kind, model.id, form.values)} />
      </Stack>
    </SimpleGrid>
  );
}

interface KeyFieldProps {
  model: Shape<'ListedModel'>;
  keys: readonly Shape<'Key'>[];
  chosen: Shape<'Key'> | undefined;
  choose: (keyId: string | null) => void;
}

/** The key that is charged; without one that may use the model, the way to one. */
function KeyField({ model, keys, chosen, choose }: KeyFieldProps) {
  const { t } = useTranslation('calls');
  if (!chosen)
    return (
      <Paper withBorder>
        <MakeKey model={model} />
      </Paper>
    );
  return (
    <Select
      label={t('play.key')}
      description={t('play.keyHint')}
      data={keys.map(({ keyId, name, group }) => ({ value: keyId, label: `${name} · ${group}` }))}
      value={chosen.keyId}
      onChange={choose}
      allowDeselect={false}
    />
  );
}
