import { renderMermaidSVG } from 'beautiful-mermaid';

/** Draws `mermaid` blocks while the site is built. The colours are the theme's, in `theme/style.css`. */
export function addDiagrams(markdown) {
  const fence = markdown.renderer.rules.fence.bind(markdown.renderer.rules);
  markdown.renderer.rules.fence = (tokens, index, ...rest) => {
    const { info, content } = tokens[index];
    return info.trim() === 'mermaid'
      ? `<div class="diagram">${drawn(content)}</div>`
      : fence(tokens, index, ...rest);
  };
}

/** Without the style of the library, which loads a font from elsewhere, and without attributes a strict policy refuses. */
function drawn(source) {
  return renderMermaidSVG(source)
    .replace(/<style>[\s\S]*?<\/style>/g, '')
    .replace(/^<svg([^>]*?) style="[^"]*"/, '<svg$1 role="img"')
    .replace(/\n\s*\n/g, '\n');
}
