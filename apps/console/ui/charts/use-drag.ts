import { useRef, useState } from 'react';
import type { ChartProps } from './chart-props.js';

/** What the library says of where the pointer is. */
interface Pointed {
  activeTooltipIndex?: unknown;
}

interface Dragged {
  from: number;
  to: number;
}

/** A click chooses a point, and dragging across some of them the range of these; `dragged` is what that is so far. */
export function useDrag({ choosePoint, chooseRange }: Pick<ChartProps, 'choosePoint' | 'chooseRange'>) {
  const [dragged, draw] = useState<Dragged | null>(null);
  // Events can come faster than what they change is drawn.
  const current = useRef<Dragged | null>(null);
  // The click that ends a drag is none of its own.
  const isOver = useRef(false);
  const set = (to: Dragged | null) => {
    current.current = to;
    draw(to);
  };
  const begin = (pointed: Pointed) => {
    isOver.current = false;
    const place = placeOf(pointed);
    // Drawing it anew would take the click from a bar.
    current.current = place === null ? null : { from: place, to: place };
  };
  const move = (pointed: Pointed) => {
    const to = placeOf(pointed);
    if (current.current && to !== null && to !== current.current.to) set({ ...current.current, to });
  };
  const end = () => {
    const { from, to } = current.current ?? { from: 0, to: 0 };
    set(null);
    if (from === to) return;
    isOver.current = true;
    chooseRange?.(Math.min(from, to), Math.max(from, to));
  };
  const click = (pointed: Pointed) => {
    const place = placeOf(pointed);
    if (place !== null && !isOver.current) choosePoint?.(place);
  };
  const dragging = { onMouseDown: begin, onMouseMove: move, onMouseUp: end, onMouseLeave: () => set(null) };
  const handlers = { ...(choosePoint ? { onClick: click } : {}), ...(chooseRange ? dragging : {}) };
  return { dragged: dragged?.from === dragged?.to ? null : dragged, handlers };
}

function placeOf({ activeTooltipIndex }: Pointed): number | null {
  const place = Number(activeTooltipIndex ?? Number.NaN);
  return Number.isInteger(place) ? place : null;
}
