// The colours and fonts of the dashboard, for pages that are served without it. A test compares them with its style sheet.

export const LIGHT: Readonly<Record<string, string>> = {
  bg: '#f7f7f6',
  surface: '#ffffff',
  raised: '#ffffff',
  line: '#e4e3df',
  'line-soft': '#efeeeb',
  text: '#1b1c1e',
  soft: '#5d5f66',
  accent: '#3f51c9',
  'accent-soft': '#eceefb',
  'accent-text': '#3343ad',
  bad: '#b3261e',
  good: '#1c6b43',
  warn: '#845200',
  hover: '#f2f2f0',
  code: '#f5f5f3',
  shadow: '0 1px 2px rgb(20 20 30 / 5%), 0 8px 24px rgb(20 20 30 / 8%)',
};

export const DARK: Readonly<Record<string, string>> = {
  bg: '#111215',
  surface: '#17181c',
  raised: '#1e2025',
  line: '#2b2d33',
  'line-soft': '#222429',
  text: '#e9e9eb',
  soft: '#a0a3ab',
  accent: '#7f8df0',
  'accent-soft': '#23284a',
  'accent-text': '#aab4f7',
  bad: '#ff9a8f',
  good: '#7fd3a3',
  warn: '#f0bb66',
  hover: '#1f2126',
  code: '#131417',
  shadow: '0 1px 2px rgb(0 0 0 / 40%), 0 8px 24px rgb(0 0 0 / 40%)',
};

export const FONTS: Readonly<Record<string, string>> = {
  mono: 'ui-monospace, "SF Mono", "Cascadia Code", "JetBrains Mono", Menlo, Consolas, "DejaVu Sans Mono", monospace',
  sans: '"Inter", system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif',
};

const declared = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .map(([name, value]) => `--${name}: ${value};`)
    .join(' ');

/** The theme is the browser's, unless the dashboard has another one: its choice is set on the root by the script. */
export const COLOURS = `
:root { color-scheme: light dark; ${declared({ ...LIGHT, ...FONTS })} }
@media (prefers-color-scheme: dark) { :root:not([data-theme="light"]) { ${declared(DARK)} } }
:root[data-theme="light"] { color-scheme: light; }
:root[data-theme="dark"] { color-scheme: dark; ${declared(DARK)} }
`;
