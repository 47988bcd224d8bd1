import { Button, FileButton, Group, Paper, ScrollArea, Stack, Text } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { api, newRequestId, refresh } from '../../api/client.js';
import { notify } from '../../shell/notices.js';
import { rightColumn, textColumn } from '../../ui/lists/columns.js';
import { ListColumn } from '../../ui/lists/data-list.js';
import { Dialog } from '../../ui/forms/dialog.js';
import { FormFault } from '../../ui/forms/form.js';
import { Labelled } from '../../ui/texts.js';
import { Notice } from '../../ui/notice.js';
import { PlainTable } from '../../ui/lists/plain-table.js';
import { Cost } from './cost.js';
import { CancelButton } from '../../ui/forms/cancel-button.js';

async function send(text: string, { requestId, dryRun }: { requestId: string; dryRun: boolean }) {
  const query = { requestId, dryRun: dryRun ? 'true' : 'false' } as const;
  const csv = { body: text, bodySerializer: String, headers: { 'content-type': 'text/csv' } };
  return (await api.POST('/api/finance/upstream-costs/import', { params: { query }, ...csv })).data!;
}

type Trial = Awaited<ReturnType<typeof send>>;

/** Imports costs from a file after showing what would change. */
export function ImportCosts() {
  const { t } = useTranslation('costs');
  const { isOpen, isReady, take, close, trial, importing } = useImport();
  return (
    <>
      <ChooseFile take={take} />
      <Dialog opened={isOpen} onClose={close} title={t('import.title')} size="xl">
        <Stack>
          {trial.data && <WouldChange trial={trial.data} />}
          <FormFault error={importing.error ?? trial.error} />
          <Group justify="flex-end">
            <CancelButton cancel={close} />
            <Button
              loading={trial.isPending || importing.isPending}
              disabled={!isReady}
              onClick={() => importing.mutate()}
            >
              {t('import.do')}
            </Button>
          </Group>
        </Stack>
      </Dialog>
    </>
  );
}

function useImport() {
  const { t } = useTranslation('costs');
  const [file, setFile] = useState<{ text: string; requestId: string } | null>(null);
  const close = () => setFile(null);
  const trial = useMutation({ mutationFn: tryOut });
  const importing = useMutation({
    mutationFn: () => send(file!.text, { requestId: file!.requestId, dryRun: false }),
    onSuccess: async ({ changed }) => {
      await refresh('/api/finance/upstream-costs', '/api/finance/reports/revenue');
      notify(t('import.done', { count: changed.length }));
      close();
    },
  });
  const take = async (dropped: File | null) => {
    if (!dropped) return;
    const chosen = { text: await dropped.text(), requestId: newRequestId() };
    importing.reset();
    setFile(chosen);
    trial.mutate(chosen.text);
  };
  const isReady = trial.data?.refused.length === 0 && trial.data.changed.length > 0;
  return { isOpen: file !== null, isReady, take, close, trial, importing };
}

function ChooseFile({ take }: { take: (file: File | null) => Promise<void> }) {
  const { t } = useTranslation('costs');
  const forget = useRef<() => void>(null);
  const choose = (chosen: File | null) => {
    // Otherwise the same file, corrected, could not be chosen again.
    forget.current?.();
    void take(chosen);
  };
  return (
    <FileButton onChange={choose} resetRef={forget} accept=".csv,text/csv">
      {(props) => (
        <Button variant="default" {...props}>
          {t('import.choose')}
        </Button>
      )}
    </FileButton>
  );
}

function tryOut(text: string): Promise<Trial> {
  return send(text, { requestId: newRequestId(), dryRun: true });
}

function WouldChange({ trial: { changed, same, refused } }: { trial: Trial }) {
  const { t } = useTranslation('costs');
  return (
    <Stack>
      <Text size="sm">{t('import.summary', { changed: changed.length, same, refused: refused.length })}</Text>
      {refused.length > 0 && (
        <Notice tone="bad" title={t('import.refused')}>
          {refused.map(({ line, code, params, reason }) => (
            <Text key={line} size="sm">
              <Labelled label={t('import.line', { line })}>
                {t(`refusals.${code}`, { ...params, defaultValue: reason })}
              </Labelled>
            </Text>
          ))}
        </Notice>
      )}
      {changed.length > 0 && <Changed rows={changed} />}
    </Stack>
  );
}

function Changed({ rows }: { rows: Trial['changed'] }) {
  const { t } = useTranslation('costs');
  const columns: ListColumn<Trial['changed'][number]>[] = [
    textColumn('channel', t('columns.channel')),
    textColumn('model', t('columns.model')),
    rightColumn('before', t('import.before'), ({ before }) =>
      before === null ? '–' : <Cost cost={before.cost} />,
    ),
    rightColumn('after', t('import.after'), ({ cost }) => <Cost cost={cost} />),
  ];
  return (
    <Paper withBorder>
      <ScrollArea.Autosize mah="24rem" type="auto">
        <PlainTable label={t('import.title')} columns={columns} rows={rows} rowKey="line" />
      </ScrollArea.Autosize>
    </Paper>
  );
}
