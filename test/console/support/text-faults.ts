/** Text from specs, vendors and programs is shown exactly as written. */
const AS_WRITTEN =
  /^(a boat|They waited|I would like|How long do|Thank you, we|We sell to|The volume looks|The picture was|The generation failed|There is no model|Rate for resellers|Prices of the autumn|Error: it was meant|转引自)|The north studio/;

/** Text may exceed its box if the box scrolls, ends it with an ellipsis, or is for screen readers alone. */
const FIND = `(language) => {
  const MOST = 4;
  const isShown = (element) => element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
  const dialogs = [...document.querySelectorAll('[role="dialog"]')].filter(isShown);
  const roots = dialogs.length > 0 ? dialogs : [document.body];
  const isCode = (element) => element.closest('code, pre, kbd, .code-lines, .model-name, svg, [lang="en"], [translate="no"]');
  const chain = (element) => (element ? [element, ...chain(element.parentElement)] : []);
  // For screen readers alone: a box of one pixel, which cuts off what is in it.
  const isHeardOnly = (element) =>
    chain(element).some((each) => each.clientWidth <= 1 && each.clientHeight <= 1 && getComputedStyle(each).position === 'absolute');
  const texts = roots.flatMap((root) => {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    const found = [];
    while (walker.nextNode()) {
      const node = walker.currentNode;
      const element = node.parentElement;
      if (!node.data.trim() || !isShown(element) || isHeardOnly(element) || element.closest('script, style, [aria-hidden="true"]')) continue;
      const range = document.createRange();
      range.selectNodeContents(node);
      const box = range.getBoundingClientRect();
      if (box.width > 1 && box.height > 1) found.push({ text: node.data.trim(), element, box, lines: [...range.getClientRects()] });
    }
    return found;
  });
  const clips = (style) => /hidden|clip/.test(style.overflowX);
  const mayRunOver = (style) => /auto|scroll/.test(style.overflowX) || style.textOverflow === 'ellipsis' || style.webkitLineClamp !== 'none';
  const cut = ({ element, box }) => {
    for (const each of chain(element)) {
      const style = getComputedStyle(each);
      if (mayRunOver(style)) return false;
      const frame = each.getBoundingClientRect();
      if (clips(style) && frame.width > 2 && (box.right > frame.right + 1.5 || box.left < frame.left - 1.5)) return true;
    }
    return false;
  };
  const isScrolled = (element) => {
    const outer = chain(element).slice(0, -2);
    return outer.some((each) => /auto|scroll/.test(getComputedStyle(each).overflowX) && each.scrollWidth > each.clientWidth + 1);
  };
  const isApart = (element) => chain(element).some((each) => /fixed|sticky/.test(getComputedStyle(each).position));
  const flowing = texts.filter(({ element }) => !isApart(element) && !isScrolled(element) && !element.closest('svg'));
  // As much of a line as its frames let through.
  const seenOf = (element, { left, right, top, bottom }) => {
    const frames = chain(element).filter((each) => clips(getComputedStyle(each))).map((each) => each.getBoundingClientRect());
    return {
      left: Math.max(left, ...frames.map((frame) => frame.left)),
      right: Math.min(right, ...frames.map((frame) => frame.right)),
      top: Math.max(top, ...frames.map((frame) => frame.top)),
      bottom: Math.min(bottom, ...frames.map((frame) => frame.bottom)),
    };
  };
  const rows = flowing.flatMap(({ text, element, lines }) => lines.map((line) => ({ text, element, box: seenOf(element, line) })))
    .filter(({ box }) => box.bottom > box.top);
  rows.sort((a, b) => a.box.top - b.box.top);
  const over = [];
  rows.forEach((a, at) => {
    for (const b of rows.slice(at + 1)) {
      if (b.box.top > a.box.bottom - 4) break;
      const wide = Math.min(a.box.right, b.box.right) - Math.max(a.box.left, b.box.left);
      const high = Math.min(a.box.bottom, b.box.bottom) - b.box.top;
      if (wide > 3 && high > 4 && a.element !== b.element) over.push(a.text.slice(0, 40) + ' | ' + b.text.slice(0, 40));
    }
  });
  const scroller = (list) => chain(list).find((each) => /auto|scroll/.test(getComputedStyle(each).overflowX));
  const isSideways = (list) => innerWidth < 768 && scroller(list)?.scrollWidth > scroller(list)?.clientWidth + 1;
  const words = texts.filter(({ element }) => !isCode(element));
  const saying = (pattern) => words.filter(({ text }) => pattern.test(text)).map(({ text }) => text.slice(0, 80));
  const english = /[a-z]{2,}[,;:]?\\s+[a-z]{2,}[,;:]?\\s+[a-z]{2,}/;
  return {
    clipped: texts.filter(cut).map(({ text }) => text.slice(0, 60)).slice(0, MOST),
    overlapping: over.slice(0, MOST),
    sideways: [...document.querySelectorAll('.phone-rows')].filter(isSideways).map((list) => list.innerText.slice(0, 60)).slice(0, MOST),
    odd: saying(/\\b(undefined|NaN|null)\\b|\\[object |Invalid Date|\\{\\{/).slice(0, MOST),
    machine: saying(/\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d|(?<!customer:)\\b[0-9a-z]{26}\\b/).slice(0, MOST),
    english: language === 'en' ? [] : saying(english).filter((text) => !${AS_WRITTEN}.test(text)).slice(0, MOST),
  };
}`;

/** What is wrong with the texts on a page, one line each. */
export function textFaults(language: 'en' | 'zh'): string {
  return `Object.entries((${FIND})('${language}')).flatMap(([fault, texts]) => texts.map((text) => fault + ': ' + text))`;
}
