import { runMocha } from '../runner.ts';

/** Called by VS Code in its extension host. */
export function run(): Promise<void> {
  return runMocha(__dirname);
}
