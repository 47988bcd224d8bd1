import { Button, Group, Paper, Select, SimpleGrid, Stack } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/shape.js';
import { Notice } from '../../ui/notice.js';
import { CallAsCode } from './call-as-code.js';
import { callOf, type PlayKind } from './call.js';
import { MakeKey } from './make-key.js';
import { PlayFields } from './play-fields.js';
import { PlayFault } from './play-fault.js';
import { PlayResult } from './play-result.js';
import { PriceBefore, type PricePlace } from './price-before.js';
import { TopUpSheet } from './top-up-sheet.js';
import { usePlay } from './use-play.js';

const route = getRouteApi('/user/playground');

interface WorkbenchProps {
  kind: PlayKind;
  model: Shape<'ListedModel'>;
  models: readonly Shape<'ListedModel'>[];
  /** Those that may use the model. */
  keys: readonly Shape<'Key'>[];
  /** Where a key for the model would be created; null: the account has no group that has it. */
  group: string | null;
  /** The account has no key that works: the first call creates one. */
  isNew: boolean;
  /** What the form begins with. */
  again: Shape<'Task'> | null;
}

/** Form, price, result and code of one kind of calls. */
export function Workbench({ kind, model, models, keys, group, isNew, again }: WorkbenchProps) {
  const { task, key: chosenKey } = route.useSearch();
  const navigate = route.useNavigate();
  const key = keys.find(({ keyId }) => keyId === chosenKey) ?? keys[0] ?? null;
  const place: PricePlace | null = key ? { keyId: key.keyId } : isNew && group ? { group } : null;
  const playing = usePlay({ kind, model, key, place, again });
  const { form, price, isPricing, hasOtherPrice, sending, played, cancel, topUp } = playing;
  const { onSubmit, isSending, failure } = sending;
  const chooseKey = (keyId: string | null) =>
    void navigate({ search: (before) => ({ ...before, kind, key: keyId ?? undefined }), replace: true });
  const chooseModel = (id: string | null) => {
    form.setValues({ size: '', aspect_ratio: '', resolution: '', generate_audio: true, n: 1 });
    void navigate({ search: (before) => ({ ...before, model: id ?? undefined }), replace: true });
  };
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      <Stack>
        <form onSubmit={onSubmit} noValidate className="stack">
          <ModelField models={models} chosen={model} choose={chooseModel} />
          {key && <KeyField keys={keys} chosen={key} choose={chooseKey} />}
          {place === null && (
            <Paper withBorder>
              <MakeKey model={model} />
            </Paper>
          )}
          <PlayFields kind={kind} model={model} form={form} />
          {place && <PriceBefore price={price} />}
          {failure && <PlayFault failure={failure} />}
          {hasOtherPrice && <OtherPrice />}
          <Send kind={kind} isSending={isSending} disabled={place === null || isPricing} cancel={cancel} />
        </form>
        <TopUpSheet sheet={topUp} price={price.current} />
      </Stack>
      <Stack>
        <PlayResult played={played} taskId={task} isSending={isSending} />
        <CallAsCode
          call={callOf(kind, model.id, form.values)}
          keys={keys}
          group={key?.group ?? group ?? ''}
          isWaiting={!isSending}
        />
      </Stack>
    </SimpleGrid>
  );
}

interface ModelFieldProps {
  models: readonly Shape<'ListedModel'>[];
  chosen: Shape<'ListedModel'>;
  choose: (id: string | null) => void;
}

function ModelField({ models, chosen, choose }: ModelFieldProps) {
  const { t } = useTranslation('calls');
  return (
    <Select
      label={t('play.model')}
      data={models.map(({ id }) => id)}
      value={chosen.id}
      onChange={choose}
      allowDeselect={false}
      searchable
    />
  );
}

/** Nothing is sent at a price that nobody saw. */
function OtherPrice() {
  const { t } = useTranslation('calls');
  return (
    <Notice tone="warning" role="status" title={t('play.otherPrice.title')}>
      {t('play.otherPrice.hint')}
    </Notice>
  );
}

interface SendProps {
  kind: PlayKind;
  isSending: boolean;
  disabled: boolean;
  cancel: () => void;
}

function Send({ kind, isSending, disabled, cancel }: SendProps) {
  const { t } = useTranslation('calls');
  return (
    <Group>
      <Button type="submit" loading={isSending} disabled={disabled}>
        {t(`play.send.${kind}`)}
      </Button>
      {isSending && (
        <Button variant="default" onClick={cancel}>
          {t('play.cancel')}
        </Button>
      )}
    </Group>
  );
}

interface KeyFieldProps {
  keys: readonly Shape<'Key'>[];
  chosen: Shape<'Key'>;
  choose: (keyId: string | null) => void;
}

/** The key that is charged. */
function KeyField({ keys, chosen, choose }: KeyFieldProps) {
  const { t } = useTranslation('calls');
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
