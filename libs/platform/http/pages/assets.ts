/* Static files of the pages, kept as strings because the build copies no other files. */

export const ICON = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">
<rect width="32" height="32" rx="6" fill="#0b5c8a"/>
<path d="M6 11h20M6 21h20" stroke="#fff" stroke-width="3" stroke-linecap="round"/>
<path d="M16 5v22" stroke="#ffb000" stroke-width="4" stroke-linecap="round"/>
</svg>
`;

export const DOCS_SCRIPT = `const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

window.addEventListener('load', () => {
  SwaggerUIBundle({
    url: '/openapi.json',
    dom_id: '#swagger-ui',
    deepLinking: true,
    docExpansion: 'list',
    defaultModelsExpandDepth: 0,
    displayRequestDuration: true,
    tryItOutEnabled: true,
    validatorUrl: null,
  });
});
`;

export const PAGES_STYLE = `:root {
  color-scheme: light dark;
  --text: #1d2733;
  --faint: #5b6b7b;
  --back: #ffffff;
  --raised: #f3f6f9;
  --line: #d8e0e8;
  --link: #0b5c8a;
}
@media (prefers-color-scheme: dark) {
  :root {
    --text: #dfe7ee;
    --faint: #93a4b5;
    --back: #12181f;
    --raised: #1b242d;
    --line: #2d3a46;
    --link: #6cbcea;
  }
}
body {
  margin: 0;
  background: var(--back);
  color: var(--text);
  font: 1rem/1.6 system-ui, sans-serif;
}
main {
  max-width: 46rem;
  margin: 0 auto;
  padding: 3rem 1.25rem;
}
h1 {
  margin: 0 0 1.5rem;
  line-height: 1.2;
}
h2 {
  margin: 2rem 0 0.5rem;
  font-size: 1.1rem;
}
a {
  color: var(--link);
}
code {
  font: 0.95em ui-monospace, monospace;
}
pre {
  overflow-x: auto;
  padding: 1rem;
  border: 1px solid var(--line);
  border-radius: 0.5rem;
  background: var(--raised);
}
table {
  width: 100%;
  border-collapse: collapse;
}
th,
td {
  padding: 0.4rem 0.75rem 0.4rem 0;
  border-bottom: 1px solid var(--line);
  text-align: left;
  vertical-align: top;
}
.kind {
  margin: 0;
  color: var(--faint);
}
`;
