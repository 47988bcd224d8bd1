import { type RefObject, useEffect, useRef } from 'react';

/** Of tabs, links and switches. */
const CHOSEN = '[aria-selected="true"], [aria-current="page"], label[data-active]';

/** For a row that scrolls sideways on phones: what is chosen in it is moved into view. */
export function useChosenInView<Row extends HTMLElement>(chosen: string | undefined): RefObject<Row | null> {
  const row = useRef<Row>(null);
  useEffect(() => {
    const one = row.current?.querySelector<HTMLElement>(CHOSEN);
    if (!row.current || !one) return;
    const { left, width } = one.getBoundingClientRect();
    const { left: start, width: room } = row.current.getBoundingClientRect();
    row.current.scrollLeft += left - start - (room - width) / 2;
  }, [chosen]);
  return row;
}
