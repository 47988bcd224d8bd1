import { Stack, Text } from '@mantine/core';
import { linkOptions } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { api, refresh, type Shape } from '../../api/client.js';
import { Who } from '../../shell/who.js';
import { Fact, Facts } from '../../ui/lists/facts.js';
import { Identifier } from '../../ui/texts.js';
import { ButtonLink } from '../../ui/links.js';
import { Section } from '../../ui/page.js';
import { When } from '../../ui/time/when.js';
import { NoteAction } from '../note.js';
import { TransactionLinks } from '../transaction-links.js';
import { useFindingWords } from './finding-words.js';
import { momentOf } from './moment-of.js';
import { FindingBadge } from './control-words.js';

/** One thing that a control found: what is known about it, and what can be done. */
export function FindingDetails({ finding }: { finding: Shape<'Finding'> }) {
  const { wordsOf } = useFindingWords();
  const { subject, resolvedAt } = finding;
  return (
    <Stack gap="lg">
      <Stack gap="xs" align="flex-start">
        <FindingBadge finding={finding} />
        <Text fw={600} className="model-name">
          {subject}
        </Text>
        <Text>{wordsOf(finding)}</Text>
        {resolvedAt === null && <Remedy finding={finding} />}
      </Stack>
      <Course finding={finding} />
      <Details details={finding.details} />
      {resolvedAt === null && <Acknowledge finding={finding} />}
    </Stack>
  );
}

function Course({ finding }: { finding: Shape<'Finding'> }) {
  const { t } = useTranslation('finance');
  const { firstSeenAt, lastSeenAt, resolvedAt, transactionIds } = finding;
  const { acknowledgedBy, acknowledgedAt, note } = finding;
  const read = acknowledgedAt !== null && (
    <>
      <When at={acknowledgedAt} /> · {acknowledgedBy !== null && <Who actor={acknowledgedBy} />}
    </>
  );
  return (
    <Facts label={t('findings.one')}>
      <Fact name={t('findings.firstSeen')} value={<When at={firstSeenAt} />} />
      <Fact name={t('findings.lastSeen')} value={<When at={lastSeenAt} />} />
      {resolvedAt !== null && <Fact name={t('findings.resolved')} value={<When at={resolvedAt} />} />}
      {read && <Fact name={t('findings.read')} value={read} />}
      {note !== null && note !== '' && <Fact name={t('note.label')} value={note} />}
      <Fact name={t('findings.transactions')} value={<TransactionLinks ids={transactionIds} />} />
    </Facts>
  );
}

function Details({ details }: Pick<Shape<'Finding'>, 'details'>) {
  const { t } = useTranslation('finance');
  const { detailOf, valuesOf } = useFindingWords();
  const texts = valuesOf(details);
  const known = Object.entries(details).filter(([name, value]) => !CODES.includes(name) && value);
  if (known.length === 0) return null;
  return (
    <Section title={t('findings.details')}>
      <Facts label={t('findings.details')}>
        {known.map(([name, value]) => (
          <Fact
            key={name}
            name={detailOf(name)}
            value={<Detail name={name} value={value} text={texts[name] ?? ''} />}
          />
        ))}
      </Facts>
    </Section>
  );
}

/** Details that only select the sentence. */
const CODES = ['how', 'also'];

/** Details that name a person. */
const PEOPLE = ['requested_by', 'approved_by', 'actor'];

function Detail({ name, value, text }: { name: string; value: string | null; text: string }) {
  if (value !== null && PEOPLE.includes(name)) return <Who actor={value} />;
  // An error of the database, which is in English.
  if (name === 'refusal') return <span lang="en">{value}</span>;
  const time = momentOf(value);
  return time === null ? <Identifier>{text}</Identifier> : <When at={time} />;
}

/** Says that someone is working on a finding, which stays open until its control no longer reports it. */
function Acknowledge({ finding: { id, control, acknowledgedAt } }: { finding: Shape<'Finding'> }) {
  const { t } = useTranslation('finance');
  return (
    <NoteAction
      texts={{
        do: acknowledgedAt === null ? t('findings.acknowledge') : t('findings.noteAgain'),
        title: t('findings.acknowledge'),
        hint: t('findings.acknowledgeHint'),
      }}
      noteLabel={t('findings.noteLabel')}
      button={{ w: 'fit-content' }}
      send={({ note }) =>
        api.POST('/api/finance/controls/{controlId}/findings/{findingId}/acknowledge', {
          params: { path: { controlId: control, findingId: id } },
          body: { note },
        })
      }
      reread={() => refresh('/api/finance/controls', '/api/finance/controls/{controlId}/findings')}
      success={() => t('findings.acknowledged')}
    />
  );
}

/** Where to resolve or examine what a control finds. */
const remedies = {
  payments: linkOptions({ to: '/finance/reconciliation' }),
  payouts: linkOptions({ to: '/finance/reconciliation', search: { tab: 'payouts' } }),
  bank: linkOptions({ to: '/finance/reconciliation', search: { tab: 'bank' } }),
  suspense: linkOptions({ to: '/finance/payments', search: { tab: 'suspense' } }),
  'charges-tasks': linkOptions({ to: '/finance/work', search: { tab: 'charges', only: 'yes' } }),
  holds: linkOptions({ to: '/finance/work', search: { only: 'yes' } }),
  'refund-latency': linkOptions({ to: '/finance/work', search: { tab: 'failures', only: 'yes' } }),
  revenue: linkOptions({ to: '/finance/revenue' }),
  costs: linkOptions({ to: '/finance/costs' }),
  promotion: linkOptions({ to: '/finance/work', search: { tab: 'promotion' } }),
  'deferred-revenue': linkOptions({ to: '/finance/deferred-revenue' }),
  lots: linkOptions({ to: '/finance/deferred-revenue/lots', search: { all: 'yes' } }),
  adjustments: linkOptions({ to: '/finance/adjustments' }),
  'frozen-accounts': linkOptions({ to: '/finance/adjustments', search: { tab: 'debts' } }),
  'closed-periods': linkOptions({ to: '/finance/periods' }),
} as const;

function Remedy({ finding: { control } }: { finding: Shape<'Finding'> }) {
  const { t } = useTranslation('finance');
  const known = (Object.keys(remedies) as (keyof typeof remedies)[]).find((each) => each === control);
  if (known === undefined) return null;
  return (
    <ButtonLink {...remedies[known]} variant="default" size="xs">
      {t(`findings.remedy.${known}`)}
    </ButtonLink>
  );
}
