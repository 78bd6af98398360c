import { delimiter, dirname } from 'node:path';
import { fileURLToPath } from 'node:url';

import { ApiServerUnavailable, builtProgram, onPath, type GoProgram } from './binary.ts';

const KUBECTL: GoProgram = {
  name: 'kubectl',
  what: 'kubectl',
  source: fileURLToPath(new URL('kubectl/', import.meta.url)),
  files: ['go.mod', 'go.sum'],
  package: 'k8s.io/kubernetes/cmd/kubectl',
};

/**
 * Sees to it that this process and its children find a `kubectl`: the one on the PATH, else one built from the sources that
 * the real API server is built from, whose folder is then put on this process's PATH. Returns the program.
 * Given a mocha context: where none can be had, the suite is skipped and says so, but fails in CI.
 * @throws ApiServerUnavailable without a context
 */
export async function needKubectl(context?: Mocha.Context): Promise<string> {
  const found = onPath('kubectl', process.env);
  if (found !== undefined) return found;
  context?.timeout(1_800_000);
  try {
    const built = await builtProgram(KUBECTL);
    process.env['PATH'] = [dirname(built), process.env['PATH'] ?? ''].join(delimiter);
    return built;
  } catch (error) {
    if (!(error instanceof ApiServerUnavailable) || context === undefined || process.env['CI'] === 'true') throw error;
    process.stderr.write(`kubectl: its tests did NOT run. ${error.message}\n`);
    return context.skip();
  }
}
