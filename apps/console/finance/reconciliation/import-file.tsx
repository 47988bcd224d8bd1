import '@mantine/dropzone/styles.css';
import { Button, Group, Paper, Select, Stack, Text } from '@mantine/core';
import { Dropzone } from '@mantine/dropzone';
import { IconFileSpreadsheet } from '@tabler/icons-react';
import { useMutation } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, refreshFinance, useRead } from '../../api/client.js';
import { notify } from '../../shell/notices.js';
import { DayRange } from '../../ui/forms/day-range.js';
import { Fact, Facts } from '../../ui/lists/facts.js';
import { FormFault } from '../../ui/forms/form.js';
import { Hint } from '../../ui/texts.js';
import { Notice } from '../../ui/notice.js';
import { type DaySpan, daysUntil } from '../utc-days.js';
import { Covers } from './covers.js';
import { CancelButton } from '../../ui/forms/cancel-button.js';

/** The control plane's limit; the command line takes files of any size. */
const MOST_BYTES = 8 * 1_024 * 1_024;

const route = getRouteApi('/finance/reconciliation');

interface Target {
  /** `stripe`, or `bank:` and the id of an account. */
  source: string;
  days: DaySpan;
}

interface DroppedFile {
  name: string;
  text: string;
}

/** Imports a file after a dry run: people see what would change, and confirm. */
export function ImportFile() {
  const { t } = useTranslation('reconciliation');
  const { target, setSource, setDays } = useTarget();
  const { file, trial, take, forget, retry } = useTrial(target);
  const choose = (source: string) => {
    setSource(source);
    forget();
  };
  const chooseDays = (days: DaySpan) => {
    setDays(days);
    retry(days);
  };
  return (
    <Stack>
      <Group align="flex-end">
        <SourceChoice source={target.source} choose={choose} />
        <DayRange from={target.days.from} to={target.days.to} set={chooseDays} />
      </Group>
      <Hint>{t('import.daysHint')}</Hint>
      <Drop take={take} isBusy={trial.isPending} />
      {file && <Outcome file={file} trial={trial} target={target} forget={forget} />}
    </Stack>
  );
}

/** The chosen source, and the days in the address. */
function useTarget() {
  const { from, to } = route.useSearch();
  const navigate = route.useNavigate();
  const [source, setSource] = useState('stripe');
  const target: Target = { source, days: { from, to } };
  const setDays = (days: DaySpan) =>
    void navigate({ search: { tab: 'imports', ...days }, replace: true, resetScroll: false });
  return { target, setSource, setDays };
}

/** Runs the import dry when a file is dropped, and again when the days change. */
function useTrial({ source, days }: Target) {
  const [file, setFile] = useState<DroppedFile | null>(null);
  const textOf = useTextOf(source);
  const trial = useMutation({
    mutationFn: (tried: { days: DaySpan; text: string }) =>
      send({ source, days: tried.days }, tried.text, true),
  });
  const attempt = (tried: DroppedFile | null, of: DaySpan) => {
    setFile(tried);
    trial.reset();
    if (tried && areGiven(of)) trial.mutate({ days: of, text: tried.text });
  };
  const take = async ([dropped]: File[]) => {
    if (dropped) attempt({ name: dropped.name, text: await textOf(dropped) }, days);
  };
  return { file, trial, take, forget: () => attempt(null, days), retry: (of: DaySpan) => attempt(file, of) };
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

function SourceChoice({ source, choose }: { source: string; choose: (source: string) => void }) {
  const { t } = useTranslation('reconciliation');
  const accounts = useRead('/api/finance/bank-accounts').data?.items ?? [];
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

/** Reads a file in the encoding of its bank account. */
function useTextOf(source: string): (file: File) => Promise<string> {
  const accounts = useRead('/api/finance/bank-accounts').data?.items ?? [];
  const account = accounts.find(({ id }) => `bank:${id}` === source);
  return async (file) =>
    new TextDecoder(account?.mapping.encoding ?? 'utf-8').decode(await file.arrayBuffer());
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
        <DropHint />
      </Dropzone>
      {refused && <Refused />}
    </>
  );
}

function DropHint() {
  const { t } = useTranslation('reconciliation');
  return (
    <Group justify="center" gap="sm" mih="6rem" wrap="nowrap">
      <IconFileSpreadsheet size={32} stroke={1.5} aria-hidden />
      <div>
        <Text fw={500}>{t('import.drop')}</Text>
        <Hint>{t('import.dropHint')}</Hint>
      </div>
    </Group>
  );
}

function Refused() {
  const { t } = useTranslation('reconciliation');
  return (
    <Notice tone="bad" title={t('import.refused')}>
      {t('import.refusedHint')}
    </Notice>
  );
}

type TrialResult = Awaited<ReturnType<typeof send>>;

interface OutcomeProps {
  file: DroppedFile;
  trial: { data: TrialResult | undefined; error: unknown };
  target: Target;
  forget: () => void;
}

/** The result of the dry run, or why there is none. */
function Outcome({ trial: { data, error }, ...tried }: OutcomeProps) {
  return (
    <>
      {!areGiven(tried.target.days) && <DaysMissing name={tried.file.name} />}
      <FormFault error={error} />
      {data && <Trial {...tried} result={data} />}
    </>
  );
}

function Trial({ file, result, target, forget }: Omit<OutcomeProps, 'trial'> & { result: TrialResult }) {
  const { t } = useTranslation('reconciliation');
  const importing = useMutation({
    mutationFn: () => send(target, file.text, false),
    onSuccess: async ({ added }) => {
      await refreshFinance();
      notify(t('import.done', { count: added }));
      forget();
    },
  });
  return (
    <Paper withBorder p="md" role="status">
      <Stack>
        <WouldChange title={t('import.trial', { name: file.name })} result={result} />
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

function WouldChange({ title, result }: { title: string; result: TrialResult }) {
  const { t } = useTranslation('reconciliation');
  const { lines, added, changed, covers } = result;
  return (
    <>
      <Text fw={600} className="model-name">
        {title}
      </Text>
      <Facts label={title}>
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
    </>
  );
}
