// Says in one line what npm's warnings of engines mean: npm may run with an older Node.js than Errand. `npm ci` runs this in a
// checkout, as `prepare`, with the Node.js that Errand's scripts will have; which one npm itself has is in its user agent.
'use strict';

const needed = Number.parseInt(require('../package.json').engines.node.replace(/\D+/, ''), 10);
const [, ofNpm] = /\bnode\/(v(?:\d+\.?)+)/.exec(process.env.npm_config_user_agent || '') || [];

if (ofNpm !== undefined && Number.parseInt(ofNpm.slice(1), 10) < needed) {
  const isNewEnough = Number.parseInt(process.versions.node, 10) >= needed;
  console.log(
    isNewEnough
      ? `Warnings "EBADENGINE" are about npm's own Node.js ${ofNpm}; Errand runs with the Node.js ${process.version} that is in node_modules now.`
      : `Warnings "EBADENGINE" are right: Errand needs Node.js ${needed} or newer, and this is ${process.version}. "npm ci" without --omit=dev brings one along.`,
  );
}
