import { Button, Card, Group, Radio, Stack, TextInput } from '@mantine/core';
import { IconDownload } from '@tabler/icons-react';
import { getRouteApi } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { useRead } from '../../api/client.js';
import { useFilter } from '../../ui/address.js';
import { Switch, optionsOf } from '../../ui/lists/choice.js';
import { PageFrame, Section } from '../../ui/page.js';
import { stringifySearch } from '../../ui/search.js';
import { Hint, SmallPrint } from '../../ui/texts.js';
import { timesOf, today } from '../utc-days.js';
import { DownloadList } from './download-list.js';
import { startDownload } from './downloads.js';
import { ExportRange } from './export-range.js';

const route = getRouteApi('/finance/exports');
const formats = ['csv', 'jsonl', 'hledger', 'beancount'] as const;
const details = ['full', 'summary'] as const;

/** Exports the books for other programs. Downloads continue while people do something else in this tab. */
export default function ExportsPage() {
  const { t } = useTranslation('costs');
  return (
    <PageFrame title={t('exports.title')} about={t('exports.about')} width={56}>
      <Stack gap="xl">
        <Card withBorder>
          <Choose />
        </Card>
        <Section title={t('exports.files')}>
          <DownloadList />
        </Section>
      </Stack>
    </PageFrame>
  );
}

const endings = { csv: 'csv', jsonl: 'jsonl', hledger: 'journal', beancount: 'beancount' } as const;

type Format = (typeof formats)[number];
type Detail = (typeof details)[number];

function Choose() {
  const { t } = useTranslation('costs');
  const { account } = route.useSearch();
  const [format, setFormat] = useState<Format>('csv');
  const [detail, setDetail] = useState<Detail>('full');
  const { path, name } = useFile(format, detail);
  const save = () => void startDownload(path, name);
  return (
    <Stack>
      <ExportRange />
      <OneAccount />
      <FormatChoice format={format} choose={setFormat} />
      {account === undefined && <DetailChoice detail={detail} choose={setDetail} />}
      <Group>
        <Button leftSection={<IconDownload size={16} aria-hidden />} onClick={save}>
          {t('exports.do')}
        </Button>
        <Button component="a" href={path} download variant="subtle">
          {t('exports.direct')}
        </Button>
      </Group>
      <SmallPrint>{t('exports.directHint')}</SmallPrint>
    </Stack>
  );
}

function useFile(format: Format, detail: Detail) {
  const { account, from, to, by = 'recorded', period } = route.useSearch();
  // There are summaries of all accounts only.
  const ofAccount = account === undefined ? { detail } : { ledgerAccountId: account };
  const range = period === undefined ? { by, ...timesOf({ from, to }) } : { period };
  const times = period === undefined ? [from ?? 'begin', to ?? today()] : ['period', period];
  const name = ['tollgate', account, ...times].filter(Boolean).join('-');
  return {
    path: `/api/finance/export${stringifySearch({ format, ...range, ...ofAccount })}`,
    name: `${name}.${endings[format]}`,
  };
}

function DetailChoice({ detail, choose }: { detail: Detail; choose: (detail: Detail) => void }) {
  const { t } = useTranslation('costs');
  return (
    <Stack gap="tiny" align="flex-start">
      <Switch
        label={t('exports.detail')}
        options={optionsOf(details, t('exports.details'))}
        value={detail}
        set={choose}
      />
      <Hint>{t(`exports.detailHints.${detail}`)}</Hint>
    </Stack>
  );
}

function FormatChoice({ format, choose }: { format: Format; choose: (format: Format) => void }) {
  const { t } = useTranslation('costs');
  return (
    <Radio.Group label={t('exports.format')} value={format} onChange={(value) => choose(asFormat(value))}>
      <Stack gap="xs" mt="xs">
        {formats.map((value) => (
          <Radio
            key={value}
            value={value}
            label={t(`exports.formats.${value}`)}
            description={t(`exports.formatHints.${value}`)}
          />
        ))}
      </Stack>
    </Radio.Group>
  );
}

function asFormat(text: string): Format {
  return formats.find((format) => format === text) ?? 'csv';
}

/** The account that the export is limited to, if any. */
function OneAccount() {
  const { t } = useTranslation('costs');
  const { account } = route.useSearch();
  const set = useFilter();
  const statement = useRead(
    '/api/finance/ledger-accounts/{ledgerAccountId}/statement',
    { path: { ledgerAccountId: account ?? '' }, query: { limit: 1 } },
    { enabled: account !== undefined },
  );
  if (account === undefined) return null;
  const code = statement.data?.account.code ?? account;
  return (
    <Group align="flex-end">
      <TextInput label={t('exports.account')} readOnly value={code} flex={1} />
      <Button variant="default" onClick={() => set({ account: undefined })}>
        {t('exports.all')}
      </Button>
    </Group>
  );
}
