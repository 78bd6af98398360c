// Turns the published .proto files and Go types of k8s.io/{api,apimachinery,apiextensions-apiserver,kube-aggregator} into
// src/codec/data/proto.json. Usage: node scripts/generate-proto.mjs [GO_MODULE_CACHE] (default: what `go env GOMODCACHE` says).
// The .proto files give the wire; the Go types give what JSON needs: names, omitempty, inlining, pointers.
import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';

const VERSION = 'v0.36.3';
const MODULES = ['api', 'apimachinery', 'apiextensions-apiserver', 'kube-aggregator'];
const cache = process.argv[2] ?? execFileSync('go', ['env', 'GOMODCACHE'], { encoding: 'utf8' }).trim();

const packages = [];
for (const module of MODULES) {
  const root = path.join(cache, 'k8s.io', `${module}@${VERSION}`);
  for (const file of globSync('**/generated.proto', { cwd: root }).sort()) {
    packages.push(readPackage(path.join(root, path.dirname(file)), readFileSync(path.join(root, file), 'utf8')));
  }
}
packages.sort((a, b) => (a.name < b.name ? -1 : 1));

const indexOf = new Map(packages.map((item, index) => [item.name, index]));
const groups = {};
const messages = packages.map((item) => {
  if (item.group !== undefined)
    groups[item.group === '' ? item.version : `${item.group}/${item.version}`] = indexOf.get(item.name);
  return Object.fromEntries(item.messages.map((message) => [message.name, printMessage(item, message)]));
});
const data = { source: VERSION, packages: packages.map((item) => item.name), groups, messages };
writeFileSync(new URL('../src/codec/data/proto.json', import.meta.url), `${JSON.stringify(data)}\n`);
process.stderr.write(
  `${packages.length} packages, ${packages.reduce((sum, item) => sum + item.messages.length, 0)} messages\n`,
);

function readPackage(folder, proto) {
  const name = /^package ([\w.-]+);/m.exec(proto)[1];
  const go = globSync('*.go', { cwd: folder }).filter((file) => !/_test\.go$|^zz_|generated/.test(file));
  const source = go.map((file) => readFileSync(path.join(folder, file), 'utf8')).join('\n');
  const group = /GroupName\s*=\s*"([^"]*)"/.exec(source)?.[1];
  const version = path.basename(folder);
  const types = readGoTypes(source);
  return {
    name,
    messages: readMessages(proto),
    types,
    version,
    ...(group !== undefined && /^v\d/.test(version) ? { group } : {}),
  };
}

function readMessages(proto) {
  const found = [];
  for (const [, name, body] of proto.matchAll(/^message (\w+) \{\n([\s\S]*?)^\}/gm)) {
    const fields = [];
    const pattern = /^ {2}(?:(optional|repeated|required) )?(map<\w+, [\w.-]+>|[\w.-]+) (\w+) = (\d+);/gm;
    for (const [, label, type, field, id] of body.matchAll(pattern))
      fields.push({ label, type, name: field, id: Number(id) });
    found.push({ name, fields });
  }
  return found;
}

function readGoTypes(source) {
  const types = new Map();
  for (const [, name, body] of source.matchAll(/^type (\w+) struct \{\n([\s\S]*?)^\}/gm)) {
    const fields = new Map();
    for (const line of body.split('\n')) {
      const found = /^\s*(?:\w+\s+)?([*[\]\w.]+(?:\[[\w.]+\][\w.*]+)?)\s+`(.*)`/.exec(line);
      const tag = found === null ? undefined : /protobuf:"\w+,(\d+),/.exec(found[2]);
      if (tag === null || tag === undefined) continue;
      const json = /json:"([^"]*)"/.exec(found[2])?.[1] ?? '';
      const [jsonName, ...options] = json.split(',');
      fields.set(Number(tag[1]), { jsonName, options, pointer: found[1].startsWith('*') });
    }
    types.set(name, { fields });
  }
  for (const [, name] of source.matchAll(/^type (\w+) \[\]\w+$/gm)) types.set(name, { list: true });
  return types;
}

function printMessage(owner, message) {
  const type = owner.types.get(message.name);
  if (type?.list === true) return '@list';
  return message.fields.map((field) => printField(owner, type, field)).join(';');
}

// "id name type flags": flags are r(epeated) m(ap) p(ointer) o(mitempty) z (omitzero) i(nline).
function printField(owner, type, field) {
  const go = type?.fields?.get(field.id);
  const map = /^map<\w+, ([\w.-]+)>$/.exec(field.type);
  let flags = '';
  if (field.label === 'repeated') flags += 'r';
  if (map !== null) flags += 'm';
  if (go?.pointer === true) flags += 'p';
  if (go?.options.includes('omitempty') === true) flags += 'o';
  if (go?.options.includes('omitzero') === true) flags += 'z';
  if (go?.options.includes('inline') === true) flags += 'i';
  const name = go !== undefined && go.jsonName !== '' ? go.jsonName : field.name;
  return [field.id, name, printType(owner, map?.[1] ?? field.type), flags].join(' ').trimEnd();
}

function printType(owner, type) {
  if (/^(string|bytes|bool|int32|int64|uint32|uint64|double|float)$/.test(type)) return type;
  if (!type.includes('.')) return `${indexOf.get(owner.name)}:${type}`;
  const name = type.replace(/^\./, '');
  const dot = name.lastIndexOf('.');
  const index = indexOf.get(name.slice(0, dot));
  if (index === undefined) throw new Error(`${owner.name} uses ${type}, which no package here declares`);
  return `${index}:${name.slice(dot + 1)}`;
}
