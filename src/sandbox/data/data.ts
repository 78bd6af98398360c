import { message } from '../../base/message.ts';
import { existsSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { brotliDecompressSync } from 'node:zlib';
import { AppError } from '../../base/appError.ts';
import type { JsonObject } from '../../codec/json.ts';
import { isJsonObject, parseJson } from '../../codec/json.ts';
import { plainText } from '../schema/plainText.ts';

/**
 * The files that scripts/generate-schemas.mjs wrote from a real API server. From source they lie beside this file; the
 * bundles, in which this module's folder is in dist, find them in dist/data, compressed.
 */
export type DataFile = 'components.json' | 'goTypes.json' | 'discovery.json' | 'tables.json';

const read = new Map<DataFile, JsonObject>();

/**
 * Reads a data file, once.
 * @throws AppError `internal` where the installation lacks the file
 */
export function loadData(name: DataFile): JsonObject {
  const known = read.get(name);
  if (known !== undefined) return known;
  const here = path.dirname(fileURLToPath(import.meta.url));
  const [plain, packed] = [path.join(here, name), path.join(here, '..', 'data', `${name}.br`)];
  const file = [plain, packed].find(existsSync);
  if (file === undefined)
    throw new AppError('internal', message`The sandbox's data file ${name} is missing from this installation.`);
  const bytes = readFileSync(file);
  const data = parseJson((file === packed ? brotliDecompressSync(bytes) : bytes).toString('utf8'));
  if (!isJsonObject(data)) throw new AppError('internal', message`The sandbox's data file ${name} is damaged.`);
  read.set(name, data);
  return data;
}

/** The Kubernetes version that the data was recorded from. */
export function dataVersion(): string {
  return plainText(loadData('discovery.json')['version']);
}
