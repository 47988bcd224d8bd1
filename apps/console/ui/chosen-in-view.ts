import { type RefObject, useEffect, useRef } from 'react';

const CHOSEN = '[aria-selected="true"], [aria-current="page"], label[data-active]';

/** Scrolls the chosen item of a sideways row into view, on phones. */
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
