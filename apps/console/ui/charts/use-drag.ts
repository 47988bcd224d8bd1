import { useRef, useState } from 'react';
import type { ChartProps } from './chart-props.js';

interface Pointed {
  activeTooltipIndex?: unknown;
}

interface Dragged {
  from: number;
  to: number;
}

/** A click chooses a point; dragging chooses a range, of which `dragged` is the part so far. */
export function useDrag({ choosePoint, chooseRange }: Pick<ChartProps, 'choosePoint' | 'chooseRange'>) {
  const { dragged, begin, move, end } = useDragged();
  // A drag ends with a click, which chooses no point.
  const isOver = useRef(false);
  const dragging = {
    onMouseDown: (pointed: Pointed) => {
      isOver.current = false;
      begin(placeOf(pointed));
    },
    onMouseMove: (pointed: Pointed) => move(placeOf(pointed)),
    onMouseUp: () => {
      const { from, to } = end();
      isOver.current = from !== to;
      if (from !== to) chooseRange?.(Math.min(from, to), Math.max(from, to));
    },
    onMouseLeave: end,
  };
  const onClick = (pointed: Pointed) => {
    const place = placeOf(pointed);
    if (place !== null && !isOver.current) choosePoint?.(place);
  };
  return { dragged, handlers: { ...(choosePoint ? { onClick } : {}), ...(chooseRange ? dragging : {}) } };
}

function useDragged() {
  const [dragged, draw] = useState<Dragged | null>(null);
  // Events can come faster than the drawing follows.
  const current = useRef<Dragged | null>(null);
  const set = (to: Dragged | null) => {
    current.current = to;
    draw(to);
  };
  return {
    dragged: dragged?.from === dragged?.to ? null : dragged,
    begin: (place: number | null) => {
      // Not drawn yet: a new drawing would take the click from a bar.
      current.current = place === null ? null : { from: place, to: place };
    },
    move: (to: number | null) => {
      if (current.current && to !== null && to !== current.current.to) set({ ...current.current, to });
    },
    end: (): Dragged => {
      const last = current.current ?? { from: 0, to: 0 };
      set(null);
      return last;
    },
  };
}

function placeOf({ activeTooltipIndex }: Pointed): number | null {
  const place = Number(activeTooltipIndex ?? Number.NaN);
  return Number.isInteger(place) ? place : null;
}
