import { message, type Words } from '../base/message.ts';
import { parsePath, type Path } from '../codec/path.ts';
import { serverSetMetadata } from '../core/merge.ts';

/** A path that a person may set or remove, or one sentence of why it is none. */
export function editablePath(text: string): { readonly path: Path } | { readonly problem: Words } {
  const parsed = parsePath(text);
  if ('problem' in parsed) return { problem: message`${parsed.problem}.` };
  if (parsed.path.length === 0)
    return { problem: message`The empty path names the whole object, which cannot be set.` };
  const [first, second] = parsed.path.map((step) => ('field' in step ? step.field : undefined));
  if (first === 'metadata' && second !== undefined && serverSetMetadata.includes(second))
    return { problem: message`metadata.${second} is set by the server alone.` };
  return parsed;
}
