// One request in three languages. Python's needs nothing but Python; TypeScript's is the package's own client.

import { type Language, literalOf } from './literal.ts';
import type { SampleRequest } from './request.ts';

export interface Sample {
  readonly language: 'curl' | 'TypeScript' | 'Python';
  readonly code: string;
}

const TYPESCRIPT: Language = {
  ...{ indent: '  ', null: 'null', true: 'true', false: 'false' },
  text: (value) => {
    const json = JSON.stringify(value);
    return value.includes("'") ? json : `'${json.slice(1, -1).replaceAll('\\"', '"')}'`;
  },
  key: (name) => (/^[A-Za-z_$][\w$]*$/.test(name) ? name : `'${name.replaceAll("'", "\\'")}'`),
};
const PYTHON: Language = {
  ...{ indent: '    ', null: 'None', true: 'True', false: 'False' },
  text: (value) => JSON.stringify(value),
  key: (name) => JSON.stringify(name),
};

export function samplesOf(request: SampleRequest): readonly Sample[] {
  return [
    { language: 'curl', code: curlOf(request) },
    { language: 'TypeScript', code: typescriptOf(request) },
    { language: 'Python', code: pythonOf(request) },
  ];
}

function curlOf({ method, server, target, isPublic, body, answer }: SampleRequest): string {
  const options = answer === 'stream' ? '-sSN' : '-sS';
  const lines = [`curl ${options}${method === 'GET' ? '' : ` -X ${method}`} ${quoted(server + target)}`];
  if (!isPublic) lines.push('-H "Authorization: Bearer $KEY"');
  if (body !== null) {
    const text = typeof body.value === 'string' ? body.value : JSON.stringify(body.value, null, 2);
    // Of a text, line breaks are kept: some formats are made of lines.
    const option = typeof body.value === 'string' ? '--data-binary' : '-d';
    lines.push(`-H 'Content-Type: ${body.type}'`, `${option} ${quoted(text)}`);
  }
  return lines.join(' \\\n  ');
}

/** Returns a text as one word of a shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function typescriptOf({ id, server, isPublic, input, answer }: SampleRequest): string {
  const given = Object.keys(input).length === 0 ? '' : literalOf(input, TYPESCRIPT);
  const key = isPublic ? '' : ', key: process.env.KEY';
  const called = `errand.${id}(${given})`;
  const used =
    answer === 'page' || answer === 'stream'
      ? `for await (const one of ${called}) {\n  console.log(one);\n}`
      : `const answer = await ${called};\nconsole.log(answer);`;
  return `import { Errand } from 'errand/client';

const errand = new Errand({ url: ${TYPESCRIPT.text(server)}${key} });
${used}`;
}

function pythonOf({ method, server, target, isPublic, body, answer }: SampleRequest): string {
  const isText = typeof body?.value === 'string';
  const isJson = answer === 'json' || answer === 'page';
  const headers = [
    ...(isPublic ? [] : [`"Authorization": f"Bearer {os.environ['KEY']}"`]),
    ...(body === null ? [] : [`"Content-Type": ${PYTHON.text(body.type)}`]),
  ];
  const parts = [
    PYTHON.text(server + target),
    ...(method === 'GET' ? [] : [`method=${PYTHON.text(method)}`]),
    ...(headers.length === 0 ? [] : [`headers={\n${headers.map((one) => `        ${one},\n`).join('')}    }`]),
    ...(body === null
      ? []
      : [
          `data=${isText ? PYTHON.text(String(body.value)) : `json.dumps(${literalOf(body.value, PYTHON, '    ')})`}.encode()`,
        ]),
  ];
  const modules = [...(isJson || (body !== null && !isText) ? ['json'] : []), ...(isPublic ? [] : ['os'])];
  const shown = {
    json: '    print(json.load(response))',
    page: '    print(json.load(response))',
    text: '    print(response.read().decode())',
    stream: '    for line in response:\n        print(line.decode(), end="")',
  }[answer];
  return `${modules.map((name) => `import ${name}\n`).join('')}from urllib.request import Request, urlopen

request = Request(
${parts.map((part) => `    ${part},\n`).join('')})
with urlopen(request) as response:
${shown}`;
}
