import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as vscode from 'vscode';
import { commandIds, contextKeys, editorIds, languageId, settingIds, viewIds } from '../../../src/editor/app/ids.ts';
import type { JsonObject } from '../../../src/codec/json.ts';
import { abilitiesOf } from '../../../src/editor/tree/abilities.ts';
import { toolNames } from '../../../src/editor/tools/languageModelTools.ts';
import { extension } from '../extension.ts';

const root = join(__dirname, '..', '..', '..', '..');

interface Manifest {
  contributes: {
    commands: { command: string; title: string; category: string }[];
    views: Record<string, { id: string }[]>;
    viewsContainers: { activitybar: { id: string }[] };
    configuration: { properties: Record<string, { markdownDescription: string }> };
    menus: Record<string, { command?: string; submenu?: string; when?: string }[]>;
    submenus: { id: string }[];
    colors: { id: string }[];
    languages: { id: string }[];
    customEditors: { viewType: string }[];
    languageModelTools: { name: string }[];
    walkthroughs: { steps: { description: string; media: { markdown: string } }[] }[];
  };
}

const json = (path: string): Record<string, unknown> =>
  JSON.parse(readFileSync(join(root, path), 'utf8')) as Record<string, unknown>;
const manifest = json('package.json') as unknown as Manifest;

