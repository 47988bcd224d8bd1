import { getRouteApi, useNavigate } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '../../api/client.js';
import type { Shape } from '../../api/shape.js';
import { useFilter } from '../../ui/address.js';
import { TextLink } from '../../ui/links.js';
import { Strip } from '../../ui/lists/strip.js';
import { ToDo, ToDos } from '../../ui/lists/to-dos.js';
import { Toolbar } from '../../ui/lists/toolbar.js';
import { PageFrame } from '../../ui/page.js';
import { EmptyState, Loaded, Section } from '../../ui/states.js';
import { SmallPrint } from '../../ui/texts.js';
import type { DaySpan } from '../utc-days.js';
import { ControlHeat } from '../books/control-heat.js';
import { ControlLight, useControlWords } from '../books/control-words.js';
import { DayRanges, latestDays } from '../day-ranges.js';
import { BasisSwitch } from '../reports/basis.js';
import { RevenueChart } from '../reports/revenue-chart.js';
import { openedBy } from '../reports/revenue.js';

const route = getRouteApi('/finance/');
const DAYS = 30;
const LOOK_AGAIN_MS = 20_000;
/** Of what waits for a second person, more are not counted. */
const MOST_COUNTED = 100;

/** What waits for people, what the days came to, and whether the books agree. */
export function FinanceHomePage() {
  const { t } = useTranslation('finance');
  const search = route.useSearch();
  const { from, to, show = 'recognised' } = search;
  const days = from === undefined || to === undefined ? latestDays(DAYS) : { from, to };
  const set = useFilter({ replace: false });
  return (
    <PageFrame title={t('home.title')} about={t('home.about')}>
      <Waiting />
      <Controls />
      <Section title={t('home.days')}>
        <Toolbar>
          <BasisSwitch show={show} setShow={(chosen) => set({ show: chosen })} />
          <DayRanges days={days} set={set} />
          <SmallPrint>{t('utc')}</SmallPrint>
        </Toolbar>
        <Money days={days} />
      </Section>
    </PageFrame>
  );
}

/** A bar leads to the rows of its day, and a name to what it is made of. */
function Money({ days }: { days: ReturnType<typeof latestDays> }) {
  const { show = 'recognised', by = 'family' } = route.useSearch();
  const set = useFilter({ replace: false });
  const navigate = useNavigate();
  const open = (opened: ReturnType<typeof openedBy> | Required<DaySpan>) =>
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
      chooseDays={open}
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
                <ToDos>
                  {count > 0 && (
                    <ToDo count={count} what={t('home.toApprove')}>
                      <TextLink to="/approvals">{t('home.approvals')}</TextLink>
                    </ToDo>
                  )}
                  {found.map((control) => (
                    <ToDo
                      key={control.id}
                      count={control.openFindings}
                      what={t('home.toResolve', { count: control.openFindings })}
                    >
                      <TextLink to="/finance/controls/$controlId" params={{ controlId: control.id }}>
                        {titleOf(control)}
                      </TextLink>
                    </ToDo>
                  ))}
                </ToDos>
              )
            }
          </Loaded>
        )}
      </Loaded>
    </Section>
  );
}

/** Every control as a line of one dense strip, with its last four weeks. */
function Controls() {
  const { t } = useTranslation('finance');
  const controls = useControls();
  return (
    <Section title={t('books.title')} aside={<TextLink to="/finance/books">{t('home.toControls')}</TextLink>}>
      <Loaded query={controls} lines={9}>
        {({ items }) => (
          <>
            <Strip>
              {items.map((control) => (
                <Light key={control.id} control={control} />
              ))}
            </Strip>
            <SmallPrint>{t('heat.legend')}</SmallPrint>
          </>
        )}
      </Loaded>
    </Section>
  );
}

function Light({ control }: { control: Shape<'ControlStanding'> }) {
  const { titleOf } = useControlWords();
  return (
    <li className="strip-line">
      <TextLink to="/finance/controls/$controlId" params={{ controlId: control.id }} size="sm">
        {titleOf(control)}
      </TextLink>
      <ControlHeat controlId={control.id} />
      <ControlLight control={control} />
    </li>
  );
}
