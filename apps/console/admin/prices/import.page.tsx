import { Button, FileInput, Group, Stack, Text } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useMutation } from '@tanstack/react-query';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, type Shape } from '../../api/client.js';
import { column, textColumn } from '../../ui/lists/columns.js';
import type { ListColumn } from '../../ui/lists/data-list.js';
import { FormFault, SendForm, useSend } from '../../ui/forms/form.js';
import { LeaveGuard } from '../../ui/forms/leave-guard.js';
import { BackLink } from '../../ui/links.js';
import { Hint } from '../../ui/texts.js';
import { Notice } from '../../ui/notice.js';
import { PageFrame, Section } from '../../ui/page.js';
import { enteredTime } from '../../ui/time/minute.js';
import { PlainTable } from '../../ui/lists/plain-table.js';
import { ProposalFields } from './proposal-fields.js';
import { useOpenProposal } from './proposals.js';
import { ProposedChanges } from './proposed-changes.js';
import { type RefusedRow, useRefusal } from './refusal.js';
import { ApiFailure } from '../../api/failure.js';

export default function ImportPage() {
  const { t } = useTranslation('prices');
  const [found, setFound] = useState<{ wanted: Importing; compared: Shape<'PriceImport'> } | null>(null);
  return (
    <PageFrame title={t('import.title')} about={t('import.about')}>
      <BackLink to="/admin/prices">{t('back')}</BackLink>
      <FileForm found={(wanted, compared) => setFound({ wanted, compared })} begun={() => setFound(null)} />
      {found && <Comparison {...found} />}
    </PageFrame>
  );
}

interface FileFormProps {
  begun: () => void;
  found: (wanted: Importing, compared: Shape<'PriceImport'>) => void;
}

function useFileForm({ begun, found }: FileFormProps) {
  const { t } = useTranslation('prices');
  const form = useForm({
    initialValues: { rows: null as File | null, effectiveAt: '', note: '' },
    validate: { rows: (file) => (file ? null : t('import.fileMissing')) },
  });
  const sending = useSend({
    form,
    send: async ({ rows, effectiveAt, note }) => {
      begun();
      const wanted = {
        ...(await readFile(rows!)),
        effectiveAt: enteredTime(effectiveAt),
        note: note.trim() || rows!.name,
      };
      return { wanted, compared: await compare(wanted) };
    },
    done: ({ wanted, compared }, values) => {
      // Nothing is left to propose, so nothing would be lost.
      if (compared.changed.length + compared.added.length === 0) form.resetDirty(values);
      found(wanted, compared);
    },
  });
  return { form, sending };
}

function FileForm(props: FileFormProps) {
  const { t } = useTranslation('prices');
  const { form, sending } = useFileForm(props);
  return (
    <SendForm sending={sending} submit={t('import.compare')}>
      <LeaveGuard isDirty={form.isDirty} />
      <Group align="flex-start" gap="sm">
        <FileInput
          label={t('import.file')}
          description={t('import.fileHint')}
          placeholder={t('import.choose')}
          accept=".csv,.json,text/csv,application/json"
          required
          clearable
          clearButtonProps={{ 'aria-label': t('import.clear') }}
          flex="1 1 16rem"
          {...form.getInputProps('rows')}
        />
        <ProposalFields form={form} flex="1 1 14rem" />
      </Group>
    </SendForm>
  );
}

function Comparison({ wanted, compared }: { wanted: Importing; compared: Shape<'PriceImport'> }) {
  const { t } = useTranslation('prices');
  const { added, changed, same, refused } = compared;
  const changes = [...changed, ...added];
  const counts = { changed: changed.length, added: added.length, same, refused: refused.length };
  return (
    <Section title={t('import.found')}>
      <Text role="status">{t('import.counts', counts)}</Text>
      {refused.length > 0 && <Refused rows={refused} />}
      {changes.length > 0 ? (
        <ProposedChanges changes={changes} />
      ) : (
        <Notice tone="quiet" title={t('import.nothing')}>
          {t('import.nothingHint')}
        </Notice>
      )}
      {changes.length > 0 && refused.length === 0 && <Propose wanted={wanted} count={changes.length} />}
    </Section>
  );
}

function Refused({ rows }: { rows: RefusedRow[] }) {
  const { t } = useTranslation('prices');
  const wordsOf = useRefusal();
  const columns: ListColumn<RefusedRow>[] = [
    textColumn('line', t('import.line')),
    column('reason', t('import.reason'), wordsOf),
  ];
  return (
    <Notice tone="bad" title={t('import.refused')}>
      <PlainTable label={t('import.refused')} columns={columns} rows={rows} rowKey="line" />
    </Notice>
  );
}

function Propose({ wanted, count }: { wanted: Importing; count: number }) {
  const { t } = useTranslation('prices');
  const open = useOpenProposal();
  const proposing = useMutation({
    mutationFn: () => send(wanted, false),
    onSuccess: async ({ proposal }) => proposal && open(proposal.id),
  });
  return (
    <Stack align="flex-start" gap="xs">
      <FormFault error={proposing.error} />
      <Button onClick={() => proposing.mutate()} loading={proposing.isPending}>
        {t('import.propose', { count })}
      </Button>
      <Hint>{t('import.proposeHint')}</Hint>
    </Stack>
  );
}

/** Rows of a JSON document, or the text of a CSV file. */
interface Importing {
  rows?: unknown[];
  csv?: string;
  effectiveAt: string | null;
  note: string;
}

/** @throws ApiFailure at the field `rows` when a JSON document holds no list of rows. */
async function readFile(file: File): Promise<Pick<Importing, 'rows' | 'csv'>> {
  const text = await file.text();
  if (!file.name.endsWith('.json') && file.type !== 'application/json') return { csv: text };
  const rows = parsedRows(text);
  if (rows) return { rows };
  const message = 'rows: must be a JSON document with a list of rows, as the export has it.';
  throw new ApiFailure({ status: 0, code: 'invalid_value', param: 'rows', message });
}

function parsedRows(text: string): unknown[] | null {
  try {
    const document = JSON.parse(text) as unknown;
    const rows = Array.isArray(document) ? document : (document as { rows?: unknown } | null)?.rows;
    return Array.isArray(rows) ? (rows as unknown[]) : null;
  } catch {
    return null;
  }
}

/** A dry run: nothing is proposed yet. */
function compare(wanted: Importing): Promise<Shape<'PriceImport'>> {
  return send(wanted, true);
}

async function send(wanted: Importing, dryRun: boolean): Promise<Shape<'PriceImport'>> {
  const { rows, csv = '', effectiveAt, note } = wanted;
  if (rows) {
    const { data } = await api.POST('/api/admin/prices/import', {
      body: { rows, effectiveAt, note, dryRun },
    });
    return data!;
  }
  const { data } = await api.POST('/api/admin/prices/import.csv', {
    params: { query: { note, dryRun: dryRun ? 'true' : 'false', ...(effectiveAt ? { effectiveAt } : {}) } },
    headers: { 'content-type': 'text/csv' },
    body: csv,
    bodySerializer: (text) => text,
  });
  return data!;
}