describe('what package.json contributes', () => {
  it('has exactly the ids that the code names', () => {
    const { contributes } = manifest;
    const ours = (ids: readonly string[]): string[] => [...ids].sort();
    assert.deepEqual(ours(contributes.commands.map(({ command }) => command)), Object.values(commandIds).sort());
    assert.deepEqual(
      contributes.views['objectVersions']?.map(({ id }) => id),
      [viewIds.watchedObjects, viewIds.findings, viewIds.lessons],
    );
    assert.equal(contributes.viewsContainers.activitybar[0]?.id, viewIds.container);
    assert.ok(contributes.languages.some(({ id }) => id === languageId));
    assert.ok(contributes.customEditors.some(({ viewType }) => viewType === editorIds.trace));
    assert.deepEqual(contributes.languageModelTools.map(({ name }) => name).sort(), Object.values(toolNames).sort());
    const settings = Object.keys(contributes.configuration.properties).filter(
      (id) => !id.startsWith('objectVersions.lab'),
    );
    assert.deepEqual(
      settings.sort(),
      Object.values(settingIds)
        .map((id) => `objectVersions.${id}`)
        .sort(),
    );
  });

  it('names the colours that the timeline draws with', () => {
    const css = readFileSync(join(root, 'media/timeline/timeline.css'), 'utf8');
    for (const { id } of manifest.contributes.colors)
      assert.ok(css.includes(`--vscode-${id.replaceAll('.', '-')}`), id);
    const contributed = new Set(manifest.contributes.colors.map(({ id }) => `--vscode-${id.replaceAll('.', '-')}`));
    for (const [name] of css.matchAll(/--vscode-objectVersions-[\w-]+/g)) assert.ok(contributed.has(name), name);
  });

  it('is registered: every command can be run', async () => {
    await extension();
    const there = new Set(await vscode.commands.getCommands(true));
    for (const id of Object.values(commandIds)) assert.ok(there.has(id), id);
  });

  it('puts every command under one category and describes every setting', () => {
    for (const { command, category } of manifest.contributes.commands) assert.equal(category, '%category%', command);
    for (const [id, { markdownDescription }] of Object.entries(manifest.contributes.configuration.properties))
      assert.match(markdownDescription, /^%.+%$/, id);
  });

  it('has every command in the palette, but for those that mean nothing without their place', () => {
    const placeless = {
      'objectVersions.showMore': 'the row below a list that is cut: it is about that one list',
      'objectVersions.recorderEnvFile': 'a variable of a launch configuration: what it gives is for the debugger',
    };
    const palette = manifest.contributes.menus['commandPalette'] ?? [];
    assert.deepEqual(
      palette
        .filter(({ when }) => when === 'false')
        .map(({ command = '' }) => command)
        .sort(),
      Object.keys(placeless).sort(),
    );
  });

  it('offers of an object only what it has: a ConfigMap cannot be scaled', () => {
    const { menus } = manifest.contributes;
    const offered = (menu: string, viewItem: string): string[] =>
      (menus[menu] ?? []).flatMap(({ command, submenu, when = '' }) => {
        const [, pattern] = /viewItem =~ \/(.*?)\/(?= |$)/.exec(when) ?? [];
        if (pattern === undefined || !new RegExp(pattern).test(viewItem)) return [];
        return submenu === undefined ? [String(command).replace('objectVersions.', '')] : offered(submenu, viewItem);
      });
    const contextOf = (resource: string, object: JsonObject | undefined): string =>
      ['object living', ...abilitiesOf({ group: '', resource }, object)].join(' ');
    const bound = ['scale', 'setImage', 'removeFinalizer', 'waitUntilObserved', 'releaseVolume'];
    const boundOf = (resource: string, object: JsonObject | undefined): string[] =>
      offered('view/item/context', contextOf(resource, object)).filter((name) => bound.includes(name));
    assert.deepEqual(boundOf('configmaps', { metadata: {}, data: { a: '1' } }), []);
    assert.deepEqual(boundOf('configmaps', { metadata: { finalizers: ['x/y'] } }), ['removeFinalizer']);
    const template = { spec: { containers: [{ name: 'a', image: 'b' }] } };
    const deployment = { metadata: { generation: 1, finalizers: [] }, spec: { replicas: 0, template } };
    assert.deepEqual(boundOf('deployments', deployment).sort(), ['scale', 'setImage', 'waitUntilObserved']);
    assert.deepEqual(boundOf('persistentvolumes', { metadata: {} }), ['releaseVolume']);
    assert.deepEqual(boundOf('widgets', undefined).length, 4, 'what is not known is offered');
    assert.ok(offered('view/item/context', contextOf('configmaps', {})).includes('setLabel'));
    assert.deepEqual(
      manifest.contributes.submenus.map(({ id }) => id).filter((id) => (menus[id] ?? []).length === 0),
      [],
    );
    const top = (menus['view/item/context'] ?? []).filter(
      ({ when = '' }) => /object\|incarnation/.test(when) && !/inline/.test(when),
    );
    assert.ok(top.length <= 16, `${top.length} rows`);
  });

  it('uses only context keys that the code sets', () => {
    const known = new Set<string>(Object.values(contextKeys));
    const used = JSON.stringify(manifest).matchAll(
      /!?(objectVersions\.(?:has|sandbox|recording|readOnly|sorted)\w*)(?= |"|\\|$)/g,
    );
    for (const [, key] of used)
      if (
        !Object.values<string>(commandIds).includes(key ?? '') &&
        !Object.keys(manifest.contributes.configuration.properties).includes(key ?? '')
      )
        assert.ok(known.has(key ?? ''), key);
  });

  it('has every sentence in both languages', () => {
    const used = new Set(
      [...readFileSync(join(root, 'package.json'), 'utf8').matchAll(/"%([^%"]+)%"/g)].map(([, key]) => key ?? ''),
    );
    const english = Object.keys(json('package.nls.json'));
    const german = Object.keys(json('package.nls.de.json'));
    assert.deepEqual(
      [...used].filter((key) => !english.includes(key)),
      [],
      'without an English sentence',
    );
    assert.deepEqual(
      english.filter((key) => !used.has(key)),
      [],
      'not used any more',
    );
    assert.deepEqual(german.sort(), english.sort());
  });

  it('the code has every sentence in German', () => {
    const files = globSync(['src/editor/**/*.ts', 'src/core/timeline/*.ts', 'src/lab/*.ts', 'media/**/*.ts'], {
      cwd: root,
    });
    const sentences = new Set<string>();
    for (const file of files) {
      const calls = readFileSync(join(root, file), 'utf8').matchAll(
        /\b(?:l10n\.t|translate)\(\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)")/g,
      );
      for (const [, single, double] of calls) sentences.add((single ?? double ?? '').replaceAll(/\\(['"])/g, '$1'));
    }
    const bundle = json('l10n/bundle.l10n.de.json');
    assert.deepEqual(
      [...sentences].filter((sentence) => !(sentence in bundle)),
      [],
    );
    for (const [english, german] of Object.entries(bundle)) {
      const places = (text: string): string =>
        [...text.matchAll(/\{\d\}/g)]
          .map(([place]) => place)
          .sort()
          .join();
      assert.equal(places(String(german)), places(english), english);
    }
  });

  it('every lesson has its page, and its links run commands that exist', async () => {
    const there = new Set(await vscode.commands.getCommands(true));
    const texts = Object.values(json('package.nls.json')).map(String);
    for (const { media } of manifest.contributes.walkthroughs.flatMap(({ steps }) => steps))
      for (const page of [media.markdown, media.markdown.replace(/\.md$/, '.nls.de.md')])
        assert.ok(readFileSync(join(root, page), 'utf8').length > 100, page);
    for (const text of texts)
      for (const [, command] of text.matchAll(/\(command:([\w.]+)/g)) assert.ok(there.has(command ?? ''), command);
  });
});
