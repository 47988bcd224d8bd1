import { Button, Code, Group, NumberInput, Select, SimpleGrid, Stack } from '@mantine/core';
import { useForm, type UseFormReturnType } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api, api } from '../../api/client.js';
import { type Item, refresh } from '../../api/queries.js';
import { notify } from '../../shell/notices.js';
import { column, textColumn } from '../../ui/lists/columns.js';
import { type ListColumn, DataList } from '../../ui/lists/data-list.js';
import { TextField } from '../../ui/forms/fields.js';
import { SendForm, useSend } from '../../ui/forms/form.js';
import { Section } from '../../ui/states.js';

type BankAccount = Item<'/api/finance/bank-accounts'>;

/** How the files of each bank account are read: banks agree on nothing, so all of it is said once. */
export function BankAccounts() {
  const { t } = useTranslation('reconciliation');
  const [open, setOpen] = useState<BankAccount | 'new' | null>(null);
  const accounts = $api.useQuery('get', '/api/finance/bank-accounts');
  const columns: ListColumn<BankAccount>[] = [
    textColumn('id', t('accounts.id')),
    column('mapping', t('accounts.columns'), ({ mapping: { date, amount, reference } }) => (
      <Group gap={4}>
        {[
          date.column,
          ...('column' in amount ? [amount.column] : [amount.debit, amount.credit]),
          ...reference,
        ].map((name) => (
          <Code key={name}>{name}</Code>
        ))}
      </Group>
    )),
    column('do', t('payments.do'), (account) => (
      <Button size="xs" variant="default" onClick={() => setOpen(account)}>
        {t('accounts.change')}
      </Button>
    )),
  ];
  return (
    <Section
      title={t('accounts.title')}
      aside={
        <Button size="xs" variant="default" onClick={() => setOpen('new')}>
          {t('accounts.add')}
        </Button>
      }
    >
      {open !== null && (
        <AccountForm
          key={open === 'new' ? '' : open.id}
          account={open === 'new' ? null : open}
          close={() => setOpen(null)}
        />
      )}
      <DataList
        label={t('accounts.title')}
        query={accounts}
        columns={columns}
        rowKey={({ id }) => id}
        empty={{ title: t('accounts.empty'), hint: t('accounts.emptyHint') }}
      />
    </Section>
  );
}

const delimiters = [',', ';', '\t', '|'] as const;
const encodings = ['utf-8', 'windows-1252'] as const;

interface Values extends Record<string, unknown> {
  id: string;
  delimiter: (typeof delimiters)[number];
  encoding: (typeof encodings)[number];
  skipLines: number;
  dateColumn: string;
  dateFormat: string;
  amountColumn: string;
  debitColumn: string;
  creditColumn: string;
  decimal: '.' | ',';
  currency: string;
  reference: string;
  lineId: string;
  timeZone: string;
}

function valuesOf(account: BankAccount | null): Values {
  const mapping = account?.mapping;
  const amount = mapping?.amount;
  return {
    id: account?.id ?? '',
    delimiter: mapping?.delimiter ?? ',',
    encoding: mapping?.encoding ?? 'utf-8',
    skipLines: mapping?.skipLines ?? 0,
    dateColumn: mapping?.date.column ?? '',
    dateFormat: mapping?.date.format ?? 'YYYY-MM-DD',
    amountColumn: amount && 'column' in amount ? amount.column : '',
    debitColumn: amount && 'debit' in amount ? amount.debit : '',
    creditColumn: amount && 'debit' in amount ? amount.credit : '',
    decimal: mapping?.decimal ?? '.',
    currency: mapping
      ? 'fixed' in mapping.currency
        ? mapping.currency.fixed
        : mapping.currency.column
      : 'USD',
    reference: mapping?.reference.join(', ') ?? '',
    lineId: mapping?.lineId ?? '',
    timeZone: mapping?.timeZone ?? 'UTC',
  };
}

