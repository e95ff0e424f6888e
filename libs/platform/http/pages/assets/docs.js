const dark = matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

/** Shows the headers that every response has once, instead of with each response of each operation. */
function withHeadersOnce(text) {
  if (text === '') return text;
  const document = JSON.parse(text);
  const operations = Object.values(document.paths).flatMap((path) => Object.values(path));
  const responses = [document.components, ...operations].flatMap((owner) => Object.values(owner.responses));
  const common = Object.entries(document.components.headers).filter(([name]) => {
    return responses.every(({ $ref, headers }) => $ref || name in headers);
  });
  for (const { headers = {} } of responses) for (const [name] of common) delete headers[name];
  const list = common.map(([name, { description }]) => `- \`${name}\`: ${description}`);
  document.info.description += `\n\n## Headers of every response\n\n${list.join('\n')}`;
  return JSON.stringify(document);
}

const headersOnce = () => ({
  statePlugins: { spec: { wrapActions: { updateSpec: (update) => (text) => update(withHeadersOnce(text)) } } },
});

/** Swagger UI adds the scheme itself, but keys are often copied together with it. */
function withOneScheme(request) {
  const { Authorization: credentials } = request.headers;
  if (credentials) request.headers.Authorization = credentials.replace(/^Bearer\s+(?=Bearer\s)/i, '');
  return request;
}

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
    plugins: [headersOnce],
    requestInterceptor: withOneScheme,
  });
});
