import '@mantine/dropzone/styles.css';
import { Button, Group, Paper, Select, Stack, Text } from '@mantine/core';
import { Dropzone } from '@mantine/dropzone';
import { IconFileSpreadsheet } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import type { GetAnswer } from '../../api/queries.js';
import { notify } from '../../shell/notices.js';
import { DayRange } from '../../ui/forms/day-range.js';
import { Fact, Facts } from '../../ui/lists/facts.js';
import { FormFault } from '../../ui/forms/form.js';
import { Notice } from '../../ui/notice.js';
import { Hint } from '../../ui/texts.js';
import { type DaySpan, daysUntil } from '../utc-days.js';
import { Covers } from './covers.js';
import { refreshReconciliation } from './reconciliation.js';
import { CancelButton } from '../../ui/forms/cancel-button.js';

/** What the control plane takes at once; the command line takes any size. */
const MOST_BYTES = 8 * 1_024 * 1_024;

type Mapping = GetAnswer<'/api/finance/bank-accounts'>['items'][number]['mapping'];

const route = getRouteApi('/finance/reconciliation');

interface Target {
  /** `stripe`, or a bank account. */
  source: string;
  days: DaySpan;
}

/** A file is tried first: its changes are shown, and nothing is imported until that is confirmed. */
export function ImportFile() {
  const { t } = useTranslation('reconciliation');
  const accounts = $api.useQuery('get', '/api/finance/bank-accounts').data?.items ?? [];
  const { from, to } = route.useSearch();
  const navigate = route.useNavigate();
  const [source, setSource] = useState('stripe');
  const target: Target = { source, days: { from, to } };
  const [file, setFile] = useState<{ name: string; text: string } | null>(null);
  const trial = useMutation({
    mutationFn: ({ days, text }: { days: DaySpan; text: string }) => send({ source, days }, text, true),
  });
  const mapping = accounts.find(({ id }) => `bank:${id}` === source)?.mapping;
  const forget = () => {
    setFile(null);
    trial.reset();
  };
  const take = async ([dropped]: File[]) => {
    if (!dropped) return;
    const text = await textOf(dropped, mapping);
    setFile({ name: dropped.name, text });
    if (areGiven(target.days)) trial.mutate({ days: target.days, text });
  };
  const setDays = (days: DaySpan) => {
    void navigate({ search: { tab: 'imports', ...days }, replace: true, resetScroll: false });
    trial.reset();
    if (file && areGiven(days)) trial.mutate({ days, text: file.text });
  };
  return (
    <Stack>
      <Group align="flex-end">
        <SourceChoice
          source={source}
          choose={(chosen) => {
            setSource(chosen);
            forget();
          }}
        />
        <DayRange from={from} to={to} set={setDays} />
      </Group>
      <Hint>{t('import.daysHint')}</Hint>
      <Drop take={take} isBusy={trial.isPending} />
      {file && !areGiven(target.days) && <DaysMissing name={file.name} />}
      <FormFault error={trial.error} />
      {file && trial.data && <Trial file={file} trial={trial.data} target={target} forget={forget} />}
    </Stack>
  );
}

function areGiven({ from, to }: DaySpan): boolean {
  return from !== undefined && to !== undefined;
}

function DaysMissing({ name }: { name: string }) {
  const { t } = useTranslation('reconciliation');
  return (
    <Notice tone="warning" title={t('import.daysMissing', { name })} role="status">
      {t('import.daysMissingHint')}
    </Notice>
  );
}

interface SourceChoiceProps {
  source: string;
  choose: (source: string) => void;
}

function SourceChoice({ source, choose }: SourceChoiceProps) {
  const { t } = useTranslation('reconciliation');
  const accounts = $api.useQuery('get', '/api/finance/bank-accounts').data?.items ?? [];
  return (
    <Select
      label={t('import.of')}
      data={[
        { value: 'stripe', label: t('import.stripe') },
        ...accounts.map(({ id }) => ({ value: `bank:${id}`, label: t('import.bank', { id }) })),
      ]}
      value={source}
      onChange={(chosen) => choose(chosen ?? 'stripe')}
      allowDeselect={false}
      w={{ base: '100%', xs: '18rem' }}
    />
  );
}

async function textOf(file: File, mapping: Mapping | undefined): Promise<string> {
  return new TextDecoder(mapping?.encoding ?? 'utf-8').decode(await file.arrayBuffer());
}

async function send({ source, days }: Target, text: string, isTrial: boolean) {
  const query = { ...daysUntil(days), dryRun: isTrial ? 'true' : 'false' } as const;
  const csv = { body: text, bodySerializer: String, headers: { 'content-type': 'text/csv' } };
  if (source === 'stripe')
    return (await api.POST('/api/finance/provider-reports/stripe', { params: { query }, ...csv })).data!;
  const params = { path: { bankAccountId: source.replace(/^bank:/, '') }, query };
  return (await api.POST('/api/finance/bank-accounts/{bankAccountId}/lines', { params, ...csv })).data!;
}

function Drop({ take, isBusy }: { take: (files: File[]) => Promise<void>; isBusy: boolean }) {
  const { t } = useTranslation('reconciliation');
  const [refused, setRefused] = useState(false);
  return (
    <>
      <Dropzone
        onDrop={(files) => {
          setRefused(false);
          void take(files);
        }}
        onReject={() => setRefused(true)}
        maxFiles={1}
        multiple={false}
        maxSize={MOST_BYTES}
        accept={['text/csv', 'application/vnd.ms-excel', 'text/plain']}
        loading={isBusy}
        inputProps={{ 'aria-label': t('import.file') }}
      >
        <Group justify="center" gap="sm" mih="6rem" wrap="nowrap">
          <IconFileSpreadsheet size={32} stroke={1.5} aria-hidden />
          <div>
            <Text fw={500}>{t('import.drop')}</Text>
            <Hint>{t('import.dropHint')}</Hint>
          </div>
        </Group>
      </Dropzone>
      {refused && (
        <Notice tone="bad" title={t('import.refused')}>
          {t('import.refusedHint')}
        </Notice>
      )}
    </>
  );
}

interface TrialProps {
  file: { name: string; text: string };
  trial: Awaited<ReturnType<typeof send>>;
  target: Target;
  forget: () => void;
}

function Trial({ file, trial, target, forget }: TrialProps) {
  const { t } = useTranslation('reconciliation');
  const importing = useMutation({
    mutationFn: () => send(target, file.text, false),
    onSuccess: async ({ added }) => {
      await refreshReconciliation();
      notify(t('import.done', { count: added }));
      forget();
    },
  });
  const { lines, added, changed, covers } = trial;
  return (
    <Paper withBorder p="md" role="status">
      <Stack>
        <Text fw={600} className="model-name">
          {t('import.trial', { name: file.name })}
        </Text>
        <Facts label={t('import.trial', { name: file.name })}>
          <Fact name={t('imports.lines')} value={lines} />
          <Fact name={t('import.added')} value={added} />
          <Fact name={t('import.known')} value={lines - added - changed} />
          <Fact name={t('import.changed')} value={changed} />
          <Fact name={t('imports.covers')} value={covers === null ? '–' : <Covers covers={covers} />} />
        </Facts>
        {changed > 0 && (
          <Notice tone="warning" title={t('import.changedTitle')}>
            {t('import.changedHint')}
          </Notice>
        )}
        <FormFault error={importing.error} />
        <Group>
          <Button loading={importing.isPending} onClick={() => importing.mutate()}>
            {t('import.do')}
          </Button>
          <CancelButton cancel={forget} />
        </Group>
      </Stack>
    </Paper>
  );
}