/** A code of three letters is the one currency of the account, anything else names a column. */
function mappingOf(values: Values): BankAccount['mapping'] {
  const { delimiter, encoding, skipLines, decimal, currency, amountColumn, lineId, timeZone } = values;
  return {
    delimiter,
    encoding,
    skipLines,
    decimal,
    timeZone,
    date: { column: values.dateColumn, format: values.dateFormat },
    amount:
      amountColumn === ''
        ? { debit: values.debitColumn, credit: values.creditColumn }
        : { column: amountColumn, negate: false },
    currency: /^[A-Z]{3}$/.test(currency) ? { fixed: currency } : { column: currency },
    reference: values.reference.split(',').map((name) => name.trim()),
    ...(lineId === '' ? {} : { lineId }),
  };
}

function AccountForm({ account, close }: { account: BankAccount | null; close: () => void }) {
  const { t } = useTranslation('reconciliation');
  const form = useForm<Values>({
    initialValues: valuesOf(account),
    validate: {
      id: (value) => (/^[a-z0-9][a-z0-9-]{0,39}$/.test(value) ? null : t('accounts.idWrong')),
      dateColumn: (value) => (value === '' ? t('accounts.columnMissing') : null),
      reference: (value) => (value.trim() === '' ? t('accounts.columnMissing') : null),
      amountColumn: (value, { debitColumn, creditColumn }) =>
        value === '' && (debitColumn === '' || creditColumn === '') ? t('accounts.amountMissing') : null,
    },
  });
  const sending = useSend({
    form,
    send: (values) =>
      api.PUT('/api/finance/bank-accounts/{bankAccountId}', {
        params: { path: { bankAccountId: values.id } },
        body: { mapping: mappingOf(values) },
      }),
    done: async () => {
      await refresh('/api/finance/bank-accounts');
      notify(t('accounts.saved'));
      close();
    },
  });
  return (
    <SendForm
      sending={sending}
      submit={t('accounts.save')}
      aside={
        <Button variant="default" onClick={close}>
          {t('confirm.cancel', { ns: 'shell' })}
        </Button>
      }
    >
      <SimpleGrid cols={{ base: 1, sm: 2, md: 3 }}>
        <TextField
          form={form}
          name="id"
          label={t('accounts.id')}
          description={t('accounts.idHint')}
          required
          disabled={account !== null}
        />
        <Reading form={form} />
        <Columns form={form} />
      </SimpleGrid>
    </SendForm>
  );
}

function Reading({ form }: { form: UseFormReturnType<Values> }) {
  const { t } = useTranslation('reconciliation');
  const names = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'bar' } as const;
  return (
    <>
      <Select
        label={t('accounts.delimiter')}
        data={delimiters.map((value) => ({ value, label: t(`accounts.delimiters.${names[value]}`) }))}
        allowDeselect={false}
        {...form.getInputProps('delimiter')}
      />
      <Select
        label={t('accounts.decimal')}
        data={[
          { value: '.', label: '1234.56' },
          { value: ',', label: '1234,56' },
        ]}
        allowDeselect={false}
        {...form.getInputProps('decimal')}
      />
      <Select
        label={t('accounts.encoding')}
        data={encodings.map((value) => ({ value, label: value }))}
        allowDeselect={false}
        {...form.getInputProps('encoding')}
      />
      <NumberInput label={t('accounts.skipLines')} min={0} max={100} {...form.getInputProps('skipLines')} />
    </>
  );
}

function Columns({ form }: { form: UseFormReturnType<Values> }) {
  const { t } = useTranslation('reconciliation');
  const fields = [
    ...(['dateColumn', 'dateFormat', 'amountColumn', 'debitColumn', 'creditColumn'] as const),
    ...(['currency', 'reference', 'lineId', 'timeZone'] as const),
  ];
  return fields.map((name) => (
    <Stack key={name} gap={0}>
      <TextField
        form={form}
        name={name}
        label={t(`accounts.fields.${name}`)}
        description={t(`accounts.fieldHints.${name}`)}
      />
    </Stack>
  ));
}
