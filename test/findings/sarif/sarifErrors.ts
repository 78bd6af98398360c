import { readFileSync } from 'node:fs';
import { validator } from '@exodus/schemasafe';

type Schema = Parameters<typeof validator>[0];
type Log = Parameters<ReturnType<typeof validator>>[0];

const schema = JSON.parse(readFileSync(new URL('sarif-2.1.0.json', import.meta.url), 'utf8')) as Schema;
const validate = validator(schema, { includeErrors: true, allErrors: true });

/** Where a log breaks the schema of SARIF 2.1.0: JSON pointers, each with the schema's keyword. Empty for a valid log. */
export function sarifErrors(log: unknown): string[] {
  if (validate(log as Log)) return [];
  return (validate.errors ?? []).map((error) => {
    return `${error.instanceLocation} ${error.keywordLocation.slice(error.keywordLocation.lastIndexOf('/') + 1)}`;
  });
}
