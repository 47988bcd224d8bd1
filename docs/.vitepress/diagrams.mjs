import { renderMermaidSVG } from 'beautiful-mermaid';

/** Draws `mermaid` blocks while the site is built; further words of the fence are their label. The colours are the theme's, in `theme/style.css`. */
export function addDiagrams(markdown) {
  const fence = markdown.renderer.rules.fence.bind(markdown.renderer.rules);
  markdown.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index];
    const [language, ...words] = info.trim().split(' ');
    if (language !== 'mermaid') return fence(tokens, index, ...rest);
    return `<div class="diagram" tabindex="0">${drawn(content, words.join(' ') || 'Diagram')}</div>`;
  };
}

/** Without the style of the library, which loads a font from elsewhere, and without attributes a strict policy refuses. */
function drawn(source, label) {
  return renderMermaidSVG(source)
    .replace(/<style>[\s\S]*?<\/style>/g, '')
    .replace(/^<svg([^>]*?) style="[^"]*"/, `<svg$1 role="img" aria-label="${label}"`)
    .replace(/\n\s*\n/g, '\n');
}
