// RSS 2.0, RSS 1.0 (RDF) and Atom, as one kind of item.

import { createHash } from 'node:crypto';
import { XMLParser } from 'fast-xml-parser';

const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false, // it would trim around each entity, too
  htmlEntities: true,
  isArray: (name) =>
    ['item', 'entry', 'link', 'atom:link', 'category', 'author', 'dc:creator', 'enclosure'].includes(name),
});

const WHOLE = /<\/(rss|rdf:RDF|(?:\w+:)?feed)\s*>[\s\S]{0,4096}$/;

/**
 * `{title, link, items}`; items as they stand in the feed: `{id, title, link, author, published, updated, summary, content,
 * categories, enclosures}`, where what the feed does not say is absent. Throws when it is no feed, or not all of one.
 */
export function readFeed(bytes, type, url) {
  const text = decode(bytes, type);
  const feed = feedIn(parser.parse(text));
  if (feed === null) throw new Error(`no feed, but ${JSON.stringify(text.trim().slice(0, 100))}`);
  if (!WHOLE.test(text)) throw new Error('the feed was cut short');
  return feed(url);
}

/** As the answer says, or the document's first line, or else UTF-8. */
function decode(bytes, type) {
  const head = bytes.subarray(0, 200).toString('latin1');
  const named = /charset=["']?([\w.:-]+)/i.exec(type)?.[1] ?? /<\?xml[^>]*encoding=["']([\w.:-]+)/i.exec(head)?.[1];
  const [first, second] = bytes;
  if (first === 0xfe && second === 0xff) return new TextDecoder('utf-16be').decode(bytes);
  if (first === 0xff && second === 0xfe) return new TextDecoder('utf-16le').decode(bytes);
  try {
    return new TextDecoder(named ?? 'utf-8').decode(bytes);
  } catch {
    return new TextDecoder().decode(bytes); // an unknown name
  }
}

function feedIn(document) {
  const { rss, feed } = document;
  const rdf = document['rdf:RDF'];
  if (rss?.channel !== undefined) return (url) => rssFeed(rss.channel, rss.channel.item ?? rss.item ?? [], url);
  if (rdf?.channel !== undefined) return (url) => rssFeed(rdf.channel, rdf.item ?? [], url);
  if (feed !== undefined) return (url) => atomFeed(feed, url);
  return null;
}

function rssFeed(channel, items, url) {
  return whole({
    title: textOf(channel.title),
    link: linkOf(channel.link, url),
    items: items.map((item) => rssItem(item, url)),
  });
}

function rssItem(item, url) {
  const guid = textOf(item.guid);
  const isAddress = item.guid?.['@isPermaLink'] !== 'false' && /^https?:/.test(guid ?? '');
  const link = linkOf(item.link, url) ?? (isAddress ? guid : undefined);
  return identified(guid ?? item['@rdf:about'] ?? link, {
    title: textOf(item.title),
    link,
    author: textOf(item['dc:creator']) ?? textOf(item.author),
    published: dateOf(item.pubDate ?? item['dc:date']),
    summary: textOf(item.description),
    content: textOf(item['content:encoded']),
    categories: textsOf(item.category ?? item['dc:subject']),
    enclosures: (item.enclosure ?? []).map((one) => enclosure(one['@url'], one, url)),
  });
}

function atomFeed(feed, url) {
  const items = (feed.entry ?? []).map((entry) => atomItem(entry, url));
  return whole({ title: textOf(feed.title), link: atomLink(feed.link, url), items });
}

function atomItem(entry, url) {
  const link = atomLink(entry.link, url);
  const enclosures = [entry.link ?? []].flat().filter((one) => one['@rel'] === 'enclosure');
  return identified(textOf(entry.id) ?? link, {
    title: textOf(entry.title),
    link,
    author: textOf([entry.author ?? []].flat()[0]?.name),
    published: dateOf(entry.published ?? entry.issued ?? entry.updated),
    updated: dateOf(entry.updated ?? entry.modified),
    summary: textOf(entry.summary),
    content: textOf(entry.content),
    categories: [entry.category ?? []]
      .flat()
      .map((one) => one['@term'] ?? textOf(one))
      .filter(Boolean),
    enclosures: enclosures.map((one) => enclosure(one['@href'], one, url)),
  });
}

function atomLink(links, url) {
  const all = [links ?? []].flat().filter((one) => typeof one === 'object');
  const found =
    all.find((one) => (one['@rel'] ?? 'alternate') === 'alternate') ?? all.find((one) => one['@rel'] !== 'self');
  return absolute(found?.['@href'], url);
}

function enclosure(address, given, url) {
  const length = Number(given['@length']);
  return whole({ url: absolute(address, url), type: given['@type'], length: length > 0 ? length : undefined });
}

/** Without an id of its own, an item is what it says. */
function identified(id, item) {
  const said = JSON.stringify([item.title, item.published, item.summary ?? item.content]);
  return { id: id ?? createHash('sha256').update(said).digest('base64url'), ...whole(item) };
}

function whole(members) {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}

function linkOf(links, url) {
  // Some feeds have an Atom link beside their own.
  return absolute(
    [links ?? []]
      .flat()
      .map(textOf)
      .find((text) => text !== undefined),
    url,
  );
}

function absolute(link, url) {
  if (link === undefined) return undefined;
  return URL.canParse(link, url) ? new URL(link, url).href : link;
}

function textsOf(values) {
  return [values ?? []]
    .flat()
    .map(textOf)
    .filter((text) => text !== undefined);
}

/** Of markup within markup, the texts. Undefined when there is none. */
function textOf(value) {
  if (Array.isArray(value)) return value.map(textOf).find((text) => text !== undefined);
  const text = typeof value === 'object' && value !== null ? textWithin(value) : value;
  return typeof text === 'string' && text.trim() !== '' ? text.trim() : undefined;
}

function textWithin(value) {
  const parts = Object.entries(value).filter(([name]) => !name.startsWith('@'));
  return parts
    .flatMap(([, part]) => [part].flat())
    .map((part) => (typeof part === 'object' ? textWithin(part) : part))
    .join(' ');
}

function dateOf(value) {
  const ms = Date.parse(textOf(value) ?? '');
  return Number.isNaN(ms) ? undefined : new Date(ms).toISOString();
}
