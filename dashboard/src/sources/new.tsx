import { Button, TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate, useSearch } from '@tanstack/react-router';
import { useState } from 'react';
import { type ComponentOf, componentsQuery, createSource } from '../api/sources.ts';
import { Heading } from '../app/heading.tsx';
import { T } from '../english.ts';
import { BackTo } from '../parts/back.tsx';
import { Card } from '../parts/card.tsx';
import { Unready } from '../parts/state.tsx';
import { PropForm } from './prop-form.tsx';

/** In the address, for code of one's own. */
const OWN = 'own';

export function NewSource() {
  const { component } = useSearch({ from: '/shell/sources/new' });
  return (
    <>
      <BackTo list="/sources">{T.sources.title}</BackTo>
      {component === undefined ? (
        <Catalogue />
      ) : component === OWN ? (
        <OwnCode />
      ) : (
        <OfComponent key={component} name={component} />
      )}
    </>
  );
}

function Catalogue() {
  const asked = useQuery(componentsQuery);
  const { data } = asked;
  return (
    <>
      <div className="page-head">
        <Heading text={T.sources.create} />
      </div>
      {!data && <Unready of={asked} />}
      <ul className="examples is-bare">
        {data?.map(({ key, name, description }) => (
          <li key={key} className="group-link card">
            <h2>
              <Link to="/sources/new" search={{ component: key }}>
                {name}
              </Link>
            </h2>
            <p className="soft">{description}</p>
          </li>
        ))}
        {!asked.isPending && (
          <li className="group-link card">
            <h2>
              <Link to="/sources/new" search={{ component: OWN }}>
                {T.sources.own}
              </Link>
            </h2>
            <p className="soft">{T.sources.ownText}</p>
          </li>
        )}
      </ul>
    </>
  );
}

function OfComponent({ name: key }: { name: string }) {
  const component = useQuery(componentsQuery).data?.find((one) => one.key === key);
  return (
    <>
      <div className="page-head">
        <div>
          <Heading text={component?.name ?? key} />
          <p className="soft">{component?.description}</p>
        </div>
      </div>
      <Deploy of={{ component: key }} />
    </>
  );
}

const FIRST = `export default {
  key: 'my-source',
  name: 'My source',
  version: '0.0.1',
  type: 'source',
  props: { http: '$.interface.http' },
  run(event) {
    this.$emit(event.body, { summary: 'arrived' });
  },
};
`;

function OwnCode() {
  const [code, setCode] = useState(FIRST);
  const [read, setRead] = useState<string | null>(null);
  return (
    <>
      <div className="page-head">
        <Heading text={T.sources.own} />
      </div>
      <div className="stack-16">
        <Card title={T.sources.code}>
          <div className="card-body stack-16">
            <textarea
              className="editor-text"
              aria-label={T.sources.code}
              spellCheck={false}
              value={code}
              onChange={(event) => setCode(event.currentTarget.value)}
            />
            <div>
              <Button size="xs" variant="default" onClick={() => setRead(code)}>
                {T.sources.readProps}
              </Button>
            </div>
          </div>
        </Card>
        {read !== null && <Deploy key={read} of={{ component_code: read }} />}
      </div>
    </>
  );
}

function Deploy({ of }: { of: Extract<ComponentOf, { component: string } | { component_code: string }> }) {
  const client = useQueryClient();
  const navigate = useNavigate();
  const [name, setName] = useState('');
  return (
    <div className="card card-body stack-16 form">
      <TextInput
        label={T.sources.name}
        description={T.sources.nameHint}
        value={name}
        onChange={(event) => setName(event.currentTarget.value)}
      />
      <PropForm
        of={of}
        first={{}}
        submit={T.sources.deploy}
        send={async (values) => {
          const given = name.trim() === '' ? {} : { name: name.trim() };
          const { id } = await createSource({ ...of, ...given, configured_props: values });
          void client.invalidateQueries({ queryKey: ['sources'] });
          await navigate({ to: '/sources/$sourceId', params: { sourceId: id } });
        }}
      />
    </div>
  );
}
