import { Button, Code, Group } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, type Item, refresh, useRead } from '../../api/client.js';
import { notify } from '../../shell/notices.js';
import { column, textColumn } from '../../ui/lists/columns.js';
import { DataList, type ListColumn } from '../../ui/lists/data-list.js';
import { choiceField } from '../../ui/forms/choice-fields.js';
import { Form } from '../../ui/forms/declared.js';
import { countField } from '../../ui/forms/number-fields.js';
import { textField } from '../../ui/forms/text-fields.js';
import { Section } from '../../ui/page.js';
import { CancelButton } from '../../ui/forms/cancel-button.js';
import { type MappingOfBank, mappingOf } from './bank-mapping.js';

type BankAccount = Item<'/api/finance/bank-accounts'>;

/** How to read each bank account's files. Every bank has its own format. */
export function BankAccounts() {
  const { t } = useTranslation('reconciliation');
  const [open, setOpen] = useState<BankAccount | 'new' | null>(null);
  const account = open === 'new' ? null : open;
  const accounts = useRead('/api/finance/bank-accounts');
  return (
    <Section
      title={t('accounts.title')}
      aside={
        <Button size="xs" variant="default" onClick={() => setOpen('new')}>
          {t('accounts.add')}
        </Button>
      }
    >
      {open && <AccountForm key={account?.id ?? ''} account={account} close={() => setOpen(null)} />}
      <DataList query={accounts} columns={useColumns(setOpen)} empty={t('accounts.empty')} />
    </Section>
  );
}

function useColumns(open: (account: BankAccount) => void): ListColumn<BankAccount>[] {
  const { t } = useTranslation('reconciliation');
  return [
    textColumn('id', t('accounts.id')),
    column('mapping', t('accounts.columns'), ({ mapping: { date, amount, reference } }) => (
      <Group gap="tiny">
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
      <Button size="xs" variant="default" onClick={() => open(account)}>
        {t('accounts.change')}
      </Button>
    )),
  ];
}

const delimiters = [',', ';', '\t', '|'] as const;
const encodings = ['utf-8', 'windows-1252'] as const;

const NAMES = { ',': 'comma', ';': 'semicolon', '\t': 'tab', '|': 'bar' } as const;
const ACCOUNT_ID = /^[a-z0-9][a-z0-9-]{0,39}$/;

function useReading(mapping: MappingOfBank | undefined) {
  const { t } = useTranslation('reconciliation');
  const skipped = mapping?.skipLines ?? 0;
  return {
    delimiter: choiceField(t('accounts.delimiter'), {
      initial: mapping?.delimiter ?? ',',
      of: delimiters,
      name: (delimiter) => t(`accounts.delimiters.${NAMES[delimiter]}`),
      isHalf: true,
    }),
    decimal: choiceField(t('accounts.decimal'), {
      initial: mapping?.decimal ?? '.',
      of: ['.', ','],
      name: (decimal) => `1234${decimal}56`,
      isHalf: true,
    }),
    encoding: choiceField(t('accounts.encoding'), {
      initial: mapping?.encoding ?? 'utf-8',
      of: encodings,
      name: (encoding) => encoding,
      isHalf: true,
    }),
    skipLines: countField(t('accounts.skipLines'), { initial: skipped, min: 0, max: 100, isHalf: true }),
  };
}

function useColumnFields(mapping: MappingOfBank | undefined) {
  const { t } = useTranslation('reconciliation');
  const amount = mapping?.amount;
  const currency = mapping?.currency ?? { fixed: 'USD' };
  const column = (name: ColumnName, initial = '', missing?: string) =>
    textField(t(`accounts.fields.${name}`), {
      initial,
      hint: t(`accounts.fieldHints.${name}`),
      missing,
      required: false,
      isHalf: true,
    });
  return {
    dateColumn: column('dateColumn', mapping?.date.column, t('accounts.columnMissing')),
    dateFormat: column('dateFormat', mapping?.date.format ?? 'YYYY-MM-DD'),
    amountColumn: column('amountColumn', amount && 'column' in amount ? amount.column : ''),
    debitColumn: column('debitColumn', amount && 'debit' in amount ? amount.debit : ''),
    creditColumn: column('creditColumn', amount && 'debit' in amount ? amount.credit : ''),
    currency: column('currency', 'fixed' in currency ? currency.fixed : currency.column),
    reference: column('reference', mapping?.reference.join(', '), t('accounts.columnMissing')),
    lineId: column('lineId', mapping?.lineId),
    timeZone: column('timeZone', mapping?.timeZone ?? 'UTC'),
  };
}

type ColumnName =
  | 'dateColumn'
  | 'dateFormat'
  | 'amountColumn'
  | 'debitColumn'
  | 'creditColumn'
  | 'currency'
  | 'reference'
  | 'lineId'
  | 'timeZone';

function useAccountFields(account: BankAccount | null) {
  const { t } = useTranslation('reconciliation');
  return {
    id: textField(t('accounts.id'), {
      initial: account?.id ?? '',
      hint: t('accounts.idHint'),
      rule: [ACCOUNT_ID, t('accounts.idWrong')],
      disabled: account !== null,
    }),
    ...useReading(account?.mapping),
    ...useColumnFields(account?.mapping),
  };
}

function AccountForm({ account, close }: { account: BankAccount | null; close: () => void }) {
  const { t } = useTranslation('reconciliation');
  return (
    <Form
      fields={useAccountFields(account)}
      faults={({ amountColumn, debitColumn, creditColumn }) => ({
        amountColumn:
          amountColumn === '' && (debitColumn === '' || creditColumn === '') && t('accounts.amountMissing'),
      })}
      submit={t('accounts.save')}
      aside={<CancelButton cancel={close} />}
      send={({ id, ...values }) =>
        api.PUT('/api/finance/bank-accounts/{bankAccountId}', {
          params: { path: { bankAccountId: id } },
          body: { mapping: mappingOf(values, account?.mapping) },
        })
      }
      done={async () => {
        await refresh('/api/finance/bank-accounts');
        notify(t('accounts.saved'));
        close();
      }}
    />
  );
}
