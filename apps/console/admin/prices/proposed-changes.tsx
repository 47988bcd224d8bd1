import { Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Shape } from '../../api/client.js';
import { column, rightColumn } from '../../ui/lists/columns.js';
import { DataList, knownRows, type ListColumn } from '../../ui/lists/data-list.js';
import { NONE } from '../../ui/lists/phone-row.js';
import { Money } from '../../ui/money.js';
import { Labelled, TextLine, SmallPrint } from '../../ui/texts.js';
import { type Change, useModels } from '../catalog.js';
import { ChangeValue, Difference, nameOf, changeKey, PricesLink } from './change.js';
import { exampleOf } from './example.js';

type Compared = Pick<Shape<'ComparedPrice'>, 'change' | 'before'>;

export function ProposedChanges({ changes }: { changes: readonly Compared[] }) {
  const { t } = useTranslation('prices');
  const models = useModels().data ?? [];
  return (
    <DataList
      label={t('proposal.changes')}
      query={knownRows(changes)}
      columns={useColumns(models)}
      rowKey={({ change }) => changeKey(change)}
      empty={{ title: t('proposal.noChanges'), hint: t('proposals.noneHint') }}
    />
  );
}

function useColumns(models: readonly Shape<'Model'>[]): ListColumn<Compared>[] {
  const { t } = useTranslation('prices');
  const modelOf = (change: Change) =>
    change.kind === 'price' ? models.find(({ id }) => id === change.model) : undefined;
  return [
    column('subject', t('columns.subject'), ({ change }) => <Subject change={change} />),
    rightColumn('before', t('columns.before'), ({ change, before }) => (
      <ChangeValue change={before} unit={modelOf(change)?.unit} />
    )),
    rightColumn('after', t('columns.after'), ({ change }) => (
      <ChangeValue change={change} unit={modelOf(change)?.unit} />
    )),
    rightColumn('difference', t('columns.difference'), ({ change, before }) => (
      <Difference before={before} after={change} />
    )),
    column('example', t('columns.example'), (compared) => {
      const model = modelOf(compared.change);
      return model ? <Example compared={compared} model={model} /> : NONE;
    }),
  ];
}

function Subject({ change }: { change: Change }) {
  const { t } = useTranslation('prices');
  return (
    <Stack gap={0}>
      {change.kind === 'price' ? (
        <PricesLink model={change.model} />
      ) : (
        <Text size="sm">{nameOf(change)}</Text>
      )}
      <SmallPrint>{t(`kinds.${change.kind}`)}</SmallPrint>
    </Stack>
  );
}

interface ExampleProps {
  compared: Compared;
  model: Shape<'Model'>;
}

function Example({ compared, model }: ExampleProps) {
  const { t } = useTranslation('prices');
  const [before, after] = [exampleOf(compared.before, model), exampleOf(compared.change, model)];
  if (after === null) return NONE;
  return (
    <TextLine>
      <Labelled
        label={t(`examples.${model.unit === 'call' && model.family === 'image' ? 'image' : model.unit}`)}
      >
        {before !== null && (
          <>
            <Money value={before} /> →{' '}
          </>
        )}
        <Money value={after} />
      </Labelled>
    </TextLine>
  );
}
