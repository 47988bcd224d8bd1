import { Group, SimpleGrid } from '@mantine/core';
import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import type { Shape } from '../../api/shape.js';
import { useFilter } from '../../ui/address.js';
import { TextLink } from '../../ui/links.js';
import { PageFrame } from '../../ui/page.js';
import { EmptyState, Loaded, Section } from '../../ui/states.js';
import { SmallPrint } from '../../ui/texts.js';
import { ControlLight, useControlWords } from '../books/control-words.js';
import { DayRanges, latestDays } from '../day-ranges.js';
import { RevenueChart } from '../reports/revenue-chart.js';
import { openedBy } from '../reports/revenue.js';

const route = getRouteApi('/finance/');
const DAYS = 30;
const LOOK_AGAIN_MS = 20_000;
/** Of what waits for a second person, more are not counted. */
const MOST_COUNTED = 100;

/** What the days came to in money, whether the books agree, and what waits for people. */
export function FinanceHomePage() {
  const { t } = useTranslation('finance');
  const search = route.useSearch();
  const { from, to } = search;
  const days = from === undefined || to === undefined ? latestDays(DAYS) : { from, to };
  const set = useFilter({ replace: false });
  return (
    <PageFrame title={t('home.title')} about={t('home.about')}>
      <Group align="flex-end" gap="sm">
        <DayRanges days={days} set={set} />
        <SmallPrint>{t('utc')}</SmallPrint>
      </Group>
      <Money days={days} />
      <Waiting />
      <Controls />
    </PageFrame>
  );
}

/** A bar leads to the rows of its day, and a name to what it is made of. */
function Money({ days }: { days: ReturnType<typeof latestDays> }) {
  const { show = 'recognised', by = 'family' } = route.useSearch();
  const set = useFilter({ replace: false });
  const navigate = useNavigate();
  const open = (opened: ReturnType<typeof openedBy>) =>
    void navigate({
      to: '/finance/revenue',
      search: { ...days, ...opened, show: show === 'net' ? undefined : show },
    });
  return (
    <RevenueChart
      days={days}
      show={show}
      by={by}
      set={set}
      chooseDay={(day) => open(openedBy('day', day))}
      chooseSubject={(dimension, subject) => open(openedBy(dimension, subject))}
      withFigures
    />
  );
}

function useControls() {
  return $api.useQuery('get', '/api/finance/controls', {}, { refetchInterval: LOOK_AGAIN_MS });
}

/** Findings that nobody has closed, and what a second person has to agree to. */
function Waiting() {
  const { t } = useTranslation('finance');
  const { titleOf } = useControlWords();
  const controls = useControls();
  const approvals = $api.useQuery('get', '/api/approvals', {
    params: { query: { state: 'pending', limit: MOST_COUNTED } },
  });
  const found = controls.data?.items.filter(({ openFindings }) => openFindings > 0) ?? [];
  const count = approvals.data?.items.length ?? 0;
  return (
    <Section title={t('home.waiting')}>
      <Loaded query={controls} lines={2}>
        {() => (
          <Loaded query={approvals} lines={1}>
            {() =>
              found.length + count === 0 ? (
                <EmptyState title={t('home.nothing')} hint={t('home.nothingHint')} />
              ) : (
                <ul className="plain-list">
                  {count > 0 && (
                    <li>
                      <TextLink to="/approvals">{t('home.approvals', { count })}</TextLink>
                    </li>
                  )}
                  {found.map((control) => (
                    <li key={control.id}>
                      <TextLink to="/finance/controls/$controlId" params={{ controlId: control.id }}>
                        {t('home.findings', { count: control.openFindings, title: titleOf(control) })}
                      </TextLink>
                    </li>
                  ))}
                </ul>
              )
            }
          </Loaded>
        )}
      </Loaded>
    </Section>
  );
}

/** Every control as one dense strip. */
function Controls() {
  const { t } = useTranslation('finance');
  const controls = useControls();
  return (
    <Section title={t('books.title')} aside={<TextLink to="/finance/books">{t('home.toControls')}</TextLink>}>
      <Loaded query={controls} lines={5}>
        {({ items }) => (
          <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }} spacing="xs" component="ul" className="plain-list">
            {items.map((control) => (
              <Light key={control.id} control={control} />
            ))}
          </SimpleGrid>
        )}
      </Loaded>
    </Section>
  );
}

function Light({ control }: { control: Shape<'ControlStanding'> }) {
  const { titleOf } = useControlWords();
  return (
    <Group component="li" gap="xs" justify="space-between" wrap="nowrap">
      <TextLink to="/finance/controls/$controlId" params={{ controlId: control.id }} size="sm">
        {titleOf(control)}
      </TextLink>
      <ControlLight control={control} />
    </Group>
  );
}
