// The code that every owner's global error workflow begins with: one step, meant to be read and changed by its owner.

import { NOTICE_LIMITS } from '../../domain/notices/limits.ts';

export const GLOBAL_ERROR_CODE = `// Runs for every error of your workflows, sources, webhooks and heartbeats. Change it as you like: send to a chat tool, file a
// ticket, store the event. steps.trigger.event has the error, the original event and its context.
//
// However many errors arrive, $.send.email here mails at most once per group of errors in each window (users/me
// digest_window_ms, 24 hours to begin with), and at most ${NOTICE_LIMITS.firstMails} groups of one workflow; all others are counted and come as a
// digest at its end. When a group of which you were mailed is resolved, the service mails that it recovered.

export default {
  async run({ steps, $ }) {
    const { error, original_event: event, original_context: context } = steps.trigger.event;
    const { public_url, record_id, emitter_id: failing, page_url: page } = steps.trigger.context;
    const kind = failing.startsWith("u_") ? "owners" : failing.startsWith("wh_") ? "webhooks" : failing.startsWith("hb_") ? "heartbeats" : failing.startsWith("dc_") ? "sources" : "workflows";
    const noun = { webhooks: "Webhook: ", heartbeats: "Heartbeat:", sources: "Source:  ", workflows: "Workflow:", owners: "Owner:   " }[kind];
    const name = short(context.workflow_name || context.heartbeat_name || context.owner_name || failing);
    const code = short(error.code);
    const list = public_url + "/v1/" + kind + "/" + failing + "/$errors/event_summaries";
    // Indented, so that no line of an error looks like one of this mail's own.
    const message = head(plain(error.msg).split("\\n").filter((line) => line.trim())).join("\\n" + INDENT);
    // The first ones, and those that name a cause.
    const shown = plain(error.stack || "").split("\\n").filter((line, n) => n < 5 || line.trim().startsWith("at [cause: ")).slice(0, 9);
    const frames = shown.map((frame) => "  " + frame.trim()).join("\\n");

    const exact = withNumbersAsTheyCame(steps.trigger.raw);

    const text = [
      name + " failed" + (error.namespace ? " in step " + error.namespace : "") + ".",
      "",
      "Code:      " + code,
      "Message:   " + message,
      "When:      " + error.ts,
      "Server:    " + public_url,
      noun + "  " + name + " (" + failing + ")",
      "Step:      " + (error.namespace || "-") + (error.cellId ? " (" + error.cellId + ")" : ""),
      "Event:     " + short(context.id) + ", attempt " + context.attempt + (context.replay ? ", a replay" : ""),
      frames.trim() ? "\\n" + frames : "",
      "",
      context.reported && error.context ? "It was told:" : "The event begins:",
      plain(firstLines(context.reported && error.context ? exact.error.context : exact.original_event)),
      "",
    ];
    // A workflow file that could not be deployed: its workflow may not exist, and nothing ran.
    const isFile = event && event.sha256 && event.file && !context.deployment_id && !context.reported;
    // Hooks run again when their source is changed, webhooks have deliveries to send again, and what a program elsewhere
    // reported did not run here.
    const isHook = kind === "sources" && Array.isArray(event && event.hooks);
    // No run failed: one was missed, or too many failed before.
    const isWatch = event && event.watch && event.why && !isFile && !context.reported;
    // The run did not fail, but what its code left behind.
    const isLate = error.code === "ThrownAfterEnd" || error.code === "LostAfterEnd";
    // A mail, a request or a notice was given up: it is sent again, and no run failed.
    const isSent = error.code === "DeliveryExhausted" && !context.deployment_id;
    const hasReplay = kind !== "webhooks" && !isSent && !isHook && !isFile && !isWatch && !isLate && !context.reported;
    // The page needs no key. Its links ask before anything is done: programs that scan mails follow them, too.
    if (page) text.push("All errors of this kind:", page, "", "Mute them for a day:", page + "/mute", "");
    if (page && hasReplay) text.push("Replay the newest of them, once the code is corrected:", page + "/replay", "");
    if (isFile) text.push("The file is deployed again when it is changed. What is deployed already stays.");
    else if (kind !== "owners") text.push("The error with its original event, by the API:", list + "/" + record_id + "?expand=event");
    if (hasReplay) text.push("", "Run that event again, by the API:", "POST " + list.replace("/event_summaries", "") + "/" + record_id + "/replay");
    const subject = "[Errand] " + name + ": " + code + " " + short(String(error.msg).split("\\n", 1)[0]);
    await $.send.email({ subject, text: text.join("\\n"), html: htmlOf(text.join("\\n")) });
    $.export("$summary", "Told about " + code + " of " + name);
  },
};

const INDENT = " ".repeat(11);

// What senders wrote, without colours of terminals, and without what would turn or hide the text behind it.
function plain(text) {
  return String(text).replace(/\\u001b\\[[\\d;:]*m/g, "").replace(/\\r\\n?/g, "\\n").replace(/[\\u061c\\u200e\\u200f\\u202a-\\u202e\\u2066-\\u2069]/g, "").replace(/(?![\\n\\t])[\\p{Cc}\\u2028\\u2029]/gu, " ");
}

// As much of a message as a screen holds: what else the mail says stands below it.
function head(lines) {
  const first = lines.slice(0, 20).join("\\n");
  const cut = first.slice(0, 1500).toWellFormed().replace(/\\ufffd$/, "");
  const isWhole = lines.length <= 20 && first.length <= 1500;
  return (isWhole ? cut : cut + "\\n... (the page of the error has all of it)").split("\\n");
}

// One line, short enough for a subject.
function short(text) {
  const line = plain(text).replace(/\\s+/g, " ").trim();
  return line.length > 120 ? line.slice(0, 117).toWellFormed().replace(/\\ufffd$/, "") + "..." : line;
}

// JSON.parse alone rounds numbers beyond 2^53: a long order number would be another one.
function withNumbersAsTheyCame(json) {
  return JSON.parse(json, (_, value, { source }) => (typeof value === "number" ? JSON.rawJSON(source) : value));
}

// Of an HTTP request the body alone, also within an error that was forwarded: its headers may have credentials, its address may
// be secret, and mail is read by many.
function firstLines(event) {
  const lines = (JSON.stringify(begin(event, 12), null, 2) || "nothing").split("\\n");
  const first = lines.slice(0, 12).map((line) => (line.length > 160 ? line.slice(0, 157) + "..." : line));
  return first.concat(lines.length > 12 ? ["..."] : []).join("\\n");
}

// No more than the first lines need: a deep event, written whole with its indentation, has hundreds of times its size.
function begin(given, levels) {
  let value = given;
  while (value && value.method && value.headers) value = value.body;
  if (typeof value !== "object" || value === null || JSON.isRawJSON(value)) return value;
  if (levels === 0) return Array.isArray(value) ? [] : {};
  if (Array.isArray(value)) return value.slice(0, 13).map((one) => begin(one, levels - 1));
  return Object.fromEntries(Object.entries(value).slice(0, 13).map(([name, one]) => [name, begin(one, levels - 1)]));
}

// The same text, as every mail client shows it: one column, with colours of its own, and nothing that is loaded from elsewhere.
function htmlOf(text) {
  const [title, facts, ...blocks] = text.split(/\\n{2,}/).filter((block) => block.trim() !== "");
  const sans = "font: 15px/1.5 system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif";
  const body = "margin: 0; padding: 20px; background: #ffffff; color: #212529; " + sans;
  return '<!doctype html><html><body style="' + body + '"><div style="max-width: 640px">' +
    '<h1 style="font-size: 18px; margin: 0 0 16px; overflow-wrap: anywhere">' + escapeHtml(title) + "</h1>" + tableOf(facts.split("\\n")) + blocks.map(blockOf).join("\\n") + "</div></body></html>";
}

function blockOf(block) {
  const lines = block.split("\\n");
  const isNamed = lines.length > 1 && lines[0].endsWith(":");
  const name = isNamed ? '<p style="margin: 0 0 4px; color: #495057">' + escapeHtml(lines.shift()) + "</p>" : "";
  const shown = escapeHtml(lines.join("\\n"));
  if (isNamed && /^https?:\\/\\/[^\\s"]+$/.test(shown)) return name + '<p style="margin: 0 0 16px; overflow-wrap: anywhere"><a style="color: #1c5fb8" href="' + shown + '">' + shown + "</a></p>";
  return name + '<pre style="font: 13px/1.5 ui-monospace, Menlo, Consolas, monospace; white-space: pre-wrap; overflow-wrap: anywhere; background: #f1f3f5; padding: 10px; margin: 0 0 16px">' + shown + "</pre>";
}

// A line without a name goes on with the one above: a message may have several.
function tableOf(lines) {
  const rows = [];
  for (const line of lines) {
    const [, name, value] = /^([A-Z][a-z]+): +(.*)$/s.exec(line) || [];
    if (name) rows.push([name, value]);
    else rows[rows.length - 1][1] += "\\n" + line.slice(INDENT.length);
  }
  const cells = rows.map(([name, value]) => '<tr><td style="padding: 2px 16px 2px 0; color: #495057; vertical-align: top">' + name +
    '</td><td style="padding: 2px 0; white-space: pre-wrap; overflow-wrap: anywhere">' + escapeHtml(value) + "</td></tr>");
  return '<table role="presentation" style="border-collapse: collapse; margin: 0 0 16px; font-size: 14px">' + cells.join("") + "</table>";
}

function escapeHtml(text) {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;").replace(/"/g, "&quot;");
}
`;
