// Feeds as they are out there: three formats, and what their authors make of them.

import assert from 'node:assert/strict';
import { test } from 'node:test';

// biome-ignore lint/suspicious/noExplicitAny: read member by member
type Json = any;

// Under a name that the compiler does not look into: sources are JavaScript.
const FEED = '../../../sources/rss/feed.mjs';
const { readFeed } = (await import(FEED)) as Json;

const URL_OF_FEED = 'https://example.com/feed/';
const read = (text: string | Uint8Array, type = ''): Json => readFeed(Buffer.from(text as string), type, URL_OF_FEED);
const rss = (item: string, more = ''): string =>
  `<?xml version="1.0" encoding="utf-8"?><rss version="2.0" xmlns:atom="x" xmlns:dc="y"><channel>${more}${item}</channel></rss>`;

test('an RSS item is read whole', () => {
  const feed = read(
    rss(
      `<item>
        <title>A &amp; B &#8211; <![CDATA[<C>]]></title><link>../a?x=1&amp;y=2</link><guid isPermaLink="true">https://example.com/g</guid>
        <pubDate>Tue, 10 Jun 2025 04:00:00 +0200</pubDate><dc:creator>Ada</dc:creator><description>&lt;p&gt;Hi&nbsp;there&lt;/p&gt;</description>
        <content:encoded><![CDATA[<p>All</p>]]></content:encoded><category>one</category><category domain="d">two</category>
        <enclosure url="/a.mp3" length="12" type="audio/mpeg"/>
      </item>`,
      '<title>News</title><atom:link href="https://example.com/feed" rel="self"/><link>https://example.com/</link>',
    ),
  );
  assert.deepEqual(feed, {
    title: 'News',
    link: 'https://example.com/',
    items: [
      {
        id: 'https://example.com/g',
        title: 'A & B – <C>',
        link: 'https://example.com/a?x=1&y=2',
        author: 'Ada',
        published: '2025-06-10T02:00:00.000Z',
        summary: '<p>Hi\u00a0there</p>',
        content: '<p>All</p>',
        categories: ['one', 'two'],
        enclosures: [{ url: 'https://example.com/a.mp3', type: 'audio/mpeg', length: 12 }],
      },
    ],
  });
});

test('an Atom entry is read whole', () => {
  const feed = read(`<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">News</title>
    <link rel="self" href="/feed"/><link href="https://example.com/"/>
    <entry><id>tag:example.com,2025:1</id><title type="html">A &amp;amp; B</title><link rel="edit" href="/e"/><link rel="alternate" href="/1"/>
      <link rel="enclosure" href="/1.pdf" type="application/pdf"/><author><name>Ada</name></author>
      <published>2025-06-10T02:00:00Z</published><updated>2025-06-11T02:00:00Z</updated><category term="one"/>
      <summary>Short</summary><content type="xhtml"><div><p>All of <b>it</b></p></div></content></entry></feed>`);
  assert.deepEqual([feed.title, feed.link], ['News', 'https://example.com/']);
  const [{ content, ...item }] = feed.items;
  assert.match(content, /All of/);
  assert.deepEqual(item, {
    id: 'tag:example.com,2025:1',
    title: 'A &amp; B',
    link: 'https://example.com/1',
    author: 'Ada',
    published: '2025-06-10T02:00:00.000Z',
    updated: '2025-06-11T02:00:00.000Z',
    summary: 'Short',
    categories: ['one'],
    enclosures: [{ url: 'https://example.com/1.pdf', type: 'application/pdf' }],
  });
});

test('an item of RSS 1.0 is read whole', () => {
  const feed =
    read(`<?xml version="1.0"?><rdf:RDF xmlns="http://purl.org/rss/1.0/"><channel rdf:about="x"><title>News</title>
    <link>https://example.com/</link></channel><item rdf:about="urn:1"><title>One</title><link>https://example.com/1</link>
    <dc:date>2025-06-10T02:00:00Z</dc:date><dc:subject>one</dc:subject></item></rdf:RDF>`);
  assert.deepEqual([feed.title, feed.items.length], ['News', 1]);
  const [{ id, title, published, categories }] = feed.items;
  assert.deepEqual([id, title, published, categories], ['urn:1', 'One', '2025-06-10T02:00:00.000Z', ['one']]);
});

test('an item without an id has its link, or what it says', () => {
  const ids = (items: string): string[] => read(rss(items)).items.map(({ id }: Json) => id);
  assert.deepEqual(ids('<item><link>https://example.com/1</link></item>'), ['https://example.com/1']);
  const [one, same, other] = ids(
    '<item><title>a</title></item><item><title>a</title></item><item><title>b</title></item>',
  );
  assert.equal(one, same);
  assert.notEqual(one, other);
  assert.deepEqual(ids('<item><guid> 007 </guid></item>'), ['007']);
});

test('text is read in its encoding', () => {
  const latin = Buffer.from(
    '<?xml version="1.0" encoding="ISO-8859-1"?><rss><channel><title>Grüße</title></channel></rss>',
    'latin1',
  );
  assert.equal(read(latin).title, 'Grüße');
  const wide = Buffer.from('\ufeff<rss><channel><title>Grüße</title></channel></rss>', 'utf16le');
  assert.equal(read(wide).title, 'Grüße');
  assert.equal(read(rss('', '<title>Grüße</title>'), 'text/xml; charset=unheard-of').title, 'Grüße');
  assert.equal(read(`\ufeff${rss('', '<title>Grüße</title>')}`, 'text/xml;charset=utf-8').title, 'Grüße');
});

test('a feed may be empty, and dates nonsense', () => {
  assert.deepEqual(read(rss('')).items, []);
  assert.deepEqual(read('<feed xmlns="http://www.w3.org/2005/Atom"></feed>').items, []);
  const [item] = read(rss('<item><title>a</title><pubDate>some day</pubDate></item>')).items;
  assert.equal('published' in item, false);
});

test('what is no feed is refused', () => {
  for (const text of ['', '<html><body/></html>', '{"json": true}', 'plain', '<rss version="2.0"></rss>']) {
    assert.throws(() => read(text), /no feed, but/, text);
  }
  assert.throws(() => read(rss('<item><title>a</title></item>').replace('</rss>', '')), /cut short/);
});

test('entities do not grow without end', () => {
  const levels = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
  const entities = levels.map((name, i) => `<!ENTITY ${name} "${`&${levels[i - 1] ?? 'x'};`.repeat(20)}">`).join('');
  const text = `<!DOCTYPE rss [<!ENTITY x "lol">${entities}]>${rss('<item><title>&h;</title></item>')}`;
  const size = (): number => JSON.stringify(read(text)).length;
  let length = 0;
  try {
    length = size();
  } catch {
    // refused: as good
  }
  assert.ok(length < 1_000_000, String(length));
});
