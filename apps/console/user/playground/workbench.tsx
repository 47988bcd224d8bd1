import { Button, Group, Select, SimpleGrid, Stack, Title } from '@mantine/core';
import { getRouteApi } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { relayQuery, type Shape } from '../../api/client.js';
import { LeaveGuard } from '../../ui/forms/leave-guard.js';
import { Notice } from '../../ui/notice.js';
import { callOf, codeLines, type PlaygroundCall, type PlayKind } from './call.js';
import { MakeKey } from './make-key.js';
import { PlayFields } from './play-fields.js';
import { PlayFault } from './play-fault.js';
import { PlayResult } from './play-result.js';
import { PriceBefore, type PricePlace } from './price-before.js';
import { TopUpSheet } from './top-up-sheet.js';
import { usePlay } from './use-play.js';
import { useQuery } from '@tanstack/react-query';
import { CodeTabs } from '../../ui/code/code-tabs.js';
import { Loaded } from '../../ui/states.js';
import { FirstRequest } from '../first-request.js';
import { KeyForCode } from '../key-for-code.js';
import { useNewKey } from '../new-key.js';

const route = getRouteApi('/user/playground');

/** What in the address decides the type of call. */
export interface PlayAddress {
  kind?: PlayKind | undefined;
  key?: string | undefined;
}

interface WorkbenchProps {
  kind: PlayKind;
  /** The type at any address of this page. */
  kindOf: (address: PlayAddress) => PlayKind;
  model: Shape<'ListedModel'>;
  models: readonly Shape<'ListedModel'>[];
  /** The keys that may use the model. */
  keys: readonly Shape<'Key'>[];
  /** The group for a new key; null: no group of the account has the model. */
  group: string | null;
  /** The account has no key that works: the first call creates one. */
  isNew: boolean;
  /** The task that fills the form. */
  again: Shape<'Task'> | null;
}

export function Workbench(props: WorkbenchProps) {
  const { kind, model, keys, group, isNew, again } = props;
  const { task, key: chosenKey } = route.useSearch();
  const key = keys.find(({ keyId }) => keyId === chosenKey) ?? keys[0] ?? null;
  const place: PricePlace | null = key ? { keyId: key.keyId } : isNew && group ? { group } : null;
  const playing = usePlay({ kind, model, key, place, again });
  const { form, price, topUp, played, sending } = playing;
  return (
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      <Stack>
        <CallForm {...props} chosenKey={key} place={place} playing={playing} />
        <TopUpSheet sheet={topUp} price={price.current} />
      </Stack>
      <Stack>
        <PlayResult played={played} taskId={task} isSending={sending.isSending} />
        <CallAsCode
          call={callOf(kind, model.id, form.values)}
          keys={keys}
          group={key?.group ?? group ?? ''}
          isWaiting={!sending.isSending}
        />
      </Stack>
    </SimpleGrid>
  );
}

interface CallFormProps extends Pick<WorkbenchProps, 'kind' | 'kindOf' | 'model' | 'models' | 'keys'> {
  chosenKey: Shape<'Key'> | null;
  place: PricePlace | null;
  playing: ReturnType<typeof usePlay>;
}

function CallForm(props: CallFormProps) {
  const { kind, kindOf, model, models, keys, chosenKey, place, playing } = props;
  const { form, price, isPricing, hasOtherPrice, sending, cancel } = playing;
  const { onSubmit, isSending, failure } = sending;
  return (
    <form onSubmit={onSubmit} noValidate className="stack">
      <LeaveGuard
        isDirty={form.isDirty}
        filledBy={(search) => JSON.stringify([kindOf(search), search['again'] ?? ''])}
      />
      <ModelField models={models} chosen={model} form={form} />
      {chosenKey && <KeyField kind={kind} keys={keys} chosen={chosenKey} />}
      {place === null && <MakeKey model={model} />}
      <PlayFields kind={kind} model={model} form={form} />
      {place && <PriceBefore price={price} />}
      {failure && <PlayFault failure={failure} />}
      {hasOtherPrice && <OtherPrice />}
      <Send kind={kind} isSending={isSending} disabled={place === null || isPricing} cancel={cancel} />
    </form>
  );
}

interface ModelFieldProps {
  models: readonly Shape<'ListedModel'>[];
  chosen: Shape<'ListedModel'>;
  form: ReturnType<typeof usePlay>['form'];
}

function ModelField({ models, chosen, form }: ModelFieldProps) {
  const { t } = useTranslation('calls');
  const navigate = route.useNavigate();
  const choose = (id: string | null) => {
    form.setValues({ size: '', aspect_ratio: '', resolution: '', generate_audio: true, n: 1 });
    void navigate({ search: (before) => ({ ...before, model: id ?? undefined }), replace: true });
  };
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

/** Calls are never sent at a price that was not shown. */
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

interface KeyFieldProps extends Pick<WorkbenchProps, 'kind' | 'keys'> {
  chosen: Shape<'Key'>;
}

function KeyField({ kind, keys, chosen }: KeyFieldProps) {
  const { t } = useTranslation('calls');
  const navigate = route.useNavigate();
  const choose = (keyId: string | null) =>
    void navigate({ search: (before) => ({ ...before, kind, key: keyId ?? undefined }), replace: true });
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

interface CodeProps {
  call: PlaygroundCall;
  /** The keys that may make the call. */
  keys: readonly Shape<'Key'>[];
  /** The group of a key created for the code. */
  group: string;
  /** No call of this page is in progress, so a new request comes from the code. */
  isWaiting: boolean;
}

function CallAsCode({ call, keys, group, isWaiting }: CodeProps) {
  const { t } = useTranslation('calls');
  const kept = useNewKey();
  const apiKey = kept && keys.some(({ keyId }) => keyId === kept.keyId) ? kept.apiKey : null;
  const relay = useQuery(relayQuery);
  return (
    <Stack component="section" gap="xs">
      <Title order={2} size="h4">
        {t('play.code')}
      </Title>
      <KeyForCode group={group} isFilled={apiKey !== null} />
      <Loaded query={relay}>
        {({ baseUrl }) => <CodeTabs label={t('play.code')} codes={codeLines(call, { baseUrl, apiKey })} />}
      </Loaded>
      {kept && apiKey !== null && isWaiting && <FirstRequest keyId={kept.keyId} />}
    </Stack>
  );
}
