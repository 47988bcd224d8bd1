import { Button, Group, Select } from '@mantine/core';
import { IconFileText } from '@tabler/icons-react';
import { useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { type Shape, useShown } from '../../api/client.js';
import { useFilter } from '../../ui/address.js';
import { addDecimals, multiplyDecimal } from '../../ui/decimal.js';
import { column, moneyColumn, rightColumn } from '../../ui/lists/columns.js';
import { DataList, knownRows, type ListColumn } from '../../ui/lists/data-list.js';
import { CsvLink } from '../../ui/lists/csv-link.js';
import { Figure, Figures } from '../../ui/lists/facts.js';
import { TextLink, DownloadButton } from '../../ui/links.js';
import { useLocale } from '../../ui/locale.js';
import { Money } from '../../ui/money.js';
import { stringifySearch } from '../../ui/search.js';
import { Section } from '../../ui/page.js';
import { Loaded } from '../../ui/states.js';
import { SmallPrint } from '../../ui/texts.js';
import { When } from '../../ui/time/when.js';
import { latestMonths, monthOfAddress } from './statement-search.js';

type Statement = Shape<'MonthlyStatement'>;
type OfKey = Statement['keys'][number];

/** A month by key, or a month of one key, also as a file. */
export function StatementOfMonth() {
  const { t } = useTranslation('wallet');
  const search = useSearch({ from: '/user/wallet' });
  const month = monthOfAddress(search.month);
  const { keyId } = search;
  return (
    <Section title={t('monthly.title')} aside={<Choosing month={month} keyId={keyId} />}>
      {month && <ByKey month={month} keyId={keyId} />}
    </Section>
  );
}

interface ByKeyProps {
  month: string;
  keyId: string | undefined;
}

function ByKey({ month, keyId }: ByKeyProps) {
  const statement = useShown('/api/statements/{month}/by-key', { path: { month }, query: { keyId } });
  return (
    <>
      {keyId !== undefined && <OneKey name={statement.data?.key?.name ?? ''} />}
      <Loaded query={statement} lines={6}>
        {(found) => <Found statement={found} />}
      </Loaded>
    </>
  );
}

function Choosing({ month, keyId }: { [Name in keyof ByKeyProps]: string | undefined }) {
  return (
    <Group gap="xs">
      <Month month={month ?? null} />
      {month && <Files month={month} keyId={keyId} />}
    </Group>
  );
}

function Files({ month, keyId }: ByKeyProps) {
  const { t, i18n } = useTranslation('wallet');
  return (
    <Group gap="xs">
      <DownloadButton
        href={`/api/statements/${month}${stringifySearch({ keyId, language: i18n.language })}`}
        size="xs"
        leftSection={<IconFileText size={14} aria-hidden />}
      >
        {t('monthly.pdf')}
      </DownloadButton>
      <CsvLink path={`/api/statements/${month}/by-key.csv`} query={{ keyId }} />
    </Group>
  );
}

function Month({ month }: { month: string | null }) {
  const { t } = useTranslation('wallet');
  const locale = useLocale();
  const set = useFilter();
  const format = new Intl.DateTimeFormat(locale, { month: 'long', year: 'numeric', timeZone: 'UTC' });
  return (
    <Select
      aria-label={t('monthly.month')}
      data={latestMonths().map((value) => ({
        value,
        label: format.format(new Date(`${value}-01T00:00:00Z`)),
      }))}
      value={month}
      placeholder={t('monthly.choose')}
      onChange={(chosen) => set({ month: chosen ?? undefined })}
      clearable
      w={{ base: '100%', xs: '12rem' }}
    />
  );
}

function OneKey({ name }: { name: string }) {
  const { t } = useTranslation('wallet');
  const set = useFilter();
  return (
    <Group gap="xs">
      <span className="model-name">{t('monthly.oneKey', { name })}</span>
      <Button variant="subtle" size="xs" onClick={() => set({ keyId: undefined })}>
        {t('monthly.allKeys')}
      </Button>
    </Group>
  );
}

function Found({ statement }: { statement: Statement }) {
  const { t } = useTranslation('wallet');
  const { to, key } = statement;
  return (
    <>
      <Sums statement={statement} />
      {key === null ? <Keys keys={statement.keys} /> : <Models moves={statement.moves} />}
      <SmallPrint>
        {t('monthly.to')} <When at={to} />
      </SmallPrint>
    </>
  );
}

/** They add up: from the opening to the closing balance, or to the net cost of a key. */
function Sums({ statement: { opening, closing, keys } }: { statement: Statement }) {
  const { t } = useTranslation('wallet');
  const sum = (field: 'charged' | 'refunded' | 'net') => addDecimals('0', ...keys.map((each) => each[field]));
  const charged = { name: t('monthly.charged'), value: sum('charged') };
  const refunded = { name: t('monthly.refunded'), value: sum('refunded') };
  const net = { name: t('monthly.net'), value: sum('net') };
  const sums =
    opening === null || closing === null
      ? [charged, refunded, net]
      : [
          { name: t('monthly.opening'), value: opening },
          { name: t('monthly.added'), value: addDecimals(closing, negative(opening), net.value) },
          net,
          { name: t('monthly.closing'), value: closing },
        ];
  return (
    <Figures>
      {sums.map(({ name, value }) => (
        <Figure key={name} name={name} value={<Money value={value} short />} />
      ))}
    </Figures>
  );
}

function negative(value: string): string {
  return multiplyDecimal(value, -1);
}

/** Each key leads to its own statement. */
function Keys({ keys }: { keys: readonly OfKey[] }) {
  const { t } = useTranslation('wallet');
  const locale = useLocale();
  const columns: ListColumn<OfKey>[] = [
    column('key', t('statement.key'), (row) => <Key row={row} />),
    rightColumn('requests', t('monthly.requests'), ({ requests }) => requests.toLocaleString(locale)),
    moneyColumn('charged', t('monthly.charged')),
    moneyColumn('refunded', t('monthly.refunded')),
    moneyColumn('net', t('monthly.net')),
  ];
  return (
    <DataList
      label={t('monthly.keys')}
      query={knownRows(keys)}
      columns={columns}
      rowKey={({ keyId }) => keyId ?? ''}
      empty={t('monthly.empty')}
    />
  );
}

function Key({ row: { keyId, keyName } }: { row: OfKey }) {
  const { t } = useTranslation('wallet');
  if (keyId === null) return t('monthly.noKey');
  const search = (before: object) => ({ ...before, keyId, cursor: undefined });
  return (
    <TextLink to="/wallet" search={search} resetScroll={false} className="model-name">
      {keyName ?? keyId}
    </TextLink>
  );
}

function Models({ moves }: { moves: Statement['moves'] }) {
  const { t } = useTranslation('wallet');
  const columns: ListColumn<Statement['moves'][number]>[] = [
    column('model', t('monthly.model'), ({ model }) => model ?? t('monthly.noModel')),
    column('kind', t('statement.kind'), ({ kind }) =>
      kind === 'settle' ? t('statement.kinds.settle') : t('statement.kinds.charge_refund'),
    ),
    moneyColumn('amount', t('statement.amount'), { signed: true }),
  ];
  return (
    <DataList
      label={t('monthly.models')}
      query={knownRows(moves)}
      columns={columns}
      rowKey={({ kind, model }) => `${kind} ${model ?? ''}`}
      empty={t('monthly.empty')}
    />
  );
}
